"""Driver kinds."""

from core.elements.drivers.driven_joint import DrivenJoint
from core.elements.drivers.driven_sensor import DrivenSensor
from core.elements.drivers.driver_kind import DriverElement
from core.kinds import Kinds

DRIVERS = Kinds("driver", DriverElement, DrivenJoint, DrivenSensor)
