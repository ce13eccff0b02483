"""Reading of a frame's chain: closed form and names if it is of a known family, otherwise the reason why not."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_families import FAMILIES, ClosedArm, find_family, find_smallest_gap
from core.analysis.arms.configuration_names import ConfigurationNames
from core.analysis.arms.nearest_ideal_arm import IdealArm, find_nearest_ideal_arm
from core.analysis.arms.screw_chain import ScrewChain, read_screw_chain
from core.mechanism import Mechanism

Array = NDArray[np.float64]

MOST_KEPT = 32
"""Number of parameter values and frames per machine for which the reading is kept."""


class ArmReading(NamedTuple):
    """joints : of the chain; words : how inverse kinematics is solved for it; arm and names : None without closed form;
    is_exact : False if they are those of an ideal arm near the real one."""

    joints: tuple[str, ...]
    words: str
    arm: ClosedArm | None = None
    names: ConfigurationNames | None = None
    is_exact: bool = True


_readings: WeakKeyDictionary[Mechanism, dict[tuple[str, bytes], ArmReading]] = WeakKeyDictionary()


def read_arm(mech: Mechanism, frame: str, p: Array) -> ArmReading:
    """Reading of the chain that moves a frame, at parameter values (n_p,)."""
    kept = _readings.setdefault(mech, {})
    key = (frame, p.tobytes())
    found = kept.get(key)
    if found is None:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[key] = _read(mech, frame, p)
    return found


def _read(mech: Mechanism, frame: str, p: Array) -> ArmReading:
    path = mech.compiled.topology.path(mech.compiled.check_frame_name(frame)) if frame != "world" else []
    joints = tuple(name for name in reversed(path) if mech.joint_v(name).stop > mech.joint_v(name).start)
    chain = read_screw_chain(mech, frame, p)
    if isinstance(chain, str):
        return ArmReading(joints, f"numeric: {chain}")
    family = find_family(chain)
    ideal = find_nearest_ideal_arm(chain) if family is None else IdealArm(chain, family, 0.0, 0.0)
    if ideal is None:
        return ArmReading(joints, f"numeric: {_missing_family_words(chain)}")
    arm = ClosedArm(ideal.chain, ideal.family)
    first = next(joint for joint in mech.model.expanded.joints if joint.name == joints[0])
    base = np.asarray(mech.frame(mech.neutral(), first.parent, p=p))
    words = f"closed form: {FAMILIES[ideal.family].words}"
    if family is None:
        words = (
            f"closed form of the nearest ideal arm, refined by iteration: {FAMILIES[ideal.family].words}, but axes are "
            f"off by up to {ideal.gap * 1e3:.3g} mm and {np.degrees(ideal.angle):.3g}°"
        )
    return ArmReading(joints, words, arm, ConfigurationNames(arm, base), family is not None)


def _missing_family_words(chain: ScrewChain) -> str:
    gap = find_smallest_gap(chain)
    if gap is not None:
        return f"the axes of {gap.one} and {gap.other} do not meet (gap {gap.distance * 1e3:.3g} mm)"
    count = len(chain.kinds)
    if count != 6:
        return f"no closed form for {count} joint{'s' * (count != 1)} of these kinds is known here"
    return "the arm belongs to no family with a known closed form"
