"""Xacro files, expanded without running code from them."""
