"""An empty panel says what fills it, and its button does."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest


def press(bench, empty):
    assert empty.words.text()
    QTest.mouseClick(empty.button, Qt.MouseButton.LeftButton)
    bench.draw()


def test_the_output_leads_to_the_functions(bench):
    bench.window.run_command("file.new")
    bench.window.output.clear()
    bench.window.docks.show_panel("tree")
    press(bench, bench.window.output.empty)
    assert bench.window.functions.isVisible()


def test_the_sliders_make_the_first_joint_and_parameter(bench):
    from app.widgets.panel_parts import EmptyPanelPlaceholder

    bench.window.run_command("file.new")
    sliders, model = bench.window.sliders, lambda: bench.session.model
    for page, filled in ((sliders.joints, lambda: model().joints), (sliders.parameters, lambda: model().parameters)):
        sliders.tabs.setCurrentWidget(page)
        bench.wait(lambda page=page: page.findChildren(EmptyPanelPlaceholder))
        assert not filled()
        press(bench, page.findChildren(EmptyPanelPlaceholder)[0])
        assert filled()
        bench.wait(lambda page=page: page.rows)


def test_the_list_of_runs_makes_the_first_run(bench):
    bench.example("pendulum")
    bench.window.panels.show_panel("simulation")
    press(bench, bench.window.simulation_panel.runs.empty)
    bench.wait(lambda: bench.session.runs.items and not bench.window.simulation.running)
    assert not bench.window.simulation_panel.runs.empty.isVisible()
