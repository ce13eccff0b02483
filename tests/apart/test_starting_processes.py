"""Children of the program: nothing of the working folder is run, they end quietly, and how they ended is said."""

import os
import stat
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core.apart import starting, work_process
from core.apart.starting import Subprocess, find_program, module_command, run_command
from core.apart.talk import WorkerTask
from core.apart.work_process import AbandonedTask, LostTask, WorkProcess
from core.c_code.companions import ran
from core.files import load
from core.files.sent_model import pickle_kinds, register_packed_kinds
from core.machine_code import making
from core.mechanism import Mechanism
from core.mechanism.work_apart import run_in_worker
from core.studies import backends
from core.studies.backends import Chunk, ProcessBackend
from viz.film.film import film_in_subprocess
from viz.film.footage import footage_of_run

ROOT = starting.ROOT
HOSTILE = (
    *("numpy", "core", "viz", "app", "resources", "kinetostat", "sitecustomize", "usercustomize", "pickle", "struct"),
    *("subprocess", "casadi", "h5py", "yaml", "vtkmodules", "xacrodoc", "xacro", "llvmlite", "scipy", "ziglang"),
)
PENDULUM = """kinetostat: 1
name: pendulum
parameters: {l: 0.5}
bodies: {b: {mass: 1, center_of_mass: [0, 0, -l], inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}}
joints: {j: {parent: world, child: b, axis: [0, 1, 0], rest: [1]}}
"""
XACRO = """<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r">
<xacro:property name="a" value="b"/><link name="${a}"/></robot>
"""
posix = pytest.mark.skipif(os.name == "nt", reason="scripts with #!")


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """The folder that one works in: a model, and next to it files that leave a mark when they are run."""
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'a').write('{name} ')\n")
    for name in ("cc", "gcc", "clang", "python", "python3"):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho {name} >> '{tmp_path / 'RAN'}'\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "pendulum.kst").write_text(PENDULUM)
    (tmp_path / "robot.xacro").write_text(XACRO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", os.environ["PATH"])))
    return tmp_path


def mass_matrix(mech, line, q):
    return np.asarray(mech.mass_matrix(q))


def in_work_process(model):
    process, mech = WorkProcess(), Mechanism(model)
    try:
        assert run_in_worker(process, mech, partial(mass_matrix, q=mech.rest())).shape == (1, 1)
    finally:
        process.close()


def in_study(model):
    study = ks.Study(model, duration=0.1, method="rk4", step=0.01).grid(l=[0.4, 0.5]).record(m="max(j.q)")
    pool = ProcessBackend(study.declaration, 1)
    try:
        pool.submit(Chunk(np.arange(2), study.declaration.values()))
        done = pool.next_finished_chunk(60.0)
        assert done is not None
        assert done.error is None
    finally:
        pool.close()


def in_film(model):
    run = ks.simulate(model, 0.1, output=0.05)
    assert film_in_subprocess(footage_of_run(run, fps=20), "film.png", fps=20, size=(64, 48)) > 0


def in_xacro(model):
    pytest.importorskip("xacrodoc")
    assert load("robot.xacro").bodies[0].name == "b"


def in_making(model):
    done = run_command(
        module_command(making.__name__, "--alone"), environment_variables=starting.process_environment(), timeout=60.0
    )
    assert (done.code, done.output) == (0, b"")


def in_compiler(model):
    command = ks_compiler()
    if command is None:
        pytest.skip("no C compiler")
    assert ran([*command, "--version"], Path.cwd()).code == 0


def ks_compiler():
    from core.c_code.companions import find_compiler

    return find_compiler()


KINDS = (in_work_process, in_study, in_film, in_xacro, in_making, in_compiler)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_of_the_working_folder_is_run(hostile, kind):
    kind(load("pendulum.kst"))
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text()


def test_python_m_imports_nothing_of_the_working_folder(hostile):
    """The program's own modules come from where it lies; nothing is looked for where one works."""
    for name in ("kinetostat", "sitecustomize", "usercustomize"):  # Python's own, before any line of the program
        (hostile / f"{name}.py").unlink()
    code = "import kinetostat, sys; sys.argv = ['kinetostat', 'check', 'pendulum.kst']; sys.exit(kinetostat.main())"
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=own, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text()


# ----------------------------------------------------------------------------------------- how they end


def serving(code):
    """A process of the program whose module is changed first."""
    text = f"from core.apart import serving\n{code}\nserving.main()\n"
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize("how", ["idle", "closed"])
def test_a_process_without_work_ends_quietly(how):
    process = serving("serving.IDLE = 0.2" if how == "idle" else "")
    if how == "closed":
        process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


class Answer(WorkerTask):
    def execute(self, line):
        return "here"


class Ends(WorkerTask):
    def execute(self, line):
        print("the disk is\nnot there", file=sys.stderr)
        os._exit(7)


@pytest.fixture
def process():
    made = WorkProcess()
    yield made
    made.close()


def test_last_words_say_why_a_process_ended(process):
    found = process.ask(Ends(), lambda: False)
    assert found == LostTask("ended unexpectedly (exit code 7: not there)", prepared=False, ready=True)
    assert process.ask(Answer(), lambda: False) == "here"


def test_a_process_that_ended_because_it_was_idle_is_no_failure(process):
    """It ends just when it is asked: it has not heard the task."""
    process.begin()
    assert process.ask(Answer(), lambda: False) == "here"
    running, said = process._running, []

    def say(*what):  # the question reaches nobody
        said.append(what)
        running.child.process.stdin.close()
        running.child.process.wait()

    running.say = say
    assert process.ask(Answer(), lambda: False) == "here"
    assert len(said) == 1


def broken(monkeypatch, code):
    """Children whose Python ends or hangs before their module is there."""
    monkeypatch.setattr(starting, "module_command", lambda *_: [sys.executable, "-c", textwrap.dedent(code)])


def test_a_process_that_never_gets_ready_is_told_with_its_last_words(process, monkeypatch):
    broken(monkeypatch, "import sys; sys.exit('no library here')")
    found = process.run_task(Answer(), lambda: False)
    assert found == LostTask("ended unexpectedly (exit code 1: no library here)", prepared=False, ready=False)


def test_a_process_that_hangs_before_it_is_ready_is_given_up(process, monkeypatch):
    monkeypatch.setattr(work_process, "STARTING", 0.3)
    broken(monkeypatch, "import time; time.sleep(600)")
    found = process.run_task(Answer(), lambda: False)
    assert found == LostTask("did not answer for 0.3 s and was stopped", prepared=False, ready=False)
    assert process.process_id is None


def test_a_task_stops_while_its_process_hangs_before_it_is_ready(process, monkeypatch):
    broken(monkeypatch, "import time; time.sleep(600)")
    began = time.monotonic()
    assert process.run_task(Answer(), lambda: time.monotonic() > began + 0.1) == AbandonedTask()


def test_a_study_whose_processes_never_get_ready_ends_with_their_words(monkeypatch, tmp_path):
    (tmp_path / "pendulum.kst").write_text(PENDULUM)
    study = ks.Study(load(tmp_path / "pendulum.kst"), duration=0.1, method="rk4", step=0.01)
    study.grid(l=np.linspace(0.4, 0.6, 50)).record(m="max(j.q)")
    monkeypatch.setattr("core.studies.study_work.WORTH", 0.0)
    begun = []
    broken(monkeypatch, "import sys; sys.exit('no library here')")
    monkeypatch.setattr(backends.WorkProcess, "begin", counted(backends.WorkProcess.begin, begun))
    with pytest.raises(ks.SimulationError, match=r"could be started: .*no library here.* compute with one core"):
        study.run(cores=2, aside=True)
    assert len(begun) <= 2 * backends.MOST_UNREADY


def counted(function, calls):
    def call(self):
        calls.append(self)
        return function(self)

    return call


# ----------------------------------------------------------------------------------- other programs


@posix
def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\nsleep 600 &\necho $! > child\nwait\n")
    script.chmod(0o755)
    with pytest.raises(TimeoutError, match="did not finish within 0.5 s"):
        ran([str(script)], tmp_path, limit=0.5)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            break
        time.sleep(0.02)
    else:
        pytest.fail("what the command started still runs")


def test_what_look_raises_ends_a_command(tmp_path):
    def look():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_command([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, timeout=60.0, poll=look)


@posix
def test_programs_are_sought_in_absolute_folders_alone(hostile, monkeypatch):
    assert find_program("cc") != str(hostile / "cc")
    monkeypatch.setenv("PATH", "")
    assert find_program("cc") is None
    monkeypatch.setenv("PATH", str(hostile))
    assert find_program("cc") == str(hostile / "cc")


def test_kinds_of_a_script_are_found_by_others_behind_all_libraries(tmp_path, monkeypatch):
    (tmp_path / "my_own_kinds_of_a_script.py").write_text("class Kind: pass\n")
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.syspath_prepend(tmp_path)
    import my_own_kinds_of_a_script as module

    content = pickle_kinds([module.Kind])
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(tmp_path)])
    with pytest.raises(ks.KinetostatError, match="is not a kind"):  # it was found, and looked at
        register_packed_kinds(content)
    assert sys.path[-1] == str(tmp_path)


def test_a_child_says_nothing_where_it_is_ended():
    child = Subprocess(making.__name__, making.ALONE)
    child.end()
    assert child.last_error_line == ""
    assert not child.runs
