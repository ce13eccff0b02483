"""Xacro files, expanded without running anything from them."""
