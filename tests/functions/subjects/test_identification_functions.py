"""Functions of identification: from a trace to a table, a model that is saved, and messages; on the command line."""

import numpy as np
import pytest

import kinetostat as ks
from app.cli.main import cli
from core.functions.diagrams import Diagram
from core.functions.results import Message, Table, leaf_results

T = np.linspace(0.0, 3.0, 90)
W = np.sqrt(40.0 - 0.16)
X = 0.1 * np.exp(-0.4 * T) * (np.cos(W * T) + 0.4 / W * np.sin(W * T))
"""Of 1 kg between k = 40 N/m and c = 0.8 N·s/m, released at 0.1 m."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(machine with other values, its trace, a folder)."""
    folder = tmp_path_factory.mktemp("identification")
    joint = ks.Joint(
        name="x", kind="prismatic", parent="world", child="cart", axis=(1, 0, 0), stiffness="k", damping="c"
    )
    model = ks.Model(
        name="slider",
        parameters=(ks.Parameter(name="k", value=30.0), ks.Parameter(name="c", value=1.0)),
        bodies=(ks.Body(name="cart", mass=1.0),),
        joints=(joint,),
    )
    ks.save(model, folder / "slider.kst")
    a = np.gradient(np.gradient(X, T), T)
    rows = "\n".join(f"{t:.9g},{1e3 * x:.12g},{3.0 * b:.9g}" for t, x, b in zip(T, X, a, strict=True))
    (folder / "trace.csv").write_text(f"t,place [mm],push\n{rows}\n", encoding="utf-8")
    return folder / "slider.kst", folder / "trace.csv", folder


def test_a_run_is_fitted_and_the_machine_saved(files, capsys):
    model, trace, folder = files
    saved = str(folder / "found.kst")
    line = ["fit-run", str(model), str(trace), "--columns", "x.q=place [mm]", "--vary", "k", "--vary", "c=0:5"]
    assert cli([*line, "--save", saved]) == 0
    assert "Converged in" in capsys.readouterr().out
    values = ks.load(saved).values()
    assert values["k"] == pytest.approx(40.0, rel=1e-6)
    assert values["c"] == pytest.approx(0.8, rel=1e-5)


def test_forces_are_identified_from_the_second_argument(files, capsys):
    """The force is 3 kg times the acceleration less what spring and damper of the model do: only the mass is asked."""
    model, trace, _ = files
    columns = "x.q=place [mm], x.tau=push"
    assert cli(["identify", str(model), str(trace), "--columns", columns, "--kinds", "inertia, stiffness"]) == 0
    text = capsys.readouterr().out
    assert "base parameters from" in text
    assert cli(["identify", str(model)]) == 0
    assert "Give a file with the columns time, x.q, x.tau" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("identify", "none.csv"), "cannot be read"),
        (("identify", "trace.csv", "--columns", "x.q"), "does not assign a column"),
        (("identify", "trace.csv", "--columns", "x.q=place [mm],x.tau=push", "--kinds", "inertai"), "Did you mean"),
        (("fit-run", "trace.csv", "--columns", "x.q=place [mm]", "--vary", "kk"), "no independent parameter 'kk'"),
        (
            ("fit-run", "trace.csv", "--columns", "x.q=place [mm]", "--vary", "k", "--torque", "x"),
            "does not assign a force",
        ),
    ],
)
def test_what_is_wrong_is_named(files, capsys, line, words):
    model, _, folder = files
    command, trace, *rest = line
    assert cli([command, str(model), str(folder / trace), *rest]) != 0
    assert words in capsys.readouterr().err


def test_an_exciting_motion_has_curves_and_a_run(files):
    model = ks.load(files[0])
    options = {"kinds": "inertia, damping", "period": 3.0, "rate": 30.0, "harmonics": 3, "speed": 0.5}
    found = ks.call("excitation", ks.Context.of(model), **options)
    kinds = [type(part) for part in leaf_results(found)]
    assert Message in kinds
    assert Diagram in kinds
    (run,) = [part.run for part in found.parts if hasattr(part, "run")]
    assert np.max(np.abs(run["x.v"])) <= 0.5
    assert Table not in kinds
