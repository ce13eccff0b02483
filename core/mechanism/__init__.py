"""Topology, tracing, machine code: a model becomes a `Mechanism` that evaluates."""

from core.mechanism.mechanism import Energy, Mechanism
from core.multibody.coordinates import Coordinate
from core.multibody.topology import Loop

__all__ = ["Coordinate", "Energy", "Loop", "Mechanism"]
