"""Time spent in tests, for people who wait for them: the ten slowest, the share of each room, what was left out.

A room is a folder of `tests`. What a test takes counts with its fixtures, as one of them sets it up.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

import pytest

from tests import slow_tests

SLOWEST = 10
FEW = 50
"""Tests that may run without a word about their durations."""
_began = time.monotonic()
_left_out: Counter[str] = Counter()
"""Process → tests that its selection left out; with xdist each worker collects all tests, and leaves out the same."""


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Counts what is left out (`-m`, `-k`)."""
    _left_out["here"] += len(items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands the count of a worker to the process that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = _left_out["here"]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Takes the count of a worker."""
    _left_out[str(node)] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints them after a run of many tests."""
    seconds = by_test(report for reports in terminalreporter.stats.values() for report in reports)
    if len(seconds) > FEW:
        slow_tests.record(seconds)
        terminalreporter.section(f"the {SLOWEST} slowest tests")
        for test, duration in seconds.most_common(SLOWEST):
            terminalreporter.write_line(f"{duration:7.1f} s  {test}")
        terminalreporter.section("shares of the rooms")
        rooms, counts = Counter[str](), Counter(map(room, seconds))
        for test, duration in seconds.items():
            rooms[room(test)] += duration
        whole = max(sum(rooms.values()), 1e-9)
        for name, duration in rooms.most_common():
            share = 100.0 * duration / whole
            terminalreporter.write_line(f"{share:5.1f} %  {duration:7.1f} s  {name} ({counts[name]} tests)")
        processes, clock = len(_left_out.keys() - {"here"}) or 1, time.monotonic() - _began
        terminalreporter.write_line(
            f"{whole:.0f} s of tests; {processes * clock - whole:.0f} s of {processes} × {clock:.0f} s are starting, "
            "collecting and waiting"
        )
    if left_out := max(_left_out.values(), default=0):
        terminalreporter.write_line(f"{left_out} tests were left out (make test-all runs those marked slow, too)")


def by_test(reports: Iterable[object]) -> Counter[str]:
    """Seconds of each test: of itself, its fixtures and their end."""
    seconds = Counter[str]()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] += report.duration
    return seconds


def room(test: str) -> str:
    """The folder of a test, but of those of the window the folder of the part."""
    parts = test.partition("::")[0].split("/")[:-1]
    return "/".join(parts[: 3 if parts[1:2] == ["app"] else 2])
