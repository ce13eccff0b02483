"""Reading of a frame's chain: the solver of its inverse kinematics and names, or the reason why there is none."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import FAMILIES, ClosedArm, find_family, find_smallest_gap
from core.analysis.arms.configuration_names import ConfigurationNames, UnnamedBranches
from core.analysis.arms.nearest_ideal_arm import IdealArm, find_nearest_ideal_arm
from core.analysis.arms.regional_arm import REGIONAL_WORDS, RegionalArm, is_regional_arm
from core.analysis.arms.screw_chain import ScrewChain, read_screw_chain
from core.analysis.arms.six_joint_elimination import GeneralArm, can_eliminate
from core.analysis.arms.task_chain import (
    FREE_NAME,
    PHANTOM_NAME,
    add_free_joints,
    complete_to_six,
    count_freedoms,
    lock_joints,
    reverse_chain,
)
from core.mechanism import Mechanism

Array = NDArray[np.float64]

MOST_KEPT = 64
"""Number of parameter values, frames and tasks per machine for which the reading is kept."""


class ArmSolver(NamedTuple):
    """Solver of a chain of joints, and the names of its branches. words : how it solves; chain : its joints, with
    phantoms; is_reversed : from the frame to the base; is_exact : False for an ideal arm near the real one"""

    arm: ClosedArm | RegionalArm | GeneralArm
    names: ConfigurationNames | UnnamedBranches
    chain: ScrewChain
    words: str
    is_reversed: bool = False
    is_exact: bool = True

    def columns(self, joints: tuple[str, ...]) -> list[int]:
        """Indices of joints in the chain."""
        return [self.chain.joints.index(name) for name in joints]


class ArmReading(NamedTuple):
    """joints : that move the frame; words : how inverse kinematics is solved; task : chain of the joints that are
    solved for, with the target's free directions; redundant : joints that keep a value."""

    joints: tuple[str, ...]
    words: str
    solver: ArmSolver | None = None
    task: ScrewChain | None = None
    redundant: tuple[str, ...] = ()


class Task(NamedTuple):
    """Question that a chain is read for: free directions of the target, locked joints, values of redundant ones."""

    free: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    values: tuple[tuple[str, float], ...] = ()


_readings: WeakKeyDictionary[Mechanism, dict[tuple[object, ...], ArmReading]] = WeakKeyDictionary()


def read_arm(mech: Mechanism, frame: str, p: Array, q: Array, task: Task | None = None) -> ArmReading:
    """Reading of the chain that moves a frame, at parameter values (n_p,) and a position (nq,), whose values locked and
    redundant joints hold."""
    asked = Task() if task is None else task
    kept = _readings.setdefault(mech, {})
    plain = kept.get((frame, p.tobytes(), asked))
    if plain is not None and not plain.redundant and not asked.locked:
        return plain
    key = (frame, p.tobytes(), asked, q.tobytes())
    found = kept.get(key)
    if found is None:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = _read(mech, frame, p, q, asked)
        kept[key if found.redundant or asked.locked else key[:3]] = found
    return found


def _read(mech: Mechanism, frame: str, p: Array, q: Array, asked: Task) -> ArmReading:
    path = mech.compiled.topology.path(mech.compiled.check_frame_name(frame)) if frame != "world" else []
    joints = tuple(name for name in reversed(path) if mech.joint_v(name).stop > mech.joint_v(name).start)
    whole = read_screw_chain(mech, frame, p)
    if isinstance(whole, str):
        return ArmReading(joints, f"numeric: {whole}")
    locked = [k for k, name in enumerate(whole.joints) if name in asked.locked]
    task = add_free_joints(lock_joints(whole, locked, q[whole.at]), asked.free)
    joints = tuple(name for name in joints if name not in asked.locked)
    if not task.joints:
        return ArmReading((), "")
    held: tuple[str, ...] = ()
    redundant = len(task.joints) - count_freedoms(task)
    if redundant:
        chosen = _find_joints_to_hold(task, redundant)
        if chosen is None:
            return ArmReading(joints, f"numeric: {_missing_family_words(task)}")
        held = tuple(task.joints[k] for k in chosen)
        task = lock_joints(task, chosen, _values_of(task, q, dict(asked.values)))
    first = next(joint for joint in mech.model.expanded.joints if joint.name == whole.joints[0])
    base = np.asarray(mech.frame(mech.neutral(), first.parent, p=p))
    solver = _find_solver(task, base)
    if solver is None:
        return ArmReading(joints, f"numeric: {_missing_family_words(task)}")
    words = solver.words + (f"; {', '.join(map(_plain_name, held))} held" if held else "")
    return ArmReading(joints, words, solver, task, held)


