"""Pinocchio as C++ calls it, without Python: a program that is compiled from `native/pinocchio.cpp` for this processor
(`-O3 -march=native`), fed with the model that Pinocchio's Python package has, and asked in turn with the others.

It needs a C++ compiler, and the headers that the packages of Pinocchio and CasADi bring (Eigen is among the latter).
Where one is missing there is no such peer. The compiled program is kept in `build/benchmarks`; to compile it takes a
minute.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import FUNCTIONS, Pinocchio

SOURCE = Path(__file__).parent / "native" / "pinocchio.cpp"
BUILD = Path(__file__).parents[1] / "build" / "benchmarks"
OPTIONS = (
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-std=c++17",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DFUSION_MAX_VECTOR_SIZE=12",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
"""The limits of Boost's lists are those of Pinocchio's own build."""
AXES = {f"JointModel{kind}{axis}": np.eye(3)[k] for kind in "RP" for k, axis in enumerate("XYZ")}


def program() -> Path | None:
    """The compiled program; None where it cannot be made here."""
    import casadi
    import pinocchio

    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    prefix = Path(pinocchio.__file__).parents[4]
    headers = {"pinocchio": prefix / "include", "Eigen": Path(casadi.__file__).parent / "include" / "eigen3"}
    if compiler is None or not all((folder / name).exists() for name, folder in headers.items()):
        return None
    facts = (SOURCE.read_text(), OPTIONS, compiler, version("pin"), version("casadi"), os.uname().machine)
    made = BUILD / f"pinocchio-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"
    if not made.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        includes = [word for folder in headers.values() for word in ("-isystem", str(folder))]
        done = subprocess.run(
            [compiler, *OPTIONS, *includes, str(SOURCE), "-o", f"{made}.part"], capture_output=True, text=True
        )
        if done.returncode:
            why = next((line for line in done.stderr.splitlines() if "error" in line), "the compiler failed")
            print("Pinocchio is not measured from C++:", why, file=sys.stderr)
            return None
        Path(f"{made}.part").replace(made)
    return made


class NativePinocchio:
    """Loops over states in C++. They run in a process of their own, which tells its processor time."""

    name = "Pinocchio, C++"

    def __init__(self, peer: Pinocchio, states: tuple[np.ndarray, ...]) -> None:
        """states : q (N, nq), v (N, nv), u (N, nv). Raises ImportError where the program cannot be made."""
        made = program()
        if made is None:
            raise ImportError("A C++ compiler or Pinocchio's headers are missing.")
        self.count = len(states[0])
        self._folder = tempfile.TemporaryDirectory(prefix="kinetostat-")
        model, data = Path(self._folder.name) / "model.txt", Path(self._folder.name) / "states"
        model.write_text("".join(_lines(peer)))
        data.write_bytes(np.hstack(states).astype(float).tobytes())
        self._process = subprocess.Popen(
            [made, model, data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def call(self, function: str) -> Loop:
        """The loop over all states."""
        return Loop(lambda repeats: self._ask(f"{repeats} {function}"))

    def values(self, function: str) -> np.ndarray:
        """Return the value of the function at the first state, row by row."""
        return np.array(self._ask(f"0 {function}").split(), dtype=float)

    def verify(self, peer: Pinocchio, states: tuple[np.ndarray, ...]) -> None:
        """Raises RuntimeError where C++ and Python give different numbers at the first state."""
        for function in FUNCTIONS:
            expected = np.array(peer.call(function)(*(each[0] for each in states)))
            if function == "mass matrix":
                expected = np.triu(expected) + np.triu(expected, 1).T
            found = self.values(function).reshape(expected.shape)
            if not np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()):
                raise RuntimeError(f"The {function} of Pinocchio differs between C++ and Python.")

    def close(self) -> None:
        """End the program."""
        self._process.communicate()
        self._folder.cleanup()

    def _ask(self, words: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


@contextmanager
def native(peers: Iterable[object], states: tuple[np.ndarray, ...]) -> Iterator[NativePinocchio | None]:
    """Pinocchio from C++ on these states, where it is among the peers and can be compiled."""
    peer = next((each for each in peers if isinstance(each, Pinocchio)), None)
    try:
        found = NativePinocchio(peer, states) if peer is not None else None
    except ImportError:
        found = None
    try:
        if found is not None and peer is not None:
            found.verify(peer, states)
        yield found
    finally:
        if found is not None:
            found.close()


class Loop:
    """A call whose processor time another process tells (`benchmarks.measure.spent`)."""

    def __init__(self, ask: Callable[[int], str]) -> None:
        self._ask = ask

    def __call__(self) -> None:
        self.seconds(1)

    def seconds(self, count: int) -> float:
        """Of so many calls."""
        return float(self._ask(count))


def _lines(peer: Pinocchio) -> list[str]:
    """The joints of a model as `native/pinocchio.cpp` reads them, and its tip."""
    model = peer.model
    lines = []
    for k in range(1, model.njoints):
        joint, inertia = model.joints[k], model.inertias[k]
        kind = joint.shortname()
        if kind not in AXES and not kind.endswith("Unaligned"):
            raise ValueError(f"joints of kind {kind} are not handed to C++")
        axis = AXES[kind] if kind in AXES else joint.extract().axis
        I = inertia.inertia
        body = (inertia.mass, *inertia.lever, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2], *axis)
        lines.append(_line(kind, model.parents[k], model.jointPlacements[k], *body))
    frame = model.frames[peer.tip]
    return [*lines, _line("tip", frame.parentJoint, frame.placement)]


def _line(kind: str, parent: int, place: Any, *numbers: float) -> str:
    each = (*place.rotation.ravel(), *place.translation, *numbers)
    return f"{kind} {parent} {' '.join(repr(float(number)) for number in each)}\n"
