"""Pictures, rendered off-screen."""
