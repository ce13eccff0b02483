"""Nothing compiles Python where the program runs: everything moves in a process that cannot import Numba."""

import os
import subprocess
import sys
from pathlib import Path

import core

ROOT = Path(core.__file__).parents[1]
TEXT = """
import sys


class NoCompiler:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numba":
            raise ImportError("there is no compiler here")


sys.meta_path.insert(0, NoCompiler())
from core.analysis.linearisation import linearise
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Force, Joint, Model
from core.simulation import METHODS, simulate
from core.simulation.live import Live
from resources import EXAMPLES

arm, four_bar = load(EXAMPLES / "double_pendulum.kst"), load(EXAMPLES / "four_bar.kst")
for method in METHODS:
    simulate(arm, 0.05, method=method)
    for closed in (True, False):
        simulate(four_bar, 0.02, method=method, closed_forms=closed)
    print(method)
block = Body(name="block", mass=1.0)
guide = Joint(name="guide", kind="prismatic", parent="world", child="block", axis=(1.0, 0.0, 0.0))
for law in ("sign(0.1 - t) - 2*sign(rate)", "if(t < 0.1, 3, -3)"):
    force = Force(name="f", kind="joint", joint="guide", law=law)
    slider = Model(name="slider", bodies=(block,), joints=(guide,), forces=(force,))
    for method in ("rk54", "adams", "radau"):
        run = simulate(slider, 0.5, method=method, v0=[0.5])
print(*run.notes)
live = Live(Mechanism(four_bar))
live.advance(0.1)
live.grab(live.mech.frame_names[-1], (0.0, 0.0, 0.0), (0.1, 0.0, 0.0))
live.advance(0.1)
mech = Mechanism(arm)
linearise(mech, mech.rest())
assert not [name for name in sys.modules if name.partition(".")[0] == "numba"]
"""


def test_all_that_moves_does_without_the_compiler(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", TEXT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
