"""The native format: YAML text with a schema version."""
