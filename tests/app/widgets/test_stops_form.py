"""Friction and stops in the form of a joint: what applies is seen, what counts where nothing is said stands there."""

import dataclasses
import os

import pytest

from app.document.session import ElementRef
from core.files import dumps
from core.model import Body, Inertia, Joint, Limit, Model
from tests.app.conftest import settle


@pytest.fixture
def arm(bench, tmp_path):
    """An arm of 0.34 kg·m² about its pin, between ±1 rad."""
    body = Body(name="arm", mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=Inertia(ixx=0.09, iyy=0.09, izz=0.09))
    limit = Limit(lower=-1.0, upper=1.0)
    pin = Joint(name="elbow", kind="revolute", parent="world", child="arm", axis=(0.0, 1.0, 0.0), limits=(limit,))
    path = tmp_path / "arm.kst"
    model = Model(name="arm", bodies=(body,), joints=(dataclasses.replace(pin, friction=0.5),))
    path.write_text(dumps(model), encoding="utf-8")
    bench.open(path)
    bench.session.select(ElementRef("joints", "elbow"))
    settle()
    return bench


def test_stops_have_a_form_with_what_is_derived(arm):
    form = arm.window.properties.form
    limits = form.editors["limits"]
    limits.section.open(True)
    limits.detail.open(True)
    settle()
    stops = limits.detail.content
    seen = [name for name, editor in stops.editors.items() if not editor.isHidden()]
    assert seen == ["stop", "stiffness", "damping", "restitution"]
    # 2 rad in √(0.5/9.81) s… : v = 2 √(9.81/L), p = 0.002 rad, L = 1 m where no joint is far from a frame
    expected = 0.34 * (2.0 * 9.81**0.5 / 0.002) ** 2
    ghost = stops.editors["stiffness"].edit.placeholderText()
    assert float(ghost.split()[0].replace("\u2009", "").replace("e", "E")) == pytest.approx(expected, rel=0.01)
    assert stops.editors["restitution"].edit.placeholderText() == "0.3"
    assert form.editors["static_friction"].edit.placeholderText().startswith("0.5")
    if folder := os.environ.get("KINETOSTAT_PICTURES"):
        arm.window.grab().save(os.path.join(folder, "stops_form.png"))
    assert not stops.put("stop", "rigid", object())
    settle()
    seen = [name for name, editor in stops.editors.items() if not editor.isHidden()]
    assert seen == ["stop", "restitution"]
    assert arm.session.model.find("joints", "elbow").limits[0].stop == "rigid"


def test_static_friction_is_seen_where_there_is_friction(arm):
    form = arm.window.properties.form
    assert not form.editors["static_friction"].isHidden()
    assert form.editors["stribeck_speed"].isHidden()
    arm.session.apply("Friction", lambda model: with_elbow(model, static_friction=0.8))
    settle()
    assert not form.editors["stribeck_speed"].isHidden()
    arm.session.apply("Friction", lambda model: with_elbow(model, static_friction=None, friction=0.0))
    settle()
    assert form.editors["static_friction"].isHidden()


def with_elbow(model, **fields):
    from core.model.edits import edits

    return edits.change(model, "joints", "elbow", **fields)


def test_a_formula_of_a_limit_shows_its_unit_where_the_column_has_another(arm):
    """Numbers of formulas are rad, whatever the column shows; what is typed stays without it."""
    arm.session.apply("Limit", lambda model: with_elbow(model, limits=(Limit(lower="-2*1.5", upper=1.0),)))
    settle()
    limits = arm.window.properties.form.editors["limits"]
    limits.section.open(True)
    settle()
    column = limits.columns.index("lower")
    head = limits.table.horizontalHeaderItem(column).text()
    assert ("°" in head) == limits.table.item(0, column).text().endswith("[rad]")
    assert limits.text_to_edit(0, column) == "-2*1.5"
    assert limits.table.item(0, column).text().startswith("-2*1.5")
