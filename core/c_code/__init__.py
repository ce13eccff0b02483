"""Export of a machine as stand-alone C: its functions, a fixed-cost stepper, a test program, an FMU."""
