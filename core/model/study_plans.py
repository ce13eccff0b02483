"""Studies of the document: the numbers of the machine that are varied, and the values recorded in each row.
`core.studies` computes the rows, which are not part of the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, choice, name, parts, reference, scalar, signal, text

ROW_KINDS = ("runs", "poses", "targets", "linear systems")
SAMPLINGS = ("random", "latin", "sobol")


@dataclass(frozen=True, kw_only=True)
class VariedRow(Element):
    """A number that is varied."""

    own_names: ClassVar[tuple[str, ...]] = ("duration", "step", "rtol", "atol", "x", "y", "z")
    """Names that belong to no element: run options and the target position."""

    quantity: str = signal("A parameter, joint.q or joint.v at the start, duration, step; of targets x, y, z")
    values: str = text("normal(mean, deviation), lognormal, uniform, triangular; from:to:number of values; or numbers")

    @property
    def summary(self) -> str:
        return f"{self.quantity} {self.values}"

    def validate(self) -> None:
        """Raise ModelError if the row has no values."""
        if not self.values.strip():
            raise ModelError(
                "There are no values.",
                where=f"row '{self.quantity}', values",
                remedy="Write normal(2, 0.05), 0.3:0.5:21 (from:to:number of values) or 0, 5, 10.",
            )


@dataclass(frozen=True, kw_only=True)
class RecordRow(Element):
    """A number, or a curve, recorded in each row of a study."""

    column: str = text("Name of the number")
    formula: str = signal(
        "For runs, e.g. max(abs(joint.tau)) or at(frame.position, end); for poses, any formula of channels"
    )
    every: Value | None = scalar("time", None, "Time between the samples of a curve; empty: a single number")

    @property
    def summary(self) -> str:
        return f"{self.column} = {self.formula}"

    def validate(self) -> None:
        """Raise ModelError if the row has no name."""
        if not self.column.strip():
            where = f"row '{self.formula}', column"
            raise ModelError("A column needs a name.", where=where, remedy="Give one, such as worst.")


@dataclass(frozen=True, kw_only=True)
class StudyPlan(Element):
    """A study: many runs or poses of the machine with varied numbers, and the values recorded for each."""

    meaning: ClassVar[str] = (
        "A study: the numbers of the machine that vary, and the values recorded in each row. The panel Studies "
        "computes it, and so does kinetostat study FILE --study NAME."
    )

    name: str = name()
    kind: str = choice(ROW_KINDS, "Computation of each row", "runs")
    varied: tuple[VariedRow, ...] = parts(
        VariedRow, "Varied numbers: ranges and lists are combined, distributions are sampled"
    )
    record: tuple[RecordRow, ...] = parts(RecordRow, "Values recorded in each row")
    count: Value = scalar("none", 1000.0, "Number of samples of all distributions")
    how: str = choice(SAMPLINGS, "Sampling method: independent, Latin hypercube, Sobol's sequence", "random")
    seed: Value = scalar("none", 1.0, "The same seed gives the same samples anywhere")
    frame: str = reference("frame", "Frame that inverse kinematics moves to the targets; empty: none", optional=True)
    duration: Value = scalar("time", 10.0, "Duration of a run")
    method: str = text("Integrator of runs", "auto")
    step: Value | None = scalar(
        "time", None, "Step size of fixed-step methods, largest step of others; empty: automatic"
    )
    limit: Value = scalar("time", 60.0, "Computing time after which a row is abandoned")
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        return f"{self.kind}, {len(self.varied)} varied, {len(self.record)} recorded"

    def validate(self) -> None:
        """Raise ModelError if a number is varied or recorded twice, or a run has no method."""
        if not self.method.strip():
            where = f"study '{self.name}', method"
            raise ModelError("The method is missing.", where=where, remedy="Name one, such as auto or rk4.")
        self._check_unique_names((row.quantity for row in self.varied), "varied")
        self._check_unique_names((row.column for row in self.record), "record")

    def _check_unique_names(self, names: Iterable[str], field: str) -> None:
        for each, count in Counter(names).items():
            if count > 1:
                raise ModelError(
                    f"'{each}' has {count} rows.", where=f"study '{self.name}', {field}", remedy="Name it once."
                )
