"""Public interface of the kernel: a model becomes a `Mechanism` that computes numerical results."""

from core.mechanism.mechanism import Energy, Mechanism
from core.multibody.coordinates import Coordinate
from core.multibody.topology import Loop

__all__ = ["Coordinate", "Energy", "Loop", "Mechanism"]
