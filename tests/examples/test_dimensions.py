"""Every number field of every element, and every channel of a run, says what it measures, on every surface alike."""

import numpy as np
import pytest

from app.plotting import channels as plotted
from app.widgets.fields.field_editor import Context
from app.widgets.quantities.quantity_text import SIUnits
from core.files import load
from core.mechanism import Mechanism
from core.model.dimensions import dimension_of, nested_with_owners
from core.model.fields import ScalarKind, VectorKind, declared_fields
from core.model.units import DERIVED, SI, display_unit, parse_compound_unit
from core.simulation.run.channels import column_suffixes
from core.simulation.run.resampling import equilibrium_run
from resources import examples

ALL = examples()
each = pytest.mark.parametrize("example", ALL, ids=[example.name for example in ALL])

PLAIN = {
    ("Joint", "axis"),
    ("Joint", "second_axis"),
    ("Joint", "friction_coefficient"),
    ("Joint", "static_friction_coefficient"),
    ("Constraint", "axis"),
    ("Constraint", "ratio"),
    ("Force", "ratio"),
    ("Mimic", "ratio"),
    ("Sensor", "axis"),
    ("Sensor", "axis_b"),
    ("Mesh", "scale"),
    ("Gearwheel", "teeth"),
    ("Coil", "turns"),
    ("Limit", "restitution"),
    ("StudyPlan", "count"),
    ("StudyPlan", "seed"),
    *(("Signal", field) for field in ("input", "kp", "ki", "kd", "resolution", "noise", "seed")),
    ("ControlledJoint", "ki"),
    ("NominalValue", "value"),
    ("Limit", "jerk"),
    ("Motion", "joint_speed"),
    ("Motion", "joint_acceleration"),
    ("Motion", "joint_jerk"),
}
"""Directions, ratios, shares and counts: plain numbers wherever they stand; jerk, which has no dimension of its own,
and limits of a motion that are for turning and sliding joints alike."""


def powers(dimension, radians=True):
    """Powers of kg, m, s (and rad) of a dimension's SI unit."""
    found = np.array(parse_compound_unit(display_unit(dimension, degrees=False).symbol).powers)
    return found if radians else found[:3]


def numbers_of(model):
    """(owners, field, index, dimension) of all numbers in the fields of a model's elements."""
    for element in [model.world, *(element for _, element in model.elements())]:
        for owners, which in nested_with_owners(element):
            for field in declared_fields(type(owners[-1])):
                if isinstance(field.kind, VectorKind):
                    for index in range(len(getattr(owners[-1], field.name))):
                        yield owners, field, index, dimension_of(model, owners, field, index)
                elif isinstance(field.kind, ScalarKind):
                    yield owners, field, which, dimension_of(model, owners, field, which)


@each
def test_every_number_field_has_a_dimension_which_its_editor_shows(example):
    model = load(example.path)
    context = Context(model=model, settings=SIUnits())
    for owners, field, index, dimension in numbers_of(model):
        assert dimension in SI or dimension in DERIVED, (owners[-1], field.name)
        if field.kind.by is None and dimension == "none":
            assert (type(owners[-1]).__name__, field.name) in PLAIN
        shown = context
        for owner in owners:
            shown = shown.nested_context(owner)
        assert shown.field_measure(field, index).display_unit(SIUnits()) == display_unit(dimension, degrees=False)


@each
def test_forces_per_value_and_per_rate_are_forces_by_their_units(example):
    model = load(example.path)
    found = {}
    for owners, field, index, dimension in numbers_of(model):
        if dimension != "none":
            found.setdefault(owners, {}).setdefault(field.name, (index, dimension))
    for owners, fields in found.items():
        along = owners[-1].along(model, None) if hasattr(owners[-1], "along") else "none"
        if along not in ("angle", "length"):
            continue
        force = "torque" if along == "angle" else "force"
        if "stiffness" in fields:
            assert (powers(fields["stiffness"][1]) + powers(along) == powers(force)).all()
        if "damping" in fields:
            rate = powers(along) - powers("time")
            assert (powers(fields["damping"][1]) + rate == powers(force)).all()
        if "armature" in fields:
            second = powers(along, radians=False) - 2 * powers("time", radians=False)
            assert (powers(fields["armature"][1], radians=False) + second == powers(force, radians=False)).all()
        for name in ("friction", "law"):
            assert fields.get(name, (0, force))[1] == force


@each
def test_every_channel_has_a_dimension_which_its_plot_shows(example):
    mech = Mechanism(load(example.path))
    run = equilibrium_run(mech, mech.rest())
    for channel in run.channels:
        for part in [f"{channel}.{suffix}" for suffix in column_suffixes(run.computed_channels, channel)] or [channel]:
            dimension = run.dimension(part)
            assert dimension in SI or dimension in DERIVED, part
            assert plotted.physical_dimension(run, part).display_unit(SIUnits()) == display_unit(
                dimension, degrees=False
            )


@each
def test_a_rate_is_measured_in_the_unit_of_the_value_per_second(example):
    mech = Mechanism(load(example.path))
    run = equilibrium_run(mech, mech.rest())
    for channel in run.channels:
        if channel.endswith(".rate") and (dimension := run.dimension(channel)) != "none":
            values = channel.removesuffix(".rate")
            value = run.dimension(values if values in run.channels else f"{values}.length")
            assert (powers(dimension) == powers(value) - powers("time")).all(), channel


@each
def test_force_times_speed_of_a_joint_is_a_power(example):
    mech = Mechanism(load(example.path))
    run = equilibrium_run(mech, mech.rest())
    power = powers("power", radians=False)
    for column in mech.v_names:
        force, speed = run.dimension(f"{column}.tau"), run.dimension(f"{column}.v")
        assert (powers(force, radians=False) + powers(speed, radians=False) == power).all(), column


def test_an_end_of_a_joint_without_a_single_dimension_has_none():
    mech = Mechanism(load(next(each.path for each in ALL if each.name == "joint_kinds")))
    run = equilibrium_run(mech, mech.rest())
    mixed = next(joint for joint in mech.model.expanded.joints if joint.kind == "cylindrical")
    assert run.dimension(f"{mixed.name}.q") == "none"
    assert run.dimension(f"{mixed.name}.q.angle") == "angle"
    assert run.dimension(f"{mixed.name}.v.displacement") == "velocity"
    assert run.dimension(f"{mixed.name}.displacement.q") == "length"
    assert run.dimension(f"{mixed.name}.reaction.force") == "force"
    assert run.dimension("no.such.channel") == run.dimension("t*t") == "none"
