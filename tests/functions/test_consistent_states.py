"""Every function of the catalogue on every machine that something holds: see `consistent_states`."""

import functools

import pytest

from core.functions import FUNCTIONS
from tests.functions.consistent_states import CHECKS, State, held_machines, outcome

state = functools.cache(State)


@pytest.mark.parametrize("machine", held_machines())
@pytest.mark.parametrize("function", CHECKS)
def test_what_a_function_says_is_what_the_kernel_knows(function, machine):
    outcome(state(machine), function)
