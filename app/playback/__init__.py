"""Playback in the window: the clock, the timeline, and results that change with time."""
