"""Models opened by a name: an example, or a description of the package `robot_descriptions`."""

import sys
import types
from pathlib import Path

import pytest

import kinetostat as ks
from app.__main__ import is_model_argument, open_window
from app.cli.main import cli, command_names
from app.document.opening import open_file
from core.errors import FileError
from core.files.named import find_model_file
from resources import EXAMPLES, examples

ARM = '<robot name="{name}"><link name="arm"/></robot>'


@pytest.fixture
def robots(tmp_path, monkeypatch):
    """A package with the name and the shape of `robot_descriptions`, which counts what is loaded of it."""
    package = tmp_path / "packages" / "robot_descriptions"
    (package / "data" / "bee").mkdir(parents=True)
    (package / "data" / "bee" / "bee.urdf").write_text(ARM.format(name="bee"))
    modules = {
        "__init__": "",
        "_cache": "",
        "bee_description": f"PACKAGE_PATH = {str(package / 'data' / 'bee')!r}\nURDF_PATH = PACKAGE_PATH + '/bee.urdf'",
        "wasp_description": "raise OSError('no route to host')",
        "fly_description": "import a_library_that_is_not_there",
        "ant_description": "REPOSITORY_PATH = 'nothing to read'",
    }
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(package.parent))
    yield package
    for name in [each for each in sys.modules if each.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


def test_every_example_opens_by_its_name_and_no_name_is_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = ks.examples()
    assert len({each.name for each in found} | set(command_names())) == len(found) + len(set(command_names()))
    for each in found:
        assert Path(find_model_file(each.name).file) == each.path
        assert is_model_argument(each.name)


def test_a_name_gives_the_model_of_the_file():
    assert ks.load("four_bar") == ks.load(EXAMPLES / "four_bar.kst")


def test_the_list_of_examples_prints_each_with_a_line_of_its_own():
    lines = str(ks.examples()).splitlines()
    for each in examples():
        (line,) = [line for line in lines if line.split()[:1] == [each.name]]
        assert line.endswith(f"{each.title}: {each.about}")
        assert each.subject in lines


@pytest.mark.parametrize("folder", [False, True])
def test_a_path_that_exists_wins(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if folder:
        Path("puma560").mkdir()
        with pytest.raises(FileError, match="puma560: This is a folder"):
            ks.load("puma560")
    else:
        Path("puma560").write_text(ARM.format(name="mine"))
        assert ks.load("puma560").name == "mine"


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("puma56", "Did you mean puma560?"),
        ("puma560.kst", "Open the example by its name, puma560."),
        ("xxyyzz", "kinetostat examples lists"),
        ("folder/puma560", "Check the name and the folder."),
    ],
)
def test_a_name_that_leads_nowhere_is_answered_with_what_helps(word, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=f"{word}: There is no such file") as caught:
        ks.load(word)
    assert remedy in caught.value.remedy


