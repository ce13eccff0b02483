"""Continuous joint."""

from __future__ import annotations

from core.joints.revolute import Revolute
from core.later import dataclass


@dataclass(frozen=True)
class Continuous(Revolute):
    """Rotation about z without limits."""

    name, title = "continuous", "Continuous"
    help = "Turns about its axis without limits."
    limited = False
