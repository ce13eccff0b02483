"""Symbolic model of the robot, shared by several functions, and its matrices as results."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from core.files.followed_files import content_fingerprints
from core.functions.context import Cancelled, Context
from core.functions.results import Formulas

if TYPE_CHECKING:
    from core.symbolic.robot import Robot

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
"""Cache of the last robot derived, so that later functions share its lazily computed results."""


def symbolic_robot(context: Context, tip: str, symbols: str, recognise: bool) -> Robot:
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
    """Raise `Cancelled` if the user has stopped the computation; called between two entries."""
    if context.cancelled():
        raise Cancelled


def needs_open_chain(context: Context) -> str:
    """Check that the machine is an open chain without quaternions, the only kind that is derived here; return the
    reason if it is not, else ''."""
    from core.analysis.tool_frame import chain_obstacle_text

    return chain_obstacle_text(context.model)


def compute_formulas(robot: Robot, what: str, *indices: int, check: bool = True) -> Formulas:
    """Compute one symbolic result of a robot and compare it with the compiled kernel."""
    from core.symbolic.proof import check_result

    found = describe_formulas(robot, what, indices, robot.form(what, *indices))
    if not check:
        return found
    made = check_result(robot, what, *indices)
    return dataclasses.replace(found, proof=str(made), proved=made.passed)


def describe_formulas(
    robot: Robot, what: str, indices: tuple[int, ...], entries: tuple[tuple[Any, ...], ...]
) -> Formulas:
    """Build the result of given entries, with symbols, owners and conventions but without comparison with the
    kernel."""
    from core.symbolic.conventions import convention_sentences, symbol_owners

    label = _LABELS.get(what, what) + (f"[{','.join(map(str, indices))}]" if indices else "")
    variables = tuple(v.joint for v in robot.chain.variables)
    square = what in ("M", "C")
    return Formulas(
        title=NAMES[what][0].upper() + NAMES[what][1:],
        label=label,
        entries=entries,
        rows=variables if square or what in ("G", "tau") else (),
        columns=variables if square or what in ("J", "Jvc", "Jwc") else (),
        symbols=symbol_meanings(robot),
        owners=symbol_owners(robot),
        conventions=convention_sentences(robot),
        recognised=tuple(f"{r.where}: {r.given:g} was read as {r.meaning}" for r in robot.recognised),
    )


def symbol_meanings(robot: Robot) -> dict[str, str]:
    """Describe each symbol: "joint elbow", "parameter a2"."""
    chain = robot.chain
    found = {name: f"parameter {name}" for name in chain.parameters}
    for v, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
        found |= dict.fromkeys((v.symbol, rate, acceleration), f"joint {v.joint}")
    return found
