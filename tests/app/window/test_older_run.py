"""A run that is older than the machine says so once, with a button that computes it again."""

from core.model.edits import edits


def lengthened(bench, value):
    bench.session.apply("Length", lambda model: edits.change(model, "parameters", "a", value=value))


def older(bench):
    return [text for text in bench.messages("hint") if "is out of date" in text]


def test_it_is_said_once_and_computed_by_its_button(bench, four_bar):
    window = bench.window
    window.simulation.change_settings(duration=0.2)
    window.run_command("simulation.run")
    bench.wait(lambda: not window.simulation.is_running and bench.session.runs.current is not None)
    first = bench.session.runs.current
    assert not older(bench)
    lengthened(bench, 0.11)
    assert older(bench) == [f"{first.name} is out of date: the machine has been changed since it was computed."]
    assert window.messages.text in older(bench)
    bench.session.undo()  # the machine of the run again
    assert window.messages.text == ""
    bench.session.redo()
    lengthened(bench, 0.12)
    assert len(older(bench)) == 1
    window.messages._buttons[0].click()
    bench.wait(lambda: not window.simulation.is_running and bench.session.runs.current is not first)
    assert bench.session.runs.current.run.mech.model.machine == bench.session.model.machine
    lengthened(bench, 0.1)
    assert len(older(bench)) == 2


def test_live_what_if_computes_it_itself(bench, four_bar):
    window = bench.window
    window.simulation.change_settings(duration=0.2)
    window.run_command("simulation.run")
    bench.wait(lambda: not window.simulation.is_running and bench.session.runs.current is not None)
    window.runs.set_recompute_on_change(True)
    lengthened(bench, 0.11)
    window.runs.set_recompute_on_change(False)
    assert not older(bench)
