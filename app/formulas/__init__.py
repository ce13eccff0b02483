"""Formulas on the screen: typeset, with long entries collapsed and terms highlighted."""
