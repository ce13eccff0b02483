"""Tests that `make test` leaves to `make test-all` because of their measured duration.

A test is slow by a mark of its own (`@pytest.mark.slow`), or because it is in `slow_tests.txt`. That list is made from
the durations that every run of many tests leaves in `build/durations.txt`: the most costly go until the others fit into
the minutes of `make test`. Each file keeps a test, and each function with several cases one of them.

    make test-all && python -m tests.slow_tests
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".txt")
DURATIONS = ROOT / "build" / "durations.txt"
BUDGET = 900.0
"""s that the quick tests may take together, of two processes that share two cores."""
CHEAP = 0.7
"""s; a test that takes less stays, and the cheapest case of a function that takes less."""
KEPT = ("tests/project/", "tests/apart/test_no_other_starts")
"""Rules of the project stay: what breaks them is to be known at once."""


def listed() -> frozenset[str]:
    """Tests of the list."""
    return frozenset(LIST.read_text(encoding="utf-8").splitlines())


def record(seconds: Mapping[str, float]) -> None:
    """Keep the durations of a run among those of the runs before."""
    DURATIONS.parent.mkdir(exist_ok=True)
    known = {**recorded(), **seconds}
    DURATIONS.write_text("".join(f"{known[test]:.3f} {test}\n" for test in sorted(known)), encoding="utf-8")


def recorded() -> dict[str, float]:
    """Test → seconds."""
    if not DURATIONS.exists():
        return {}
    lines = (line.split(" ", 1) for line in DURATIONS.read_text(encoding="utf-8").splitlines())
    return {test: float(duration) for duration, test in lines}


def chosen(seconds: Mapping[str, float], budget: float = BUDGET) -> list[str]:
    """Tests to be left out, so that the others take no more than the budget."""
    cases, files = Counter(map(function, seconds)), Counter(map(file, seconds))
    walks = {name for name, count in cases.items() if count > 1}
    spent = Counter[str]()
    for test, duration in seconds.items():
        spent[function(test)] += duration
    # the cases of a walk go before a single test that takes a third of the walk
    order = sorted(seconds, key=lambda test: max(seconds[test], spent[function(test)] / 3), reverse=True)
    whole, left_out = sum(seconds.values()), []
    for test in order:
        if whole <= budget:
            break
        last = files[file(test)] == 1 or (function(test) in walks and cases[function(test)] == 1)
        if test.startswith(KEPT) or seconds[test] < (CHEAP if last else CHEAP / 5):
            continue
        left_out.append(test)
        whole -= seconds[test]
        cases[function(test)] -= 1
        files[file(test)] -= 1
    return sorted(left_out)


def function(test: str) -> str:
    """The test without its case."""
    return test.partition("[")[0]


def file(test: str) -> str:
    """The file of a test."""
    return test.partition("::")[0]


def main() -> None:
    """Write the list."""
    seconds = recorded()
    left_out = chosen(seconds)
    LIST.write_text("".join(f"{test}\n" for test in left_out), encoding="utf-8")
    rest = sum(seconds.values()) - sum(seconds[test] for test in left_out)
    print(f"{len(left_out)} of {len(seconds)} tests are slow; the others take {rest:.0f} s")


if __name__ == "__main__":
    main()
