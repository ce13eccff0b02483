"""Reading of the argument `p=`: values of some parameters by name, or of all in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, suggest_names

Array = NDArray[np.float64]

Values = Mapping[str, Any] | Sequence[float] | Array | None
"""Parameter values: some by name (a number, or an array with one per state), or an array of all in the order of
`Mechanism.p_names` (one row, or a row per state)."""


def parameter_values(names: Sequence[str], model_values: Array, overrides: Values) -> Array:
    """Return the values (…, n_p) of all independent parameters: those of the model (`model_values`), replaced by given
    ones.

    Raises ModelError for an unknown name, a value that is no number, or a wrong count.
    """
    if overrides is None:
        return model_values.copy()
    if isinstance(overrides, Mapping):
        return _values_by_name(names, model_values, overrides)
    array = _check_finite(overrides, "p")
    if array.shape[-1:] != (len(names),):
        raise ModelError(
            f"p has shape {array.shape}; {len(names)} values are needed.",
            remedy="mech.p_names lists the parameters in order; or pass a dictionary with some of them.",
        )
    return array


def _values_by_name(names: Sequence[str], model_values: Array, overrides: Mapping[str, Any]) -> Array:
    for name in overrides:
        if name not in names:
            raise ModelError(f"There is no independent parameter '{name}'.", remedy=suggest_names(str(name), names))
    columns = {name: _check_finite(value, f"parameter '{name}'") for name, value in overrides.items()}
    try:
        leading = np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        raise ModelError(
            "The arrays of parameter values have different lengths.",
            where="p",
            remedy="Give each parameter one value per state, or a single value.",
        ) from None
    values = np.array(np.broadcast_to(model_values, (*leading, len(model_values))))
    for name, column in columns.items():
        values[..., names.index(name)] = column
    return values


def _check_finite(values: Any, where: str) -> Array:
    try:
        if values is None:
            raise TypeError
        array = np.ascontiguousarray(values, dtype=float) if np.ndim(values) else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(
            "The parameter value is not a number.", where=where, remedy="Give a finite number in SI units."
        ) from None
    if not np.isfinite(array).all():
        raise ModelError("The parameter value is not finite.", where=where, remedy="Give a finite number in SI units.")
    return array
