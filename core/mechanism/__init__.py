"""Public interface of the kernel: a model becomes a `Mechanism` that computes numerical results."""

from core.mechanics.multibody.coordinates import Coordinate
from core.mechanics.multibody.topology import Loop
from core.mechanism.mechanism import Energy, Mechanism
from core.mechanism.operational_space import OperationalMass

__all__ = ["Coordinate", "Energy", "Loop", "Mechanism", "OperationalMass"]
