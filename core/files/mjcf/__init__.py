"""MuJoCo's model files."""
