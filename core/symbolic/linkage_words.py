"""Explanations of a symbolic linkage: meaning of names, branch signs, and neglected terms."""

from __future__ import annotations

from core.symbolic.conventions import SHORT_NAMES, Owners, parameter_owners
from core.symbolic.linkage import SECTIONS, Linkage
from core.symbolic.loop_ring import Definition
from core.symbolic.notation import uses_short_trig

ANGLES = "Angles of joints count from their zero positions, up to whole turns; lengths are positive."
BRANCH = "σ = ±1: on which of its two branches a step is assembled; it changes only where both meet."
RATIOS = "k2 = dq2/dq1: speed of q2 over that of q1, the independent coordinate."
RATIOS_OF_SEVERAL = "k3b = ∂q3/∂q_b: a, b … are the independent coordinates in their order ({})."
SLOPES = "k2′ = dk2/dq1: accelerations are q̈2 = k2 q̈1 + k2′ q̇1²."
SLOPES_OF_SEVERAL = "k3ab = ∂²q3/∂q_a∂q_b."
OF_ONE = "I q̈1 + ½ I′ q̇1² + G = τ: τ is the force at the independent joint."
OF_SEVERAL = "M q̈ + C q̇ + G = τ in the independent coordinates; C from Christoffel symbols, Ṁ − 2 C is skew-symmetric."
LEFT_OUT = "Springs, dampers, friction and other force elements are left out: their forces are part of τ."
INERTIA = (
    "m, r, I: mass, centre of mass and moments about it in the body's axes, numbered by bodies; G = dP/dq by gravity."
)


def convention_sentences(linkage: Linkage, *sections: str, code: bool = False) -> tuple[str, ...]:
    """Return the sentences that accompany the sections; `code` if sines and cosines are written in full."""
    several = len(linkage.places) > 1
    letters = ", ".join(f"{'abcdef'[k]}: {each.symbol}" for k, each in enumerate(linkage.independent))
    made: list[str] = []
    if "positions" in sections:
        made += [ANGLES, BRANCH]
    if "ratios" in sections:
        made.append(RATIOS_OF_SEVERAL.format(letters) if several else RATIOS)
    if "derivatives" in sections:
        made.append(SLOPES_OF_SEVERAL if several else SLOPES)
    if "dynamics" in sections:
        made += [OF_SEVERAL if several else OF_ONE, LEFT_OUT, INERTIA]
    short = uses_short_trig() and not code and sections[0] in ("positions", "derivatives")
    return (*made, *((SHORT_NAMES,) if short else ()))


def describe_symbols(linkage: Linkage, section: str = "dynamics") -> dict[str, str]:
    """Describe each symbol of a section and of the sections it depends on."""
    found = {name: f"parameter {name}" for name in linkage.parameters}
    for v, rate, acceleration in zip(linkage.variables, linkage.rates, linkage.accelerations, strict=True):
        found |= dict.fromkeys((v.symbol, rate, acceleration), f"joint {v.joint}")
    found |= {name: f"joint {joint}, which the tree cuts" for name, joint in linkage.cut_symbols.items()}
    wanted = SECTIONS[: SECTIONS.index(section) + 1]
    defined: list[Definition] = [each for name in wanted for each in getattr(linkage, name)]
    return {each.name: each.about for each in defined if each.about} | found


def symbol_owners(linkage: Linkage) -> Owners:
    """Return the elements of the expanded model that each symbol belongs to."""
    found = parameter_owners(linkage.model)
    for v, rate, acceleration in zip(linkage.variables, linkage.rates, linkage.accelerations, strict=True):
        found |= dict.fromkeys((v.symbol, rate, acceleration), (("joints", v.joint),))
    for k, name in linkage.ratio_joints.items():
        found[k] = (("joints", name),)
    return found | {name: (("joints", joint),) for name, joint in linkage.cut_symbols.items()}
