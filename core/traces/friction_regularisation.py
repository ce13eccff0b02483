"""Regularised friction for integrators: a force that jumps at speed zero lets no step end there."""

from __future__ import annotations

from dataclasses import replace

from core.mechanics.tree import Tree

SLIP_SPEED = 1e-3
"""Speed (rad/s or m/s) over which Coulomb friction turns round in simulations; a joint that sticks creeps below it."""


def regularised(tree: Tree) -> Tree:
    """The tree with friction · v / √(v² + slip_speed²)."""
    return replace(tree, links=tuple(replace(link, slip_speed=SLIP_SPEED) for link in tree.links))
