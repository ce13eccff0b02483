"""What the program loads before its window appears."""

import subprocess
import sys

LATER = {"scipy.linalg", "scipy.spatial", "scipy.interpolate", "sympy", "h5py", "av", "trimesh"}


def test_the_window_loads_no_library_before_it_appears_that_it_needs_later():
    code = f"import sys; from app.window import start, window; print(*({LATER!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
