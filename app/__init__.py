"""The window and the `kinetostat` command."""

import os

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
"""Threads that multiply large matrices for NumPy sleep once they are done. By themselves each would keep a core busy
for 20 ms, at the start and after each product."""
