"""What is to be seen, as plain values: no VTK."""
