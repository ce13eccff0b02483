"""Inverse kinematics of many arms: `python -m benchmarks.arms [--write] [--files FOLDER …]`.

A row per arm: its family, branches, processor time for a pose of an array and for one call, and what was checked:
every solution by forward kinematics, the position that made each target among the solutions, and the solutions that a
numeric search finds from many starts. Arms: the examples; `arm_tables.json`, Denavit–Hartenberg tables as the Robotics
Toolbox for Python 1.5.0 publishes them; and the URDF and Xacro files below the folders given, such as those of rtb-data
(`rtbdata/xacro`). Peers in the first table, where they are installed: EAIK.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "KINETOSTAT_THREADS"):
    os.environ[_variable] = "1"

import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.document import tell  # noqa: E402
from benchmarks.measure import together  # noqa: E402
from core.analysis.inverse_kinematics import solve_inverse_kinematics  # noqa: E402
from core.analysis.tool_frame import tool_frame  # noqa: E402
from core.codegen import background  # noqa: E402
from core.errors import KinetostatError  # noqa: E402
from core.files import load  # noqa: E402
from core.mechanism import Mechanism  # noqa: E402
from core.model import DHChain, DHRow, Model  # noqa: E402
from resources import EXAMPLES  # noqa: E402

Array = NDArray[np.float64]

TABLES = Path(__file__).with_name("arm_tables.json")
OWN = ("ur5", "puma560", "panda", "scara")
OFFSET_SHOULDER = (
    (0.025, -90.0, 0.4),
    (0.455, 0.0, 0.0),
    (0.035, -90.0, 0.0),
    (0.0, 90.0, 0.42),
    (0.0, -90.0, 0.0),
    (0.0, 0.0, 0.08),
)
"""An industrial arm: a (m), α (degrees), d (m)."""
POSES, SEARCHED, STARTS, ALIKE = 1000, 3, 40, 1e-5
"""Number of targets by forward kinematics; of those that are searched, with as many starts; difference (rad, m) of one
solution found twice."""
FLANGES = ("ee_gripper_link", "ee_arm_link", "link8", "tool0")
"""Ends of the names of frames at the flange: behind them there are fingers."""
PEER_ARMS = ("UR5", "Puma560", "offset shoulder")
SPEED_ARMS = (*PEER_ARMS, "Stanford", "Cobra600")


class Row(NamedTuple):
    """Texts of the cells of one arm; is_right : False if a check failed."""

    cells: tuple[str, ...]
    is_right: bool


def dh_arm(name: str, rows: list[list[Any]], convention: str = "standard") -> Mechanism:
    """Mechanism of a table: kind (R, P), a, α, d, θ of each joint."""
    made = tuple(
        DHRow(kind="revolute" if kind == "R" else "prismatic", a=a, alpha=alpha, d=d, theta=theta)
        for kind, a, alpha, d, theta in rows
    )
    return Mechanism(Model(name=name, chains=(DHChain(name="arm", rows=made, convention=convention),)))


def arms(folders: list[Path]) -> Iterator[tuple[str, Mechanism]]:
    """All arms by name; files that do not open, or that are no arms, are named on the error stream."""
    for name in OWN:
        yield f"example {name}", Mechanism(load(EXAMPLES / f"{name}.kst"))
    rows = [["R", a, float(np.radians(alpha)), d, 0.0] for a, alpha, d in OFFSET_SHOULDER]
    yield "offset shoulder", dh_arm("offset shoulder", rows)
    for name, table in json.loads(TABLES.read_text(encoding="utf-8")).items():
        yield name, dh_arm(name, table["rows"], table["convention"])
    for folder in folders:
        files = sorted({*folder.rglob("*.urdf"), *folder.rglob("*.urdf.xacro"), *folder.rglob("*.xacro")})
        seen: set[str] = set()
        for file in files:
            stem = file.name.partition(".")[0]
            if stem in seen or "macro" in stem:
                continue
            try:
                mech = Mechanism(load(file))
                if 2 <= mech.nq <= 10:
                    tool_frame(mech.model)
                    seen.add(stem)
                    yield f"file {stem}", mech
            except KinetostatError as error:
                print(f"left out: {file.name}: {error}", file=sys.stderr, flush=True)


def random_positions(mech: Mechanism, count: int) -> Array:
    """(count, nq) within limits, up to half a turn or 0.5 m."""
    rng = np.random.default_rng(1)
    span = np.array([np.pi if c.dimension == "angle" else 0.5 for c in mech.coordinates])
    low = np.array([-s if c.lower is None else max(c.lower, -s) for c, s in zip(mech.coordinates, span, strict=True)])
    high = np.array([s if c.upper is None else min(c.upper, s) for c, s in zip(mech.coordinates, span, strict=True)])
    return low + rng.uniform(size=(count, mech.nq)) * (high - low)


def largest_difference(mech: Mechanism, one: Array, other: Array) -> Array:
    """(…) difference of positions in the joint where it is largest, up to whole turns."""
    rotates = np.array([c.dimension == "angle" for c in mech.coordinates])
    gap = one - other
    return np.asarray(np.abs(np.where(rotates, np.remainder(gap + np.pi, 2.0 * np.pi) - np.pi, gap)).max(axis=-1))


def wait_for_machine_code() -> None:
    """Wait until what is compiled in the background is there."""
    while background.is_busy():
        time.sleep(0.05)


def end_frame(mech: Mechanism) -> str:
    """Frame of a file that is meant as the end of the arm, else the tool."""
    named = (name for end in FLANGES for name in mech.frame_names if name.endswith(end))
    return next(named, None) or tool_frame(mech.model)


def examine(name: str, mech: Mechanism) -> Row:
    """Solve, check and time one arm."""
    frame = end_frame(mech)
    q = random_positions(mech, POSES)
    X = np.asarray(mech.frame(q, frame))
    first = mech.inverse_kinematics(X[0], frame, q=q[0])
    if first.form.startswith("numeric"):
        return Row((name, str(len(first.joints)), first.form, "–", "–", "–", "–", "–"), is_right=True)
    held = first.complete == "all for these self-motion values"
    count = POSES if "closed form" in first.form and not held else 60
    moving = np.array([c.joint in first.joints for c in mech.coordinates])
    answers = [mech.inverse_kinematics(X[k], frame, q=q[k]) for k in range(min(count, 60))]
    numbers = [len(each.solutions) for each in answers]
    generated = [
        min((float(largest_difference(mech, s.q[None], q[k : k + 1])[0]) for s in each.solutions), default=np.inf)
        for k, each in enumerate(answers)
    ]
    positions = np.array([s.q for each in answers for s in each.solutions])
    targets = np.repeat(X[: len(answers)], numbers, axis=0)
    residual = float(np.abs(np.asarray(mech.frame(positions, frame)) - targets).max()) if len(positions) else np.inf
    lost, searched = _search(mech, frame, X, q, answers, moving) if not held else (0, 0)
    calls: dict[str, Any] = {"call": partial(mech.inverse_kinematics, X[1], frame, q=q[1])}
    if not held:
        calls["array"] = partial(mech.inverse_kinematics, X[:count], frame)
        columns = len(calls["array"]().configurations)
    else:
        columns = max(numbers)
    for call in calls.values():
        call()
    wait_for_machine_code()
    times = together(calls, repeats=3)
    found = sum(gap < ALIKE for gap in generated)
    claimed = [gap for gap, each in zip(generated, answers, strict=True) if each.complete != "at least these"]
    is_right = residual < 1e-9 and all(gap < ALIKE for gap in claimed) and not lost
    array = f"{times['array'].least / count * 1e6:.3g}" if "array" in times else "–"
    cells = (
        name,
        str(len(first.joints)),
        first.form,
        f"{columns} ({np.mean(numbers):.2g})",
        array,
        f"{times['call'].least * 1e6:.0f}",
        f"{residual:.0e}",
        f"{found} of {len(generated)}" + ("" if held else f"; {searched - lost} of {searched}"),
    )
    return Row(cells, is_right)


def _search(
    mech: Mechanism, frame: str, X: Array, q: Array, answers: list[Any], moving: NDArray[np.bool_]
) -> tuple[int, int]:
    """Solutions that the numeric search finds and the answers lack, and all that it finds, without repetitions."""
    lost = total = 0
    for k in range(SEARCHED):
        found: list[Array] = []
        for each in solve_inverse_kinematics(mech, q[k], frame, X[k], restarts=STARTS):
            own = np.where(moving, each.q, q[k])
            if each.is_reached and all(largest_difference(mech, own, other) > ALIKE for other in found):
                found.append(own)
        own_set = np.array([s.q for s in answers[k].solutions]).reshape(-1, mech.nq)
        gaps = [float(largest_difference(mech, each, own_set).min(initial=np.inf)) for each in found]
        if answers[k].complete == "all":
            lost += sum(gap > 1e-3 for gap in gaps)
        total += len(found)
    return lost, total


def speed_rows(chosen: dict[str, Mechanism]) -> list[str]:
    """Lines of the table of speeds, with EAIK in the same run where it is installed."""
    lines = ["| arm | array, µs a pose | EAIK, µs a pose | one call, µs |", "| --- | --- | --- | --- |"]
    for name in SPEED_ARMS:
        mech = chosen[name]
        frame = tool_frame(mech.model)
        X = np.asarray(mech.frame(random_positions(mech, 20_000), frame))
        calls: dict[str, Any] = {
            "array": partial(mech.inverse_kinematics, X, frame),
            "call": partial(mech.inverse_kinematics, X[0]),
        }
        for call in calls.values():
            call()
            call()
        wait_for_machine_code()
        peer = _eaik(mech) if name in PEER_ARMS else None
        if peer is not None:
            calls["eaik"] = partial(peer.IK_batched, X[:2000], 1)
        times = together(calls)
        other = f"{times['eaik'].least / 2000 * 1e6:.3g}" if "eaik" in times else "–"
        array, one = times["array"].least / len(X), times["call"].least
        lines.append(f"| {name} | {array * 1e6:.3g} | {other} | {one * 1e6:.3g} |")
    return lines


def _eaik(mech: Mechanism) -> Any:
    try:
        from eaik.IK_DH import DhRobot  # type: ignore[import-not-found]
    except ImportError:
        return None
    rows = mech.model.chains[0].rows
    return DhRobot(*(np.array([float(getattr(row, name)) for row in rows]) for name in ("alpha", "a", "d")))


def main() -> None:
    """Measure and print; write when asked."""
    given = sys.argv[sys.argv.index("--files") + 1 :] if "--files" in sys.argv else []
    rows, chosen = [], {}
    for name, mech in arms([Path(each) for each in given]):
        row = examine(name, mech)
        print(" | ".join(row.cells), "" if row.is_right else "  ← WRONG", file=sys.stderr, flush=True)
        rows.append(row)
        chosen[name] = mech
    wrong = [row.cells[0] for row in rows if not row.is_right]
    head = "| arm | joints | solved by | branches (mean found) | array, µs a pose | one call, µs | residual | found |"
    lines = [
        "Processor time, one thread. *Residual*: largest deviation of the pose matrices of all solutions. *Found*:",
        "targets whose generating position is among the solutions; solutions of a numeric search from "
        f"{1 + STARTS} starts,",
        f"at {SEARCHED} targets, that are among them. Arms with redundant joints keep these at the generating value.",
        "",
        *speed_rows(chosen),
        "",
        head,
        "| " + " | ".join(["---"] * 8) + " |",
        *(f"| {' | '.join(row.cells)} |" for row in rows),
        "",
        f"Answers that say “all” and lack one, or residuals above 1e-9: {', '.join(wrong) or 'none'}.",
    ]
    tell("Inverse kinematics of arms", "arms", lines)


if __name__ == "__main__":
    main()
