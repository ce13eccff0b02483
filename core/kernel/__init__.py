"""Topology, tracing, machine code: a model becomes a `Mechanism` that evaluates."""

from core.kernel.coordinates import Coordinate
from core.kernel.mechanism import Energy, Mechanism
from core.kernel.topology import Loop

__all__ = ["Coordinate", "Energy", "Loop", "Mechanism"]
