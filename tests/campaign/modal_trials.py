"""Random machines whose joints stick, slide, bounce and are limited: every run ends, and every force is admissible."""

from __future__ import annotations

import functools
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.model import Joint
from core.model.joints import LEVELS
from core.simulation import Run, simulate
from tests.campaign.modal_machines import SHAPES, Shape, machine, numbers, start
from tests.campaign.trials import Unexpected

METHODS = ("rk54", "radau", "adams", "rk4")
DURATION, OUTPUT, STEP = 1.5, 0.01, 1e-3
RTOL, ATOL = 1e-8, 1e-10
MOST_STEPS = 100_000
AGREE = 1e-4
"""Difference between methods, as a part of sizes above 1."""
ADMISSIBLE = 1e-5
"""Part of the largest force of a run by which one may leave what is admissible."""


@dataclass
class ModalTrials:
    """Of one process."""

    folder: Path
    patience: float = 120.0
    long: float = 60.0

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One machine by several methods, and in another order."""
        index = luck.randrange(SHAPES)
        made, mech = machine(index)
        method = luck.choice(METHODS)
        values = numbers(luck, made, method)
        (folder / "values.json").write_text(json.dumps({"shape": index, **values}), encoding="utf-8")
        q, v = start(luck, made, mech, values)
        runs = {name: moved(made, mech, values, q, v, name) for name in dict.fromkeys(("rk54", method))}
        for name, run in runs.items():
            examined(made, mech, values, run, name)
        first = runs["rk54"]
        if luck.random() < 0.3:
            same(*(moved(made, mech, values, q, v, "rk54") for _ in range(2)))
        if method != "rk54":
            compared(made, values, first, runs[method], "Two methods differ", 100.0 if method == "rk4" else 1.0)
        if luck.random() < 0.3:
            turned, other = reordered(index)
            beside = moved(turned, other, values, *matching(mech, other, q, v), "rk54")
            compared(made, values, first, beside, "The order of elements or the choice of cuts counts", 1.0)
        return "loop" if made.closed else "tree"

    def close(self) -> None:
        """Nothing is open."""


TRIALS = ModalTrials


def moved(made: Shape, mech: Mechanism, values: dict[str, float], q: np.ndarray, v: np.ndarray, method: str) -> Run:
    """The run."""
    try:
        run = simulate(
            mech,
            DURATION,
            method=method,
            step=STEP if method == "rk4" else None,
            q0=q,
            v0=v,
            parameters=values,
            torque=made.torque,
            output=OUTPUT,
            rtol=RTOL,
            atol=ATOL,
            max_steps=MOST_STEPS,
            closed_forms=luckless(values),
        )
    except KinetostatError as error:
        raise Unexpected(f"{method} ends: {error.what}") from error
    if not all(np.isfinite(each).all() for each in (run.q, run.v, run.a)):
        raise Unexpected(f"{method} gives numbers that are not finite")
    return run


@functools.cache
def stripped(index: int) -> Mechanism:
    """A machine without friction and limits."""
    model = machine(index)[0].model
    nothing = {"friction": 0.0, "limits": (), **dict.fromkeys(LEVELS[1:])}
    return Mechanism(replace(model, joints=tuple(replace(joint, **nothing) for joint in model.joints)))


@functools.cache
def reordered(index: int) -> tuple[Shape, Mechanism]:
    """A machine with its elements in another order, and another cut in its loop."""
    made = machine(index)[0]
    joints = tuple(
        replace(joint, cut="yes" if joint.name == "knee" else "no" if joint.name == "close" else joint.cut)
        for joint in reversed(made.model.joints)
    )
    model = replace(made.model, joints=joints, bodies=made.model.bodies[::-1])
    return replace(made, model=model), Mechanism(model)


def matching(mech: Mechanism, other: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same state with coordinates in another order."""
    p, w = other.rest(), np.zeros(other.nv)
    if other.loops:
        return p, np.asarray(other.speeds(p, {"crank_pin.v": float(v[mech.joint_v("crank_pin")][0])}))
    for name in mech.joint_names:
        p[other.joint_q(name)], w[other.joint_v(name)] = q[mech.joint_q(name)], v[mech.joint_v(name)]
    return p, w


