"""The laws of multibody mechanics, stated once over abstract scalars."""
