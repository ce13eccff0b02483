"""Walks over all examples, of which `make test` goes to a few and `make test-all` to the rest.

The few have every kind of element, loops in the plane and in space, redundant ones, quaternions, friction, stops,
drivers, gears, meshes, and files of each format (`tests/examples/test_example_files.py` holds that).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

import pytest

QUICK = {
    "puma560": "an arm with friction, rotors and a chain",
    "kestrel": "URDF with meshes",
    "two_link": "Robotica's format, parameters",
    "three_link": "Robotica's format, a prismatic joint",
    "joint_kinds": "every kind of joint, quaternions",
    "forces": "every kind of constraint, sensor and force but the clutch",
    "clutch": "a clutch",
    "three_springs": "a junction, a free body",
    "governor_arm": "a spring of a joint",
    "tracking_arm": "poses, a motion, controllers, sampled signals",
    "bouncing_pendulum": "a stop that is hit",
    "ramp": "contact of shapes",
    "belt_oscillator": "dry friction and a driver",
    "planetary_stage": "gears without loops",
    "shaker_chord": "a distance that is held",
    "four_bar": "a loop in the plane that parameters change",
    "shaker": "a loop in space with spherical joints",
    "n_four_bar": "two loops with a change point",
    "bricard": "a redundant loop",
}
"""Example → what it is walked to for."""


def walk(
    cases: Iterable[Any], name: Callable[[Any], str] = str, quick: Container[str] = QUICK, also: Container[str] = ()
) -> list[Any]:
    """Parameters of a test over examples (or what is named like them); all but those that are quick are slow."""
    named = ((case, name(case)) for case in cases)
    marks = {True: (), False: (pytest.mark.slow,)}
    return [pytest.param(case, id=word, marks=marks[word in quick or word in also]) for case, word in named]


def slow(*cases: Any) -> list[Any]:
    """These cases of a test are slow; one of several arguments is a tuple."""
    return [pytest.param(*(each if isinstance(each, tuple) else (each,)), marks=pytest.mark.slow) for each in cases]
