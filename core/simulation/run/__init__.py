"""What came out of a simulation: channels, values between samples, files."""