def same(one: Run, other: Run) -> None:
    """Not a bit differs, once all functions of the machine have become machine code."""
    if not all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("q", "v", "a")):
        raise Unexpected("The same run differs")
    if one.statistics[:3] != other.statistics[:3]:
        raise Unexpected("The same run takes other steps")


def evenly(run: Run) -> np.ndarray:
    """Which samples stand at whole multiples of the output step, the last of those with one time."""
    grid = OUTPUT * np.arange(round(DURATION / OUTPUT) + 1)
    return np.searchsorted(run.time, grid + 1e-9, side="right") - 1


def compared(made: Shape, values: dict[str, float], one: Run, other: Run, what: str, loose: float) -> None:
    """Coordinates of all joints that both have in their trees."""
    for joint in made.model.joints:
        if joint.info.nq != joint.info.nv or joint.name in ("close", "knee"):
            continue
        a, b = (run.q[evenly(run), run.mech.joint_q(joint.name)] for run in (one, other))
        size = 1.0 + np.abs(one.v).max()
        if not (worst := np.abs(a - b).max()) <= AGREE * loose * size:
            raise Unexpected(f"{what} (by more than {10.0 ** np.floor(np.log10(worst / size)):.0e})")


def examined(made: Shape, mech: Mechanism, values: dict[str, float], run: Run, method: str) -> None:
    """Forces of joints in trees, and the energy, are what friction, stops and limits of motors may do."""
    index = int(made.model.name.removeprefix("tree")) if not made.closed else None
    within_stops(made, mech, values, run, method)
    if index is not None:
        admissible(made, mech, values, run, method, index)
    if not any(values[f"amp_{name}"] or values[f"load_{name}"] for name in made.driven):
        total = run["energy.total"]
        gained = np.max(total - np.minimum.accumulate(total))
        size = np.abs(run["energy.kinetic"]).max() + np.ptp(run["energy.potential"]) + 1e-3
        if not gained <= (1e-6 if method != "rk4" else 1e-2) * size:
            raise Unexpected(f"{method} gains energy ({gained / size:.0e})")


def luckless(values: dict[str, float]) -> bool:
    """Whether loops close by closed forms: the same for all runs of a machine."""
    return values["omega_" + next(iter(values)).partition("_")[2]] > 8.0


def coordinate(made: Shape, mech: Mechanism, run: Run, name: str) -> np.ndarray:
    """The first coordinate of a joint, also of the one that closes the loop."""
    if name != "close":
        return run.q[:, mech.joint_q(name).start]
    last = next((joint for joint in made.model.joints if joint.name == "rocker_pin"), None)
    outer = run.q[:, mech.joint_q(last.name).start] if last else 0.0
    return outer - run.q[:, mech.joint_q("crank_pin").start] - run.q[:, mech.joint_q("knee").start]


def passed(made: Shape, mech: Mechanism, values: dict[str, float], run: Run, name: str) -> np.ndarray:
    """How far a joint is beyond its limits."""
    s = coordinate(made, mech, run, name)
    return np.maximum(np.maximum(s - values[f"upper_{name}"], values[f"lower_{name}"] - s), 0.0)


def within_stops(made: Shape, mech: Mechanism, values: dict[str, float], run: Run, method: str) -> None:
    """Rigid stops are not passed."""
    for name in made.rigid:
        if not (worst := passed(made, mech, values, run, name).max()) <= 1e-6:
            raise Unexpected(f"{method} passes a rigid stop ({worst:.0e})")


def admissible(made: Shape, mech: Mechanism, values: dict[str, float], run: Run, method: str, index: int) -> None:
    """Forces of rows, from the accelerations of a tree, are within what friction, stops and limits of motors allow."""
    bare = stripped(index)
    needed = np.array([bare.inverse_dynamics(*state, p=values) for state in zip(run.q, run.v, run.a, strict=True)])
    size = np.abs(needed).max() + 1e-3
    for joint in made.model.joints:
        if joint.info.nq != joint.info.nv and joint.kind != "spherical":
            continue
        rubbed = {k for ball in joint.info.balls for k in ball}
        first = mech.joint_v(joint.name).start
        beyond = [ball_beyond(made, mech, values, run, joint, ball, needed[:, first:]) for ball in joint.info.balls]
        alone = (k for k in range(joint.info.nv) if k not in rubbed)
        beyond += [beyond_alone(made, mech, values, run, joint, k, needed[:, first + k]) for k in alone]
        if not (worst := max(beyond) / size) <= ADMISSIBLE * (100.0 if method == "rk4" else 1.0):
            raise Unexpected(f"{method}: a force that is not admissible ({10.0 ** np.floor(np.log10(worst)):.0e})")


