"""The program ends while a thread imports h5py: HDF5's end, which follows Python's, calls nothing of Python."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import atexit, sys, threading, time

begun, register = threading.Event(), atexit.register


def register_slowly(function, *rest):
    if getattr(function, "__module__", "").startswith("h5py"):
        begun.set()
        time.sleep(0.3)
    return register(function, *rest)


atexit.register = register_slowly
from core.files.hdf5_file import import_hdf5

threading.Thread(target=import_hdf5, daemon=True).start()
assert begun.wait(60.0)
"""


def test_the_end_waits_for_an_import_in_another_thread():
    """With a plain import there the program ends by SIGSEGV."""
    end = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (end.returncode, end.stderr) == (0, "")
