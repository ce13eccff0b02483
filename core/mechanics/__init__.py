"""The recursions of multibody mechanics, one a file, stated once over abstract scalars."""
