"""A short part of each campaign; `make campaign` does the whole."""

import pytest

from tests.campaign.formula_makers import formula
from tests.campaign.mutations import MUTATIONS
from tests.campaign.runner import Runner
from tests.campaign.trials import luck_of
from tests.campaign.worker import PARTS
from tests.walks import slow

SHORT = {
    "files": 60,
    "formulas": 400,
    "drawings": 3,
    "sketches": 1,
    "connections": 1,
    "window": 1,
    "modes": 3,
    "switches": 20,
}
LONGER = {
    "files": 120,
    "formulas": 800,
    "drawings": 6,
    "sketches": 4,
    "connections": 3,
    "starts": 1,
    "kills": 1,
    "modes": 6,
    "switches": 100,
}
"""Trials of the parts in `make test` and in `make test-all`."""


def test_every_part_has_a_short_one():
    assert {*SHORT, *LONGER} == set(PARTS)


@pytest.mark.parametrize(("part", "count"), [*SHORT.items(), *slow(*LONGER.items())])
def test_a_short_part_finds_nothing_unexpected(part, count):
    report = Runner(part, 0, minutes=5.0, keep=False).run(count)
    assert not report.failures, report.text()
    assert report.count == count


def test_a_trial_that_hangs_or_crashes_or_writes_or_warns_is_a_failure():
    report = Runner("faults", 0, minutes=5.0, keep=False).run(7)
    words = {index: kind for kind, indices in report.failures.items() for index in indices}
    assert "ZeroDivisionError" in words[0]
    assert "SIGSEGV" in words[1] or "ends the process" in words[1]
    assert "has not ended" in words[2]
    assert "Written to the terminal: noise" in words[3]
    assert "RuntimeWarning" in words[4]
    assert "MB of memory" in words[5]
    assert report.outcomes == {"well": 1}


def test_the_same_seed_gives_the_same_trials():
    one, same, other = (luck_of(seed, "formulas", 5) for seed in (1, 1, 2))
    texts = [formula(luck).text + str(luck.random()) for luck in (one, same, other)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_a_mutation_changes_most_files(mutation):
    data = b"name: arm\nmass: 1.5\nparent: world\nchild: link\n" * 3
    changed = [mutation(luck_of(0, "", index), data) != data for index in range(40)]
    assert sum(changed) > 20
    assert mutation(luck_of(0, "", 0), b"") is not None