def _plain_name(joint: str) -> str:
    return joint.removeprefix(FREE_NAME)


def _values_of(task: ScrewChain, q: Array, given: Mapping[str, float]) -> Array:
    """(n,) values of a chain's joints at a position, with those given by name; those of free directions are zero."""
    values = np.where(task.at >= 0, q[task.at], 0.0)
    for k, name in enumerate(task.joints):
        values[k] = given.get(name.removeprefix(FREE_NAME), values[k])
    return values


def _find_joints_to_hold(task: ScrewChain, redundant: int) -> list[int] | None:
    """Indices of redundant joints of which any values leave an arm of a family, or one of fewer joints that moves as
    freely; None if there are none."""
    count = len(task.joints)
    preferred = sorted(range(count), key=lambda k: (task.at[k] < 0, task.kinds[k] == "R", -k))
    tried = task.start + np.random.default_rng(5).uniform(0.3, 1.2, (2, count))
    for chosen in itertools.combinations(preferred, redundant):
        chains = [lock_joints(task, chosen, values) for values in (task.start, *tried)]
        if any(count_freedoms(chain) < count - redundant for chain in chains):
            continue
        if count - redundant < 6 or all(find_family(chain) or find_family(reverse_chain(chain)) for chain in chains):
            return list(chosen)
    return None


def _find_solver(task: ScrewChain, base: Array) -> ArmSolver | None:
    """Solver of a chain of at most six joints: a family, read from either end, then a nearly ideal arm, then more
    general ones."""
    found = _find_family_solver(task, base)
    if found is None and len(task.joints) == 6:
        ideal = find_nearest_ideal_arm(task)
        if ideal is not None:
            return _nearly_ideal_solver(ideal, base)
    if found is None and len(task.joints) < 6:
        for chain in complete_to_six(task):
            found = found or _find_family_solver(chain, base)
        if found is not None:
            found = found._replace(words=f"{found.words}, with virtual joints")
    for chain in complete_to_six(task) if found is None else ():
        if found is None and is_regional_arm(chain):
            found = ArmSolver(RegionalArm(chain), UnnamedBranches(chain, RegionalArm.branches), chain, REGIONAL_WORDS)
    for chain in complete_to_six(task) if found is None else ():
        last = chain  # the last completion has phantoms in general places
        found = _general_solver(last) if can_eliminate(last) else None
    return found


def _find_family_solver(chain: ScrewChain, base: Array) -> ArmSolver | None:
    family = find_family(chain)
    if family is not None:
        arm = ClosedArm(chain, family)
        words = f"closed form: {FAMILIES[family].words}"
        return ArmSolver(arm, ConfigurationNames(arm, base), chain, words)
    back = reverse_chain(chain)
    family = find_family(back)
    if family is None:
        return None
    arm = ClosedArm(back, family)
    words = f"closed form, from the tool to the base: {FAMILIES[family].words}"
    return ArmSolver(arm, ConfigurationNames(arm, base, by_joints=True), back, words, is_reversed=True)


def _nearly_ideal_solver(ideal: IdealArm, base: Array) -> ArmSolver:
    arm = ClosedArm(ideal.chain, ideal.family)
    words = (
        f"closed form of the nearest ideal arm, refined by iteration: {FAMILIES[ideal.family].words}, but axes are "
        f"off by up to {ideal.gap * 1e3:.3g} mm and {np.degrees(ideal.angle):.3g}°"
    )
    return ArmSolver(arm, ConfigurationNames(arm, base), ideal.chain, words, is_exact=False)


def _general_solver(chain: ScrewChain) -> ArmSolver:
    words = "elimination for a general six-joint arm"
    if PHANTOM_NAME in chain.joints:
        words = "elimination for a general arm"
    gap = find_smallest_gap(chain)
    if gap is not None and PHANTOM_NAME not in (gap.one, gap.other):
        words += f": the axes of {gap.one} and {gap.other} do not meet (gap {gap.distance * 1e3:.3g} mm)"
    return ArmSolver(GeneralArm(chain), UnnamedBranches(chain, GeneralArm.branches), chain, words)


def _missing_family_words(chain: ScrewChain) -> str:
    gap = find_smallest_gap(chain)
    if gap is not None:
        return f"the axes of {gap.one} and {gap.other} do not meet (gap {gap.distance * 1e3:.3g} mm)"
    count = len(chain.kinds)
    if count != 6:
        return f"no closed form for {count} joint{'s' * (count != 1)} of these kinds is known here"
    return "the arm belongs to no family with a known closed form"
