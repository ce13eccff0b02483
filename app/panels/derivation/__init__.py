"""The panel that replays a derivation."""
