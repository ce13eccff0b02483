"""The log of messages."""
