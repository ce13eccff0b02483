"""Other formats say that forces, sensors and the like are left out."""

from core.files import format_model
from core.model import Body, Driver, Force, Joint, Model, Sensor

MODEL = Model(
    bodies=(Body(name="a", mass=1.0),),
    joints=(Joint(name="j", kind="continuous", parent="world", child="a"),),
    sensors=(Sensor(name="s", b="a"),),
    forces=(Force(name="f", b="a", damping=1.0), Force(name="g", kind="joint", joint="j", damping=1.0)),
    drivers=(Driver(name="d", joint="j", function="t"),),
)


def test_a_urdf_says_what_it_cannot_hold():
    found = format_model(MODEL, "urdf").findings
    assert any("1 sensors, 2 forces, 1 drivers are left out" in finding.text for finding in found)
    assert format_model(MODEL, "kst").findings == ()
