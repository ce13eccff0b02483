"""The face of the kernel: a model becomes a `Mechanism` that answers with numbers."""

from core.mechanism.mechanism import Energy, Mechanism
from core.multibody.coordinates import Coordinate
from core.multibody.topology import Loop

__all__ = ["Coordinate", "Energy", "Loop", "Mechanism"]
