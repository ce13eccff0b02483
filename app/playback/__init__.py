"""Time in the window: the clock, the timeline, and what is seen of results as it passes."""
