"""Driver kinds."""

from core.kinds import Kinds
from core.mechanics.elements.drivers.driven_joint import DrivenJoint
from core.mechanics.elements.drivers.driven_sensor import DrivenSensor
from core.mechanics.elements.drivers.driver_kind import DriverElement

DRIVERS = Kinds("driver", DriverElement, DrivenJoint, DrivenSensor)
