"""Results of a simulation: channels, interpolation between samples, files."""
