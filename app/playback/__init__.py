"""Playback in the window: the player, the timeline, and results that vary over time."""
