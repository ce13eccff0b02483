"""Types and objects of Qt are made in the window's thread alone; tests.campaign.start_child watches whole starts."""

import ast
import threading
from pathlib import Path

import pytest

from app.background.jobs import BackgroundQueue
from tests.sources import parsed

ROOT = Path(__file__).parents[3]
FILES = [path for room in ("app", "viz") for path in sorted((ROOT / room).rglob("*.py"))]
THREADS_OF_QT = {"QThread", "QRunnable", "QThreadPool", "QtConcurrent"}


def trees():
    return [(path.relative_to(ROOT).as_posix(), parsed(path)) for path in FILES]


def test_no_class_is_made_where_a_function_runs_and_no_thread_is_one_of_qt():
    made, threads = [], []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                made += [f"{path}: {inner.name}" for inner in ast.walk(node) if isinstance(inner, ast.ClassDef)]
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("PySide6"):
                threads += [f"{path}: {each.name}" for each in node.names if each.name in THREADS_OF_QT]
    assert not made
    assert not threads


def test_errands_are_done_in_a_thread_one_after_another_and_taken_here(qtbot):
    errands, here, order, taken = BackgroundQueue("test"), threading.get_ident(), [], []

    def work(k):
        order.append((k, threading.get_ident()))
        return 10 * k

    def take(found):
        taken.append((found, threading.get_ident()))

    for k in range(3):
        errands.submit(lambda k=k: work(k), take)
    qtbot.waitUntil(lambda: len(taken) == 3)
    assert [k for k, _ in order] == [0, 1, 2]
    assert here not in {where for _, where in order}
    assert taken == [(0, here), (10, here), (20, here)]
    errands.close()


def test_what_an_errand_raises_is_raised_in_the_windows_thread_and_the_next_is_done(qtbot):
    errands, taken = BackgroundQueue("test"), []
    errands.submit(lambda: 1 / 0, taken.append)
    errands.submit(lambda: "next", taken.append)
    with qtbot.captureExceptions() as raised:
        qtbot.waitUntil(lambda: bool(taken))
    assert [kind for kind, *_ in raised] == [ZeroDivisionError]
    assert taken == ["next"]
    errands.close()


def test_what_waits_is_dropped_when_errands_are_closed(qtbot):
    errands, taken, go_on = BackgroundQueue("test"), [], threading.Event()
    errands.submit(go_on.wait, taken.append)
    errands.submit(lambda: taken.append("done"), taken.append)
    threading.Timer(0.05, go_on.set).start()
    errands.close()
    assert taken == []


@pytest.fixture
def watcher():
    from tests.campaign.start_child import Watch

    return Watch()


def test_the_watch_of_starts_sees_what_a_thread_loads(watcher):
    for name in ("PySide6.QtTest", "core.errors"):
        thread = threading.Thread(target=lambda name=name: watcher.find_spec(name), name="other")
        thread.start()
        thread.join()
    watcher.find_spec("pyqtgraph")
    assert watcher.found == ["'other' loads PySide6.QtTest"]
