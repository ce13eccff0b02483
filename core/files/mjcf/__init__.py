"""MuJoCo model files (MJCF)."""
