"""Symbolic model of the robot shared by the functions, and its matrices as results."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.files.followed_files import content_fingerprints
from core.functions.context import Cancelled, Context
from core.functions.results import Formulas

NAMES = {
    "A": "frame i in frame i − 1",
    "T": "frame j in frame i",
    "J": "Jacobian",
    "M": "mass matrix",
    "c": "Christoffel symbols",
    "C": "Coriolis and centrifugal matrix",
    "G": "gravity vector",
    "tau": "equations of motion",
    "K": "kinetic energy",
    "P": "potential energy",
    "Ki": "kinetic energy of link i",
    "Pi": "potential energy of link i",
    "Jvc": "Jacobian of a centre of mass, velocity",
    "Jwc": "Jacobian of a link, rotation",
}
_LABELS = {"C": "CM", "Ki": "K", "Pi": "P"}

_kept: dict[str, Any] = {}
"""Cache of the last robot derived, whose lazily computed results are shared by later functions."""


def symbolic_robot(context: Context, tip: str, symbols: str, recognise: bool) -> Any:
    """Return the symbolic robot of the machine; cached for the next call."""
    from core.symbolic import robot

    chosen: Any = symbols.strip() or "named"
    if chosen not in ("named", "all", "none"):
        chosen = tuple(name.strip() for name in chosen.split(",") if name.strip())
    key = (context.model, content_fingerprints(context.model), tip, chosen, recognise)
    kept = _kept.get("robot")
    if kept is None or kept[0] != key:
        kept = _kept["robot"] = (key, robot(context.model, tip=tip, symbols=chosen, recognise=recognise))
    kept[1].chain.watch = lambda: _raise_if_cancelled(context)
    return kept[1]


def _raise_if_cancelled(context: Context) -> None:
    """Raise `Cancelled` between two entries if the user stops the computation."""
    if context.cancelled():
        raise Cancelled


def needs_open_chain(context: Context) -> str:
    """Require an open chain without quaternions, the only machines derived here; returns the reason if it is not one,
    else ''."""
    from core.analysis.tool_frame import obstacle

    return obstacle(context.model)


def formulas(robot: Any, what: str, *indices: int, check: bool = True) -> Formulas:
    """Return one symbolic result of a robot, compared with the compiled kernel."""
    from core.symbolic.proof import proof

    found = described(robot, what, indices, robot.form(what, *indices))
    if not check:
        return found
    made = proof(robot, what, *indices)
    return dataclasses.replace(found, proof=str(made), proved=made.passed)


def described(robot: Any, what: str, indices: tuple[int, ...], entries: tuple[tuple[Any, ...], ...]) -> Formulas:
    """Return entries with symbols, owners and conventions, not compared with the kernel."""
    from core.symbolic.conventions import conventions, owners

    label = _LABELS.get(what, what) + (f"[{','.join(map(str, indices))}]" if indices else "")
    variables = tuple(v.joint for v in robot.chain.variables)
    square = what in ("M", "C")
    return Formulas(
        title=NAMES[what][0].upper() + NAMES[what][1:],
        label=label,
        entries=entries,
        rows=variables if square or what in ("G", "tau") else (),
        columns=variables if square or what in ("J", "Jvc", "Jwc") else (),
        symbols=meanings(robot),
        owners=owners(robot),
        conventions=conventions(robot),
        recognised=tuple(f"{r.where}: {r.given:g} was read as {r.meaning}" for r in robot.recognised),
    )


def meanings(robot: Any) -> dict[str, str]:
    """Describe each symbol: "joint elbow", "parameter a2"."""
    chain = robot.chain
    found = {name: f"parameter {name}" for name in chain.parameters}
    for v, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        found |= dict.fromkeys((v.symbol, rate, acceleration), f"joint {v.joint}")
    return found
