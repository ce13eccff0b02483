"""Films rendered off-screen."""
