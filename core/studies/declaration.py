"""Declaration of a study as plain data, with the same text for the same study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.studies.distributions import Distribution, correlated, points

Array = NDArray[np.float64]

KINDS = ("runs", "poses", "targets", "linear systems")
"""Kinds of studies. runs: simulations; poses: positions by coordinates; targets: positions of a frame, by inverse
kinematics; linear systems: small motions about the reference configuration."""
OPTIONS = ("duration", "step", "rtol", "atol")
"""Options of runs that a study may vary."""
MOST_ROWS = 5_000_000


@dataclass(frozen=True)
class Axis:
    """Axis of a study: names of columns that vary together, and their values, row by row. how : "grid" and "list" have
    values; others are drawn from distributions, with count, seed and correlation matrix."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...] = ()
    how: str = "list"
    distributions: tuple[Distribution, ...] = ()
    count: int = 0
    seed: int = 0
    correlation: tuple[tuple[float, ...], ...] = ()

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.values) or self.count

    def rows(self) -> Array:
        """Return the values (size, names)."""
        if self.values:
            return np.array(self.values, dtype=float).reshape(len(self.values), len(self.names))
        if self.how == "saltelli":
            return self._saltelli_design()
        u = points(self.count, len(self.names), self.seed, self.how)
        return self._quantiles(correlated(u, self.correlation) if self.correlation else u)

    def _quantiles(self, u: Array) -> Array:
        return np.stack([d.quantile(u[:, k]) for k, d in enumerate(self.distributions)], axis=1)

    def _saltelli_design(self) -> Array:
        """Return Saltelli's blocks A, B and each A with one column of B, concatenated: (base · (d + 2), d)."""
        d = len(self.names)
        u = points(self.count // (d + 2), 2 * d, self.seed, "sobol")
        a, b = u[:, :d], u[:, d:]
        mixed = [np.where(np.arange(d) == k, b, a) for k in range(d)]
        return self._quantiles(np.concatenate([a, b, *mixed]))


@dataclass(frozen=True)
class Declaration:
    """Declaration of a study. model : text of the document; kind : of `KINDS`; axes : sets whose Cartesian product the
    rows are, the last fastest; record : formulas by name; curves : (channel, interval in s) by name; options : of
    `simulate`; frame : of targets; limit : s, after which a sample is aborted."""

    model: str
    origin: str
    kind: str
    axes: tuple[Axis, ...] = ()
    record: dict[str, str] = field(default_factory=dict)
    curves: dict[str, tuple[str, float]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    frame: str = ""
    limit: float = 60.0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the varied columns."""
        return tuple(name for axis in self.axes for name in axis.names)

    @cached_property
    def size(self) -> int:
        """Number of rows."""
        count = 1
        for axis in self.axes:
            count *= axis.size
        if count > MOST_ROWS:
            raise ModelError(
                f"The study would have {count} rows; {MOST_ROWS} is the limit.",
                where="study",
                remedy="Take fewer values of a grid, or samples in place of it.",
            )
        return count

    def values(self) -> Array:
        """Return the values (size, columns), identical on all computers."""
        return self._values

    @cached_property
    def _values(self) -> Array:
        tables = [axis.rows() for axis in self.axes]
        count = self.size
        if len(tables) == 1:
            return tables[0]
        places = np.array(list(product(*(range(len(each)) for each in tables))), dtype=int).reshape(count, len(tables))
        return np.concatenate([each[places[:, k]] for k, each in enumerate(tables)], axis=1)

    @cached_property
    def text(self) -> str:
        """Return the declaration as JSON, identical for the same study."""
        return json.dumps(asdict(self))  # the order of columns counts

    @cached_property
    def hash(self) -> str:
        """Hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_declaration(text: str) -> Declaration:
    """Parse a declaration. Raises ModelError for an invalid text."""
    try:
        found = json.loads(text)
        axes = tuple(_axis(each) for each in found.pop("axes"))
        curves = {name: (str(channel), float(every)) for name, (channel, every) in found.pop("curves").items()}
        return Declaration(
            axes=axes, curves=curves, **{f.name: found[f.name] for f in fields(Declaration) if f.name in found}
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(
            "The declaration of the study cannot be read.", remedy=f"Its file is damaged: {error}."
        ) from None


def _axis(found: Mapping[str, Any]) -> Axis:
    def deep(rows: Any) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(map(float, row)) for row in rows)

    drawn = tuple(Distribution(str(kind), tuple(map(float, numbers))) for kind, numbers in found["distributions"])
    return Axis(
        tuple(map(str, found["names"])),
        deep(found["values"]),
        str(found["how"]),
        drawn,
        int(found["count"]),
        int(found["seed"]),
        deep(found["correlation"]),
    )


def differences(old: Declaration, new: Declaration) -> list[str]:
    """Describe the differences between two declarations."""
    said = []
    for each in fields(Declaration):
        before, after = getattr(old, each.name), getattr(new, each.name)
        ordered = not isinstance(before, dict) or list(before) == list(after)
        if each.name == "origin" or (before == after and ordered):
            continue
        if each.name == "model":
            said.append("the model")
        elif each.name == "axes":
            said.append(
                f"what is varied ({', '.join(old.names)}: {old.size} rows; now {', '.join(new.names)}: {new.size})"
            )
        elif isinstance(before, dict):
            keys = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
            said.append(f"{each.name} of {', '.join(keys)}" if keys else f"the order in {each.name}")
        else:
            said.append(f"{each.name} ({before} before, {after} now)")
    return said
