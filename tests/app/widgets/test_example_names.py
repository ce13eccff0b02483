"""Examples in hints are names of the machine that is open: each can be typed as it stands."""

import numpy as np
import pytest

from app.document.session import Session
from app.panels.design.machine_page import MachinePage
from app.panels.identification.pages import RunPage
from app.panels.operating_point.panel import OperatingPointPanel
from app.plotting.picker import FORMULA, ChannelPicker
from app.plotting.series import compute_column
from app.widgets.options.signal_options import ExampleNames
from app.widgets.quantities.quantity_text import SIUnits
from core.control.operating_point import OperatingPoint
from core.files import load
from core.functions.options import SignalValues
from core.mechanism import Mechanism
from core.model import Model
from core.simulation.measures.run_measures import Measure
from core.simulation.run.resampling import equilibrium_run
from resources import examples

NAMES = [example.name for example in examples()]
SOME = ("two_link", "four_bar", "stewart", "body_on_springs", "slider_crank", "dual_arm", "forces")


def session_of(name):
    return Session(model_of(name))


def model_of(name):
    return load(next(example.path for example in examples() if example.name == name))


@pytest.mark.parametrize("name", NAMES)
def test_every_example_has_what_its_hints_name(name):
    mech = Mechanism(model_of(name))
    found = ExampleNames.from_machine(mech)
    moving = [each.name for each in mech.coordinates if each.name in mech.v_names]
    assert bool(found.joint) == bool(moving)
    if found.joint:
        assert mech.q_names.index(found.joint) >= 0
        assert found.dimension == mech.coordinates[mech.q_names.index(found.joint)].dimension
    assert found.frame in mech.frame_names


@pytest.mark.parametrize("name", SOME)
def test_quantities_of_the_operating_point_can_be_added(qtbot, jobs, name):
    panel = OperatingPointPanel(session_of(name), jobs, lambda _: None, lambda *_: None)
    qtbot.addWidget(panel)
    words = panel.name.placeholderText()
    assert words.startswith("Add a quantity: ")
    op = OperatingPoint(panel._session.mech)
    for each in words.removeprefix("Add a quantity: ").removesuffix(" …").split(", "):
        assert op[each].name == each
    panel.close()


@pytest.mark.parametrize("name", SOME)
def test_the_formula_of_plots_can_be_drawn(qtbot, name):
    mech = session_of(name).mech
    picker = ChannelPicker()
    qtbot.addWidget(picker)
    assert picker.edit.placeholderText() == FORMULA
    run = equilibrium_run(mech, mech.rest())
    picker.show_run(run, ())
    words = picker.edit.placeholderText()
    if words != FORMULA:
        assert np.isfinite(compute_column(run, words.removeprefix("Formula, e.g. "))).all()
    assert (words == FORMULA) == (name == "body_on_springs")
    picker.show_run(None, ())
    assert picker.edit.placeholderText() == FORMULA


@pytest.mark.parametrize("name", SOME)
def test_what_a_design_asks_can_be_measured(qtbot, name):
    session = session_of(name)
    page = MachinePage(SIUnits(), lambda: (), lambda: "")
    qtbot.addWidget(page)
    page.show_machine(session.model, session.mech)
    run = equilibrium_run(session.mech, session.mech.rest())
    first = page.minimise.placeholderText().split(", ")[0]
    assert np.isfinite(Measure(session.mech, first).value(run))
    wanted = page.require.placeholderText().removesuffix("; …").partition(" > ")[0]
    assert np.isfinite(Measure(session.mech, wanted).value(run))
    for each in page.output.placeholderText().removesuffix(" …").split(", "):
        assert np.isfinite(compute_column(run, each)).all()


@pytest.mark.parametrize("name", SOME)
def test_known_starts_of_identification_can_be_read(qtbot, name):
    session = session_of(name)
    page = RunPage()
    qtbot.addWidget(page)
    page.show_parameters(session.context())
    words = page.fields.lines["start"].placeholderText()
    if words:
        found = SignalValues("start", "Known start", of="run parameters").coerce(words, session.context())
        assert len(found) == 2


def test_another_machine_brings_its_own_names_and_none_has_none(qtbot, jobs):
    session = session_of("four_bar")
    panel = OperatingPointPanel(session, jobs, lambda _: None, lambda *_: None)
    qtbot.addWidget(panel)
    assert "crank_pin.tau" in panel.name.placeholderText()
    session.start_document(model_of("two_link"))
    assert panel.name.placeholderText() == "Add a quantity: tool.position.z, joint1.tau …"
    session.start_document(Model(name="empty"))
    assert panel.name.placeholderText() == "Add a quantity"
    assert ExampleNames().format_hint("{joint}.tau") == ""
    panel.close()
