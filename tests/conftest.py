"""What all tests share: a private screen, one thread per library, private cache and settings, repeatable examples.

Runs before any test module is imported, so that Qt, VTK and the numerical libraries see the environment made here.
On Linux window tests run on a private virtual screen (Xvfb), never on the person's own; to watch them set
`KINETOSTAT_TEST_SCREEN=own`. `HYPOTHESIS_PROFILE=explore` looks for new counter-examples; the default repeats its own.
"""

from __future__ import annotations

import functools
import gc
import itertools
import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import slow_tests, sources
from tests.durations import (  # noqa: F401
    pytest_deselected,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[_variable] = "1"

# compiled modules, of the tests and of the programs they start, are kept beside the machine code
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.pycache_prefix = os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / "build" / "test-cache" / "bytecode")
)

_slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
_common = {"deadline": None, "suppress_health_check": _slow}
settings.register_profile("repeat", derandomize=True, database=None, max_examples=60, **_common)
settings.register_profile("explore", max_examples=1000, **_common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

PATIENCE = 60
"""s; only a failure takes so long."""
HELD = 30.0
"""s that the background compiler waits."""
SET_ASIDE = 8
"""Full collections of garbage of which all but one look at what is new only."""
_full_collections = itertools.count()
SCREEN_SIZE = "1680x1200x24"
SCREEN_WAIT = 30.0
"""s"""
_screen: subprocess.Popen[bytes] | None = None
_folder = tempfile.TemporaryDirectory(prefix="kinetostat-tests-", ignore_cleanup_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    """A place of our own for everything the program would keep, and a screen."""
    gc.disable()
    folder = Path(_folder.name)
    # machine code is kept between test runs, by the hash of what it was made from
    os.environ.setdefault("KINETOSTAT_CACHE", str(Path(__file__).parents[1] / "build" / "test-cache"))
    os.environ.setdefault("KINETOSTAT_PLAIN_CODE", "1")  # a third of the tests' time was optimising what runs once
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[variable] = str(folder / variable.lower())
    if "XDG_RUNTIME_DIR" not in os.environ:
        (folder / "runtime").mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(folder / "runtime")
    if sys.platform.startswith("linux") and os.environ.get("KINETOSTAT_TEST_SCREEN") != "own":
        _open_screen()
    if config.getoption("numprocesses", None):
        _make_integrators()


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Examples are read once for all tests of a process: models do not change."""
    from core import files
    from resources import EXAMPLES

    read, kept = files.load, {}

    @functools.wraps(read)
    def load(path, **options):
        if options or not isinstance(path, Path) or path.parent != EXAMPLES:
            return read(path, **options)
        if path not in kept:
            kept[path] = read(path)
        return kept[path]

    files.load = load


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what the list of slow tests names, before what is marked is left out."""
    slow = slow_tests.listed()
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """A file goes to one process as a whole; so do all files whose tests read the project's sources."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            return "sources" if scope in sources.READERS else scope

    return Files(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_runtest_logfinish(nodeid: str, location: tuple[str, int | None, str]) -> None:
    """Forgets the syntax trees of the project when a test of another kind has run: they take much memory."""
    if nodeid.partition("::")[0] not in sources.READERS:
        sources.parsed.cache_clear()


def pytest_collection_finish() -> None:
    """What was made for all tests stays until the end; collecting garbage need not look at it each time."""
    gc.collect()
    gc.freeze()


def _make_integrators() -> None:
    """Make the integrators' code once where it is out of date, before the processes begin that need it."""
    from core.machine_code import intermediate, supply

    if intermediate.find_unusable_code(intermediate.entry_point_names()):
        supply.compile_in_subprocess()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect cyclic garbage between tests, in the main thread: elsewhere a cycle with a Qt object would crash Qt, or
    leave one of its locks held. Automatic collection stays off, whatever the test did."""
    gc.disable()
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            _collect(generation)
            break


def _collect(generation: int) -> None:
    """What a full collection leaves (shared machines, modules) is set aside: looking at all of it each time took longer
    than all else between tests. Now and then it is looked at, too."""
    if generation == 2 and next(_full_collections) % SET_ASIDE == SET_ASIDE - 1:
        gc.unfreeze()
    gc.collect(generation)
    if generation == 2:
        gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop the folder. The screen goes when this process has ended: Qt and VTK hold on to it until then."""
    _folder.cleanup()


def _open_screen() -> None:
    """Start Xvfb on a free display number and let Qt and VTK use it. Without Xvfb the present DISPLAY stays."""
    global _screen
    program = shutil.which("Xvfb")
    if program is None:
        return
    read_end, write_end = os.pipe()
    # The shell waits for the end of its input, that is for the end of this process, however it ends.
    script = f'"$0" -displayfd {write_end} -screen 0 {SCREEN_SIZE} -nolisten tcp -noreset & read -r _; kill $!'
    _screen = subprocess.Popen(
        ["sh", "-c", script, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(write_end,),
        start_new_session=True,
    )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        number = pipe.readline().strip() if select.select([pipe], [], [], SCREEN_WAIT)[0] else ""
    if not number:
        raise pytest.UsageError("Xvfb does not start; the window tests have no screen. Try: Xvfb :99")
    os.environ["DISPLAY"] = f":{number}"
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    os.environ.pop("WAYLAND_DISPLAY", None)


@pytest.fixture
def qtbot(qtbot):
    """The one of pytest-qt, but patient: what is waited for has come when it is there, however busy the machine."""
    for name in ("waitUntil", "waitSignal", "waitSignals"):
        setattr(qtbot, name, functools.partial(getattr(qtbot, name), timeout=1000 * PATIENCE))
    return qtbot


@pytest.fixture(autouse=True)
def quiet_compiler():
    """Machine code in the background waits: most machines of tests are gone before it would serve. Tests that want
    machine code ask for it."""
    from core.codegen import background

    background.delay_compilation(HELD)
    yield
    background.delay_compilation(background.PAUSE)


@pytest.fixture
def busy_compiler(quiet_compiler):
    """Machine code is made in the background at once, as the program does."""
    from core.codegen import background

    background.resume_compilation()


@pytest.fixture(autouse=True)
def _short_notation():
    """Formulas are written as C12 again after a test that chose otherwise: the choice is the program's."""
    yield
    notation = sys.modules.get("core.symbolic.notation")
    if notation is not None:
        notation.set_short_trig(True)