def beyond_alone(
    made: Shape, mech: Mechanism, values: dict[str, float], run: Run, joint: Joint, k: int, needed: np.ndarray
) -> float:
    """How far the force along a coordinate is beyond what it may be. needed : (n,) without friction and stops"""
    command = asked(values, joint.name, run.time, k, made)
    force, speed = needed - command, run.v[:, mech.joint_v(joint.name).start + k]
    limited = k == 0 and joint.info.nq == joint.info.nv
    low, high = bounds(values, joint.name, speed, command, limited)
    if limited:
        low, high = opened(mech, values, run, joint.name, low, high)
    return float(max((low - force).max(), (force - high).max()))


def ball_beyond(
    made: Shape,
    mech: Mechanism,
    values: dict[str, float],
    run: Run,
    joint: Joint,
    ball: tuple[int, ...],
    needed: np.ndarray,
) -> float:
    """The same of friction that is one vector, opposite to that of the speeds, where neither a stop nor a limit of the
    motor acts along with it."""
    at = mech.joint_v(joint.name).start
    force = np.stack([needed[:, k] - asked(values, joint.name, run.time, k, made) for k in ball], axis=1)
    v = run.v[:, [at + k for k in ball]]
    speed = np.linalg.norm(v, axis=1)
    static, kinetic, width = (values[f"{level}_{joint.name}"] for level in ("static", "kinetic", "stribeck"))
    sliding = kinetic + (static - kinetic) * (np.exp(-((speed / width) ** 2)) if width else np.zeros(len(speed)))
    still = speed < 1e-9 * max(speed.max(), 1e-2)
    against = force + sliding[:, None] * v / np.maximum(speed, 1e-300)[:, None]
    beyond = np.where(still, np.linalg.norm(force, axis=1) - static, np.linalg.norm(against, axis=1))
    if joint.info.nq == joint.info.nv:
        low, high = opened(mech, values, run, joint.name, *np.zeros((2, len(speed))))
        fast = values[f"fast_{joint.name}"] or np.inf
        alone = np.isfinite(low) & np.isfinite(high) & (np.abs(v[:, 0]) < fast * (1 - 1e-6))
        beyond = np.where(alone, beyond, 0.0)
    return float(beyond.max())


def opened(
    mech: Mechanism, values: dict[str, float], run: Run, name: str, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of a force along a joint's first coordinate, where it is at a stop."""
    s, touch = run.q[:, mech.joint_q(name).start], 1e-8
    low = np.where(s >= values[f"upper_{name}"] - touch, -np.inf, low)
    return low, np.where(s <= values[f"lower_{name}"] + touch, np.inf, high)


def asked(values: dict[str, float], name: str, time: np.ndarray, k: int, made: Shape) -> np.ndarray:
    """What a motor gives without a limit of speed."""
    if k > 0 or name not in made.driven:
        return np.zeros(len(time))
    command = values[f"amp_{name}"] * np.sin(values[f"omega_{name}"] * time) + values[f"load_{name}"]
    effort = values[f"effort_{name}"] or np.inf
    return np.clip(command, -effort, effort)


def bounds(
    values: dict[str, float], name: str, speed: np.ndarray, asked: np.ndarray, limited: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest force of friction and of what a motor withholds."""
    static, kinetic, back = (values[f"{level}_{name}"] for level in ("static", "kinetic", "back"))
    width = values[f"stribeck_{name}"]
    sliding = kinetic + (static - kinetic) * (np.exp(-((speed / width) ** 2)) if width else 0.0)
    still = np.abs(speed) < 1e-9 * max(np.abs(speed).max(), 1e-2)
    low = np.where(still, -static, np.where(speed > 0.0, -sliding, back * sliding))
    high = np.where(still, back * static, np.where(speed > 0.0, -sliding, back * sliding))
    fast = (values[f"fast_{name}"] or np.inf) if limited else np.inf
    low = np.where(speed >= fast * (1 - 1e-6), low - np.maximum(asked, 0.0), low)
    high = np.where(speed <= -fast * (1 - 1e-6), high - np.minimum(asked, 0.0), high)
    return low, high
