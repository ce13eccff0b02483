"""Links that meet only while the machine runs lie side by side once it has run."""

import numpy as np

from core.model import Driver
from core.model.edits import edits
from tests.app.conftest import MAKING


def layers(bench):
    """How far each link is drawn from its plane, m."""
    items = bench.view.scene.items
    return {each.frame: round(float(np.linalg.norm(each.layer)), 6) for each in items if each.role in ("shape", "link")}


def test_the_links_of_a_pantograph_part_when_it_has_run_and_come_back_with_undo(bench):
    """By the run: two links meet in it that do not at rest."""
    bench.example("pantograph")
    at_rest = layers(bench)
    bench.window.run_command("simulation.run")
    bench.wait(lambda: bench.session.runs.current is not None and not bench.session.runs.current.growing, MAKING)
    bench.wait(lambda: layers(bench) != at_rest, MAKING)
    run = bench.session.runs.current.run
    assert run.model == bench.session.model
    bench.session.apply("Add", lambda m: edits.add(m, Driver(name="motor", joint=m.joints[0].name, function="t")))
    assert layers(bench) == at_rest  # of another machine no motion is known yet
    bench.session.undo()
    assert layers(bench) != at_rest
