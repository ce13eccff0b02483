"""Conventions needed to read a symbolic result: frames, reference point of inertias, sign of gravity, meaning of
names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.formula.text import number_text
from core.symbolic.notation import writes_short

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


def conventions(robot: Robot, *, code: bool = False) -> tuple[str, ...]:
    """Return sentences that accompany every result; with `code` for a result with sines and cosines written in full."""
    own = (SHORT_NAMES,) if writes_short() and not code else ()
    return (EQUATIONS, _frames_sentence(robot), INERTIA, _gravity_sentence(robot), RATES, *own)


def plain(sentence: str) -> str:
    """Convert a sentence to ASCII, for comments in code."""
    for sign, words in _PLAIN.items():
        sentence = sentence.replace(sign, words)
    return sentence


def _frames_sentence(robot: Robot) -> str:
    """Name the DH convention of the frames; frames of machines without DH tables are those of their bodies."""
    kinds = {chain.convention for chain in robot.model.chains}
    return PRODUCTS[kinds.pop()] if len(kinds) == 1 and not robot.model.bodies else OWN_FRAMES


def _gravity_sentence(robot: Robot) -> str:
    gravity = robot.model.world.gravity
    if gravity.kind == "none":
        return "There is no gravity: P and G are zero but for springs."
    pull = ", ".join(x if isinstance(x, str) else number_text(x) for x in gravity.acceleration)
    pull = pull.replace("-", "−")
    return f"G = ∂P/∂q is what the joints hold at rest; gravity accelerates by ({pull}), in m/s², in the world's axes."
