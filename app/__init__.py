"""The window and the `kinetostat` command."""
