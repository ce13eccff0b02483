"""Commands that step through a derivation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "Tools/Derivation"


def _open_derivation(bench: Workbench) -> None:
    bench.panels.show_panel("derivation")
    bench.panels.derivation.begin()


def _is_deriving(bench: Workbench) -> bool:
    return bench.panels.is_derivation_open


COMMANDS = (
    Command(
        "derivation.replay",
        "Derivation replay",
        _open_derivation,
        MENU,
        "Alt+D",
        "matrix",
        when=lambda w: w.session.mech.nv > 0,
        help="Step through the derivation of the equations: frames, A matrices, kinematics, Jacobian, energies, "
        "M, C, G, each with its formula, its numbers at the pose and its picture.",
    ),
    Command(
        "derivation.back",
        "Step before",
        lambda w: w.panels.derivation.step(-1),
        MENU,
        "Alt+Left",
        "step_back",
        when=_is_deriving,
        help="The previous step of the derivation replay.",
    ),
    Command(
        "derivation.forward",
        "Next step",
        lambda w: w.panels.derivation.step(1),
        MENU,
        "Alt+Right",
        "step_forward",
        when=_is_deriving,
        help="The next step of the derivation replay.",
    ),
    Command(
        "derivation.close",
        "End the replay",
        lambda w: w.panels.derivation.end(),
        MENU,
        "",
        "close",
        when=_is_deriving,
        section="end",
        help="Remove the derivation's arrows from the scene.",
    ),
)
