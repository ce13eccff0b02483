"""What other programs call our kinds and fields is understood: every message names ours, from file and from Python."""

import subprocess
import sys

import pytest

import kinetostat as ks
from core.errors import suggest_names
from core.files.native.reader import VERSION
from core.functions import FUNCTIONS
from core.model import CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS, SENSOR_KINDS, SHAPE_TYPES

FILE = """kinetostat: {version}
bodies:
  arm: {{mass: 1, inertia: [0.1, 0.1, 0.1]}}
joints:
  pin: {{parent: world, child: arm}}
"""


def read(text, old="", new=""):
    return ks.loads(text.format(version=VERSION).replace(old, new))


@pytest.mark.parametrize(
    ("word", "family", "meant"),
    [
        ("hinge", JOINT_KINDS, "revolute"),
        ("ball", JOINT_KINDS, "spherical"),
        ("slider", JOINT_KINDS, "prismatic"),
        ("Ball-Joint", JOINT_KINDS, "spherical"),
        ("weld", JOINT_KINDS, "fixed"),
        ("floating", JOINT_KINDS, "free"),
        ("hooke", JOINT_KINDS, "universal"),
        ("revolut", JOINT_KINDS, "revolute"),
        ("spring", FORCE_KINDS, "line"),
        ("link", CONSTRAINT_KINDS, "rod"),
        ("gyro", SENSOR_KINDS, "angular_velocity"),
        ("cuboid", SHAPE_TYPES, "box"),
        ("ball", SHAPE_TYPES, "sphere"),
        ("ik", FUNCTIONS, "inverse_kinematics"),
    ],
)
def test_words_of_other_programs(word, family, meant):
    assert suggest_names(word, family) == f"Did you mean {meant}?"


def test_every_word_of_ours_is_one():
    """The table names only what there is, so that a renaming does not leave it behind."""
    from app.cli.main import COMMANDS
    from core.model.fields import declared_fields
    from core.model.joints import Limit, Mimic
    from core.model.model import COLLECTIONS, Model
    from core.model.shapes import Pose
    from core.model.signal_elements import BLOCK_KINDS
    from core.synonyms import _OTHERS

    elements = [Model, Pose, Limit, Mimic, *COLLECTIONS.values(), *SHAPE_TYPES.values()]
    ours = {field.name for element in elements for field in declared_fields(element)}
    ours |= {
        *JOINT_KINDS,
        *FORCE_KINDS,
        *CONSTRAINT_KINDS,
        *SENSOR_KINDS,
        *BLOCK_KINDS,
        *SHAPE_TYPES,
        *COMMANDS,
        *FUNCTIONS,
    }
    ours |= {option.id for function in FUNCTIONS.values() for option in function.options}
    ours |= {"world", "q", "v", "a", "tau", "rate", "omega", "alpha"}
    assert {own for own, _ in _OTHERS} <= ours


@pytest.mark.parametrize(
    ("old", "new", "where", "meant"),
    [
        ("parent: world", "parent: ground", "joint 'pin', parent", "world"),
        ("parent: world", "parent: worl", "joint 'pin', parent", "world"),
        ("mass: 1", "com: [0, 0, 1]", "body 'arm'", "center_of_mass"),
        ("child: arm", "child: arm, type: hinge", "joint 'pin'", "kind"),
        ("bodies", "links", "", "bodies"),
    ],
)
def test_files(old, new, where, meant):
    with pytest.raises(ks.KinetostatError) as caught:
        read(FILE, old, new)
    assert caught.value.where == where
    assert caught.value.remedy == f"Did you mean {meant}?"
    assert caught.value.line


def test_a_kind_in_a_file_is_a_finding_that_names_ours():
    model = read(FILE, "child: arm", "child: arm, kind: hinge")
    assert [f.remedy.startswith("Did you mean revolute?") for f in ks.check(model) if f.severity == "error"] == [True]


@pytest.mark.parametrize(("name", "meant"), [("pin.w", "pin.v"), ("pin.omega", "pin.v"), ("pin.angle", "pin.q")])
def test_signals(name, meant):
    with pytest.raises(ks.KinetostatError, match=f"Did you mean {meant}\\?"):
        read(FILE + f"forces:\n  f: {{{{kind: joint, joint: pin, law: -{name}}}}}\n")


def test_what_is_near_no_name_tells_what_there_is():
    with pytest.raises(ks.KinetostatError, match=r"Known: pin\.q, pin\.v\."):
        read(FILE + "forces:\n  f: {{kind: joint, joint: pin, law: -pin.xxxxxxxx}}\n")


def test_channels_of_a_run():
    run = ks.simulate(read(FILE), duration=0.01)
    with pytest.raises(ks.KinetostatError, match=r"Did you mean pin\.v\?"):
        run["pin.w"]
    with pytest.raises(ks.KinetostatError, match=r"Did you mean arm\.omega\?"):
        run["arm.w"]


@pytest.mark.parametrize(
    ("make", "where", "remedy"),
    [
        (lambda: ks.Body(name="arm", com=(0, 0, 1)), "body 'arm'", "Did you mean center_of_mass?"),
        (lambda: ks.Joint(name="pin", type="revolute", parent="world", child="arm"), "joint 'pin'", "mean kind?"),
        (lambda: ks.Joint(name="pin", parent="world"), "joint 'pin'", "Add child"),
        (lambda: ks.Body("arm"), "body", "Body(name='arm', …)"),
        (
            lambda: ks.Joint(name="pin", kind="pivot", parent="world", child="arm"),
            "joint 'pin', kind",
            "mean revolute?",
        ),
        (lambda: ks.edits.change(read(FILE), "bodies", "arm", com=(0, 0, 1)), "body 'arm'", "mean center_of_mass?"),
    ],
)
def test_python_is_told_like_a_file(make, where, remedy):
    with pytest.raises(ks.ModelError) as caught:
        make()
    assert caught.value.where == where
    assert remedy in caught.value.remedy


def test_elements_travel_to_other_processes():
    import copy
    import pickle

    joint = read(FILE).joints[0]
    assert pickle.loads(pickle.dumps(joint)) == copy.deepcopy(joint) == joint


def test_coordinates_of_python_and_command_line():
    """A joint of one coordinate is meant by whatever others call its rate or angle."""
    model = read(FILE)
    mech = ks.Mechanism(model)
    for wrong in ("pin.w", "pin.angle", "pn"):
        with pytest.raises(ks.KinetostatError, match=r"Did you mean pin\?"):
            mech.move(mech.rest(), {wrong: 1.0})
        with pytest.raises(ks.KinetostatError, match=r"Did you mean pin\?"):
            ks.simulate(mech, duration=0.01, v0={wrong: 1.0})
    with pytest.raises(ks.KinetostatError, match=r"Did you mean speeds\?"):
        ks.call("energy", ks.Context.of(model), velocities={"pin": 1.0})


def test_the_command_line_names_ours():
    done = subprocess.run(
        [sys.executable, "-m", "app", "simulate", "x.kst"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert "Did you mean run?" in done.stderr
