"""Continuous joints."""

from __future__ import annotations

from dataclasses import dataclass

from core.joints.revolute import Revolute


@dataclass(frozen=True)
class Continuous(Revolute):
    """Rotation about z without limits."""

    name, title = "continuous", "Continuous"
    help = "Turns about its axis, any number of turns: limits do not count."
    limited = False
