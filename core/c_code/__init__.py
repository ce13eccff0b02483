"""A machine as stand-alone C: its functions, a stepper of fixed cost, a program that tries them, an FMU."""
