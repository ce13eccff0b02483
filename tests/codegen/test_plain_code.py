"""Code that is not optimised, which these tests mostly use, gives the same bits as the code that users run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from core.codegen.object_code import PLAIN

WORK = """
import sys
import numpy as np
from core.files import load
from core.mechanism import Mechanism
from core.simulation import simulate
from resources import EXAMPLES

for name in sys.argv[1:]:
    mech = Mechanism(load(EXAMPLES / f"{name}.kst"))
    mech.compile("forward_dynamics", "inverse_dynamics", "poses")
    q, v = mech.rest(), np.zeros(mech.nv)
    said = [mech.poses(q), mech.forward_dynamics(q, v, v + 0.25), mech.inverse_dynamics(q, v, v + 0.5)]
    said.append(simulate(mech, 0.1, method="rk4", step=1e-3).v)
    np.savez(f"{name}.npz", *said)
"""
EXAMPLES = ("puma560", "four_bar", "engine_v6")


NAMES = [f"arr_{k}" for k in range(4)]
"""Poses, accelerations, forces, and speeds of a run."""


def said(folder, plain: str) -> dict[str, np.lib.npyio.NpzFile]:
    """Arrays of each example."""
    folder.mkdir()
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, PLAIN: plain, "PYTHONPATH": root}
    subprocess.run([sys.executable, "-c", WORK, *EXAMPLES], cwd=folder, env=environment, check=True)
    return {name: np.load(folder / f"{name}.npz") for name in EXAMPLES}


def test_both_say_the_same(tmp_path):
    quick, usual = said(tmp_path / "plain", "1"), said(tmp_path / "optimised", "")
    for example in EXAMPLES:
        for name in NAMES:
            np.testing.assert_array_equal(quick[example][name], usual[example][name], err_msg=example)