def test_commands_take_names(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli(["info", "ur5"]) == 0
    assert capsys.readouterr().out.startswith(f"{ks.load('ur5').name}  (ur5)")
    assert cli(["ur6"]) == 2
    assert "no command, file or example named 'ur6'. Did you mean ur5" in capsys.readouterr().err


@pytest.mark.usefixtures("robots")
@pytest.mark.parametrize(
    ("word", "opened"),
    [
        ("", ""),
        ("ur5", str(EXAMPLES / "ur5.kst")),
        ("bee_description", "bee.urdf"),
        ("unknown", "unknown"),  # which the window says
        ("wasp_description", None),
    ],
)
def test_the_window_takes_names(word, opened, tmp_path, monkeypatch, capsys):
    started = []
    fake = types.SimpleNamespace(run_program=lambda file, arguments: started.append(file) or 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "app.window.start", fake)
    monkeypatch.setattr("app.__main__.obstacle_to_window", lambda: "")
    code = open_window(arguments=["kinetostat-window", *filter(None, [word])])
    assert code == int(opened is None)
    if opened is None:
        assert "no route to host" in capsys.readouterr().err
    else:
        assert started[0].endswith(opened)


XACRO = (
    '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="side" default="left"/>'
    '<link name="$(arg side)_hand"/></robot>'
)


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Files with which the window was started; nothing is asked for when the test ends."""
    started = []
    fake = types.SimpleNamespace(run_program=lambda file, arguments: started.append(file) or 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "app.window.start", fake)
    monkeypatch.setattr("app.__main__.obstacle_to_window", lambda: "")
    monkeypatch.setattr("app.document.opening._asked", {})
    return started


def test_the_window_takes_arguments_of_a_xacro(started, tmp_path):
    pytest.importorskip("xacrodoc")
    (tmp_path / "robot.xacro").write_text(XACRO, encoding="utf-8")
    assert open_window(arguments=["kinetostat", "robot.xacro", "side:=right"]) == 0
    for _ in range(2):  # read again, it is the same robot
        found = open_file(Path(started[0]))
        assert [body.name for body in found.model.bodies] == ["right_hand"], found.error
    assert [body.name for body in ks.load("robot.xacro", arguments={"side": "up"}).bodies] == ["up_hand"]


@pytest.mark.parametrize(
    ("words", "said", "remedy"),
    [
        (("robot.xacro", "sid:=right"), "The file has no argument 'sid'", "Its arguments are side."),
        (("robot.kst", "side:=right"), "takes no arguments", "only Xacro files"),
    ],
)
def test_an_argument_that_does_nothing_is_refused(started, tmp_path, words, said, remedy):
    pytest.importorskip("xacrodoc")
    (tmp_path / "robot.xacro").write_text(XACRO, encoding="utf-8")
    ks.save(ks.Model(name="m"), "robot.kst")
    assert open_window(arguments=["kinetostat", *words]) == 0
    error = open_file(Path(started[0])).error
    assert said in error.what
    assert remedy in error.remedy


@pytest.mark.parametrize("word", ["second.kst", "--floating", ":=x"])
def test_other_words_behind_a_model_are_refused(started, word, capsys):
    assert open_window(arguments=["kinetostat", "ur5", word]) == 1
    assert not started
    assert f"'{word}' after it is not understood" in capsys.readouterr().err


def test_a_name_inside_a_file_leads_to_a_file_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ks.Model(name="m", assemblies=(ks.SubAssembly(name="part", file="four_bar"),))
    ks.save(model, "outer.kst")
    with pytest.raises(FileError, match="four_bar"):
        _ = ks.load("outer.kst").expanded


def test_a_description_is_loaded_when_it_is_asked_for(robots):
    assert is_model_argument("bee_description")
    assert not is_model_argument("hornet_description")
    assert not [name for name in sys.modules if name.startswith("robot_descriptions.")]
    assert ks.load("bee_description").name == "bee"
    assert find_model_file("bee_description").packages == {"bee": str(robots / "data" / "bee")}


def test_a_description_that_is_a_xacro_gets_its_arguments(robots):
    pytest.importorskip("xacrodoc")
    head = '<robot name="moth" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="wing" default="left"/>'
    (robots / "moth.xacro").write_text(f'{head}<link name="$(arg wing)"/></robot>')
    module = f"XACRO_PATH = {str(robots / 'moth.xacro')!r}"
    (robots / "moth_description.py").write_text(module)
    (robots / "hawk_moth_description.py").write_text(f"{module}\nXACRO_ARGS = {{'wing': 'right'}}")
    found = {
        name: [body.name for body in ks.load(name).bodies] for name in ("moth_description", "hawk_moth_description")
    }
    assert found == {"moth_description": ["left"], "hawk_moth_description": ["right"]}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bea_description", "Did you mean bee_description"),
        ("wasp_description", "could not download the robot: no route to host. Check the network connection"),
        ("fly_description", "cannot be loaded: No module named 'a_library_that_is_not_there'. Install it"),
        ("ant_description", "no URDF, Xacro or MJCF file"),
    ],
)
@pytest.mark.usefixtures("robots")
def test_a_description_that_cannot_be_opened_is_answered_with_what_helps(name, told):
    with pytest.raises(FileError, match=told):
        ks.load(name)


def test_without_the_package_its_names_say_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    monkeypatch.setattr("core.files.named._robot_description_names", lambda: ())
    with pytest.raises(FileError, match="pip install robot_descriptions"):
        ks.load("panda_description")
