"""Films, rendered off-screen."""
