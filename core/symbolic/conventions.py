"""Conventions needed to interpret a symbolic result (frames, reference point of inertias, sign of gravity, meaning of
names), and the elements that each symbol belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model import Model
from core.model.fields import nested_elements
from core.model.formula.expression import names_in_formula, parse
from core.model.formula.formula_fields import list_formulas
from core.model.formula.text import format_number
from core.symbolic.notation import uses_short_trig

if TYPE_CHECKING:
    from core.symbolic.robot import Robot


EQUATIONS = "Rows of J are [v; ω] of the tip in the axes of frame 0. M q̈ + C q̇ + G = τ; C from Christoffel symbols."
INERTIA = "Inertia about each centre of mass in link axes, products with the minus sign: Ixy = −∫xy dm."
RATES = "Dq1 = speed and DDq1 = acceleration of q1."
SHORT_NAMES = "C1 = cos(q1), S12 = sin(q1 + q2)."
PRODUCTS = {
    "standard": "Standard Denavit–Hartenberg: A = Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α).",
    "modified": "Modified Denavit–Hartenberg: A = Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d).",
}
OWN_FRAMES = "Frames are those of the bodies, as the file states them."
_PLAIN = {
    "ω": "w",
    "q̈": "qdd",
    "q̇": "qd",
    "τ": "tau",
    "−∫xy dm": "-int(x y dm)",
    "∂P/∂q": "dP/dq",
    "²": "^2",
    "½": "1/2",
    "′": "'",
    "σ": "sigma",
    "±": "+-",
    "∂": "d",
    "Ṁ": "dM/dt",
    "−": "-",
    "–": "-",
    "θ": "theta",
    "α": "alpha",
}

Owners = dict[str, tuple[tuple[str, str], ...]]
"""Mapping symbol → (collection, name) of elements."""
HOLDERS = ("bodies", "joints", "frames")


def convention_sentences(robot: Robot, *, code: bool = False) -> tuple[str, ...]:
    """Return the sentences that accompany every result; `code` if sines and cosines are written in full."""
    own = (SHORT_NAMES,) if uses_short_trig() and not code else ()
    return (EQUATIONS, _frames_sentence(robot), INERTIA, _gravity_sentence(robot), RATES, *own)


def to_ascii(sentence: str) -> str:
    """Convert a sentence to ASCII, for comments in code."""
    for sign, words in _PLAIN.items():
        sentence = sentence.replace(sign, words)
    return sentence


def _frames_sentence(robot: Robot) -> str:
    """Return a sentence on the frames: their DH convention or, for machines without DH tables, that they are the frames
    of the bodies."""
    kinds = {chain.convention for chain in robot.model.chains}
    return PRODUCTS[kinds.pop()] if len(kinds) == 1 and not robot.model.bodies else OWN_FRAMES


def _gravity_sentence(robot: Robot) -> str:
    gravity = robot.model.world.gravity
    if gravity.kind == "none":
        return "There is no gravity: P and G are zero but for springs."
    pull = ", ".join(x if isinstance(x, str) else format_number(x) for x in gravity.acceleration)
    pull = pull.replace("-", "−")
    return f"G = ∂P/∂q is what the joints hold at rest; gravity accelerates by ({pull}), in m/s², in the world's axes."


def symbol_owners(robot: Robot) -> Owners:
    """Return the elements of the expanded model that each symbol belongs to; a coordinate and its rates belong to their
    joint."""
    found = parameter_owners(robot.model)
    chain = robot.chain
    for variable, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        found |= dict.fromkeys((variable.symbol, rate, acceleration), (("joints", variable.joint),))
    return found


def parameter_owners(model: Model) -> Owners:
    """Return the elements whose formulas contain a parameter, directly or through dependent parameters."""
    expanded = model.expanded
    sources = {p.name: names_in_formula(parse(p.value)) for p in expanded.parameters if isinstance(p.value, str)}
    known = {p.name for p in expanded.parameters}
    found: dict[str, list[tuple[str, str]]] = {}
    for collection in HOLDERS:
        for element in getattr(expanded, collection):
            used: set[str] = set()
            texts = [found.text for part in nested_elements(element) for found in list_formulas(part)]
            waiting = [name for text in texts for name in names_in_formula(parse(text))]
            while waiting:
                name = waiting.pop()
                if name in known and name not in used:
                    used.add(name)
                    waiting += sources.get(name, ())
            for name in used:
                found.setdefault(name, []).append((collection, element.name))
    return {name: tuple(places) for name, places in found.items()}
