"""What is installed works beside a person's own files, whatever these are called."""

import json
import re
import subprocess
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import kinetostat
from core.machine_code.intermediate import entry_point_names
from setup import HOME, ROOMS
from tests.project.installation import ENVIRONMENT, built, copied, environment, unpacked

README = Path(__file__).parents[2] / "README.md"
SCRIPT = """
import importlib, importlib.util, json, pkgutil, sys
from pathlib import Path

import numpy as np

import kinetostat as ks
from kinetostat.core.machine_code.intermediate import entry_point_names, find_unusable_code
from kinetostat.resources import EXAMPLES
from kinetostat.viz.film.film import film_in_subprocess
from kinetostat.viz.film.footage import footage_of_run


def main():
    arm = ks.load(EXAMPLES / "puma560.kst")
    mech = ks.Mechanism(arm)
    mass = mech.mass_matrix(mech.rest())
    table = ks.call("mass_matrix", ks.Context.of(arm)).parts[0].entries
    run = ks.simulate(ks.load(EXAMPLES / "triple_pendulum.kst"), duration=0.2, method="rk4")
    picture = ks.render(arm, path="arm.png", size=(160, 120))
    Path("part.urdf").write_text('<robot name="r"><link name="a2"/></robot>')
    Path("part.xacro").write_text('<robot name="r" xmlns:xacro="http://ros.org/xacro"><link name="a${1 + 1}"/></robot>')
    xacro = importlib.util.find_spec("xacrodoc") is not None
    facts = {
        "least": np.linalg.eigvalsh(mass).min(),
        "difference": np.abs(mass - table).max(),
        "drift": np.ptp(run["energy.total"]),
        "colours": len(np.unique(picture.reshape(-1, 4), axis=0)),
        "frames": film_in_subprocess(footage_of_run(run, fps=10), "film.mp4", fps=10, size=(160, 120)),
        "bodies": [body.name for body in ks.load("part.xacro" if xacro else "part.urdf").bodies],
    }
    facts["unfit"] = find_unusable_code(entry_point_names())
    modules = [each.name for each in pkgutil.walk_packages(ks.__path__, "kinetostat.")]
    for name in modules:
        importlib.import_module(name)
    taken = sorted({"app", "core", "resources", "viz"} & sys.modules.keys())
    print(json.dumps({**facts, "modules": len(modules), "taken": taken}))


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("source") / HOME)


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    return built("wheel", source, tmp_path_factory.mktemp("wheel"))


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_holds_one_package_with_all_that_belongs_to_it(source, wheel):
    held = contents(wheel)
    notes = f"{HOME}-{kinetostat.__version__}.dist-info"
    assert {name.partition("/")[0] for name in held} == {HOME, notes}
    assert held[f"{notes}/top_level.txt"].split() == [HOME.encode()]
    files = {path.relative_to(source).as_posix() for room in ROOMS for path in (source / room).rglob("[!.]*.*")}
    package = {name.removeprefix(f"{HOME}/") for name in held if name.startswith(f"{HOME}/")}
    assert package == {*files, "__init__.py", "__main__.py", "py.typed"}
    code = [name for name in package if name.startswith("core/machine_code/intermediate_code/")]
    for name in entry_point_names():
        assert sum(each.startswith(f"core/machine_code/intermediate_code/{name}.") for each in code) == 2, name


def test_the_description_of_the_package_leads_nowhere_outside_it(wheel):
    notes = next(data for name, data in contents(wheel).items() if name.endswith("dist-info/METADATA"))
    facts = message_from_bytes(notes)
    text = facts.get_payload(decode=True).decode()
    links = re.findall(r"\]\(\s*([^)\s]+)", text) + re.findall(r"(?:src|href|srcset)=.([^\"']+)", text)
    assert all("://" in link for link in links)
    assert facts["Description-Content-Type"] == "text/markdown"
    assert "## Install" in text  # and not a word of the README is lost but pictures
    assert set(re.findall(r"^#+ .*", text, re.M)) == set(re.findall(r"^#+ .*", README.read_text("utf-8"), re.M))
    assert {each.rpartition(":: ")[2] for each in facts.get_all("Classifier")} >= {"3.11", "3.13", "Linux", "Typed"}
    assert not [each.partition(", ")[2] for each in facts.get_all("Project-URL", []) if "://" not in each]


def test_an_editable_installation_leaves_the_integrators_code_to_who_asks_for_it(source, wheel, tmp_path):
    path = source / "core/machine_code/intermediate_code"
    path.rename(tmp_path / "aside")
    built("editable", source, tmp_path)
    assert not path.exists()
    (tmp_path / "aside").rename(path)


def test_an_sdist_makes_the_same_wheel(source, wheel, tmp_path):
    again = unpacked(built("sdist", source, tmp_path), tmp_path / "again")
    assert contents(built("wheel", again, tmp_path)) == contents(wheel)


def test_the_installed_program_works_beside_files_that_bear_our_names(wheel, tmp_path):
    programs = environment(tmp_path / "environment", wheel)
    person = tmp_path / "person"
    person.mkdir()
    for room in ROOMS:
        (person / f"{room}.py").write_text(f"raise SystemExit('The {room}.py of a person')")
    (person / "script.py").write_text(SCRIPT, encoding="utf-8")

    def said(*command):
        words = [programs / command[0], *command[1:]]
        done = subprocess.run(words, cwd=person, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    facts = json.loads(said("python", "script.py"))
    assert facts["least"] > 0
    assert facts["difference"] < 1e-12
    assert facts["drift"] < 1e-6
    assert facts["colours"] > 50
    assert facts["frames"] == 3
    assert facts["bodies"] == ["a2"]
    assert facts["modules"] > 500
    assert facts["taken"] == []
    assert facts["unfit"] == {}
    for command in ("kinetostat",), ("python", "-m", "kinetostat"), ("python", "-m", "kinetostat.app"):
        assert said(*command, "--version").split()[-1] == kinetostat.__version__
    missing = [programs / "python", "-m", "kinetostat", "check", "missing.kst"]
    done = subprocess.run(missing, cwd=person, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "missing.kst: There is no such file" in done.stderr
    assert json.loads(said("kinetostat", "info", "part.urdf", "--json"))["name"] == "r"
