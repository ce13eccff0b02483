"""The command line `kinetostat <command>`: works without a window, and loads the 3-D scene only for pictures."""
