"""The panel with Robotica's line."""
