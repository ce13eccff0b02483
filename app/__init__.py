"""The window and the `kinetostat` command."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Matrices here are small: several threads would win nothing, and wait for each other where cores are busy (a product
of 6,000 x 44 numbers took 0.8 ms in one thread, 180 ms in two beside other work)."""
