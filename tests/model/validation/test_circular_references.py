"""Circles: found exactly when walking on from a thing comes back to it."""

from __future__ import annotations

import itertools
import time

from hypothesis import given
from hypothesis import strategies as st

from core.model.validation.circular_references import find_cycles


@given(st.dictionaries(st.sampled_from("abcdefghij"), st.sampled_from("abcdefghijxyz")))
def test_members_are_those_that_come_back_to_themselves(following):
    def comes_back(start):
        current = following[start]
        for _ in following:
            if current == start:
                return True
            current = following.get(current, "")
        return False

    found = list(find_cycles(following))
    for circle in found:
        assert circle[0] == circle[-1]
        assert all(following[a] == b for a, b in itertools.pairwise(circle))
        assert len(set(circle)) == len(circle) - 1
    members = [name for circle in found for name in circle[:-1]]
    assert sorted(members) == sorted(name for name in following if comes_back(name))


def test_long_chains_take_no_time():
    start = time.perf_counter()
    assert list(find_cycles({str(i): str(i + 1) for i in range(100_000)})) == []
    assert time.perf_counter() - start < 30.0  # of what would take hours
