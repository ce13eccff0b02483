"""Parameter studies: many runs or poses of a machine with varying values."""
