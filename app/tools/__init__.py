"""Gestures in the viewport, each a generator: press, a `yield` per move, one commit."""
