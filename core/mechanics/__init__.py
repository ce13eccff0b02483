"""Recursive algorithms of multibody dynamics, one per module, over abstract scalars."""
