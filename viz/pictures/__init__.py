"""Pictures rendered off-screen."""
