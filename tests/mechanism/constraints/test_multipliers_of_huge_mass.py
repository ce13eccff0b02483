"""Multipliers of a mass next to which a constraint row has no size."""

import warnings

import numpy as np

from core.constraints.multipliers import _solve_multipliers


def test_a_mass_beyond_which_rows_have_no_size_gives_no_warning():
    M, row = np.diag([1e308, 1.0]), np.array([[1e-300, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a, _ = _solve_multipliers(M, np.zeros(2), row, np.zeros(1))
    assert not np.isfinite(a).all()  # reported where motions are asked for
