"""Parameter studies: many runs or poses of a machine with varying parameters, initial values and options.

s = Study(model, duration=1.0, method="rk4", step=1e-3)
s.grid(a2=np.linspace(0.3, 0.5, 21), load=[0, 5, 10])
s.sample(1000, mass3=normal(2.0, 0.05), friction=lognormal(0.1, 0.3), seed=7, how="sobol")
s.record(tip="at(tool.position, end)", worst="max(abs(elbow.tau))", curve=channel("tool.position.z", every=0.01))
r = s.run("study.h5", cores="all", progress=print)
r.table["worst"]; r.failed; r.map("worst", "a2", "load"); s.resume("study.h5")
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from core.constraints.named_values import parse_quantity
from core.errors import FileError, KinetostatError, ModelError
from core.files import dumps
from core.mechanism import Mechanism
from core.model import Model
from core.simulation.run.cut_torques import apply_cut_torques
from core.studies.declaration import HOW, KINDS, Declaration, Distribution, StudyAxis, parse_distribution
from core.studies.row_file import RowFile, RowTable, load
from core.studies.sample_rows import StudyMachine
from core.studies.study_result import StudyResult
from core.studies.study_text import (
    StudyText,
    is_distribution,
    parse_recorded_quantity,
    parse_values,
    study_text_from_document,
)
from core.studies.study_work import Progress, StudyCallbacks, StudyExecution


class RecordedCurve(NamedTuple):
    """Channel recorded over a run."""

    name: str
    every: float


def channel(name: str, every: float) -> RecordedCurve:
    """Declare that a scalar channel is recorded at intervals of `every` seconds."""
    return RecordedCurve(name, float(every))


Values = Mapping[str, Any]


class Study:
    """Parameter study: what is varied and what is recorded."""

    def __repr__(self) -> str:
        return f"Study({self._mech.model.name!r})"

    def __init__(
        self, model: Model | Mechanism, kind: str = "runs", *, frame: str = "", limit: float = 60.0, **options: Any
    ) -> None:
        """Create a study. kind : "runs", "poses", "targets" (positions of `frame` reached by inverse kinematics: x, y,
        z vary) or "linear systems"; options : of `simulate`; limit : computing time in s after which a sample is
        aborted."""
        if kind not in KINDS:
            raise ModelError(
                f"There is no kind of study '{kind}'.", where="study", remedy=f"Use one of {', '.join(KINDS)}."
            )
        self._mech = model if isinstance(model, Mechanism) else Mechanism(model)
        if options.get("torque") is not None:
            self._mech, options["torque"] = apply_cut_torques(self._mech, options["torque"])
        document = self._mech.model
        allowed = ("duration", "method", "step", "rtol", "atol", "torque", "output", "max_steps", "closed_forms")
        for name in options:
            if name not in allowed:
                raise ModelError(f"'{name}' is not an option of a study.", remedy=f"Options: {', '.join(allowed)}.")
        if kind == "runs":
            options.setdefault("closed_forms", True)  # what is ready first must not decide about numbers
        origin = str(getattr(document, "origin", "") or "")
        self._declared = Declaration(
            dumps(document.machine), origin, kind, options=options, frame=frame, limit=float(limit)
        )

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Study:
        """Load the study of a file, to continue it by `resume`. Raises FileError."""
        from core.files.formats import reload_model

        declared = load(os.fspath(file)).declaration
        study = cls(reload_model(declared.model, declared.origin))
        study._declared = declared
        return study

    @classmethod
    def of_text(cls, model: Model | Mechanism, text: StudyText) -> Study:
        """Create a study from strings entered by the user. Raises KinetostatError that names the invalid line."""
        options = dict(text.options) if text.kind == "runs" else {}
        study = cls(model, text.kind, frame=text.frame, limit=text.limit, **options)
        grid: dict[str, Any] = {}
        drawn: dict[str, str] = {}
        for name, values in text.varied.items():
            try:
                if is_distribution(values):
                    drawn[name] = values
                else:
                    grid[name] = parse_values(values, lambda part, name=name: study.number(name, part))  # type: ignore[misc]
            except KinetostatError as error:
                raise error.at(where=f"'{name}'") from None
        if grid:
            study.grid(grid)
        for path in text.lists:
            study.list(path)
        if drawn:
            study.sample(text.count, drawn, seed=text.seed, how=text.how)
        for name, formula in text.record.items():
            meant = parse_recorded_quantity(name, formula)
            study.record({name: channel(*meant) if isinstance(meant, tuple) else meant})
        return study

    @classmethod
    def named(cls, model: Model | Mechanism, name: str) -> Study:
        """Create the study of this name in the document (`ks.StudyPlan`). Raises KinetostatError that names its
        field."""
        document = model.model if isinstance(model, Mechanism) else model
        try:
            return cls.of_text(model, study_text_from_document(document, name))
        except KinetostatError as error:
            if not error.where.startswith("study"):
                error.where = f"study '{name}'" + (f", {error.where}" if error.where else "")
            raise

    @property
    def declaration(self) -> Declaration:
        """Return the study as plain data."""
        return self._declared

    @property
    def size(self) -> int:
        """Number of rows."""
        return self._declared.size

    # ------------------------------------------------------------------------------------------ what varies

    def _add_axis(self, axis: StudyAxis) -> Study:
        twice = set(axis.names) & set(self._declared.names)
        if twice or len(set(axis.names)) < len(axis.names):
            raise ModelError(
                f"'{sorted(twice or axis.names)[0]}' is varied twice.", where="study", remedy="Vary it only once."
            )
        self._declared = replace(self._declared, axes=(*self._declared.axes, axis))
        _ = self._declared.size
        return self

    def number(self, name: str, value: Any) -> float:
        """Convert a number, or a string with a unit, to the value of a named quantity, SI. Raises ModelError if it is
        not finite."""
        if isinstance(value, str):
            parameter = next((p for p in self._mech.model.expanded.parameters if p.name == name), None)
            stem, _, what = name.rpartition(".")
            place = f"'{name}'"
            dimension = parameter.dimension if parameter else "none"
            if parameter is None and (what == "q" or name in self._mech.q_names):
                coordinate = stem if what == "q" else name
                dimension = next((c.dimension for c in self._mech.coordinates if c.name == coordinate), "none")
            return float(parse_quantity(value, dimension, {}, place))
        number = float(value)
        if not np.isfinite(number):
            raise ModelError(f"{value!r} is not a finite number.", where=f"'{name}'", remedy="Give finite numbers.")
        return number

    def grid(self, values: Values | None = None, /, **more: Any) -> Study:
        """Vary over all combinations of values given by name (parameters, "elbow.q", "elbow.v", duration, step …), the
        last one fastest."""
        given = {**(values or {}), **more}
        if not given:
            raise ModelError("Nothing is varied.", where="grid", remedy="Name a parameter and its values.")
        columns = [[self.number(name, v) for v in np.atleast_1d(each).tolist()] for name, each in given.items()]
        if any(not column for column in columns):
            raise ModelError("There are no values.", where="grid", remedy="Give at least one value for each name.")
        return self._add_axis(StudyAxis(tuple(given), tuple(product(*columns)), "grid"))

    def list(self, rows: str | os.PathLike[str] | Values, /) -> Study:
        """Vary over the rows of a CSV file with a header line, or of columns given by name."""
        if isinstance(rows, Mapping):
            names = tuple(rows)
            columns = [[self.number(name, v) for v in each] for name, each in rows.items()]
            if len({len(column) for column in columns}) != 1:
                raise ModelError(
                    "The columns differ in length.", where="list", remedy="Give all columns the same number of values."
                )
            return self._add_axis(StudyAxis(names, tuple(zip(*columns, strict=True)), "list"))
        return self._add_axis(_axis_from_csv(os.fspath(rows), self.number))

    def sample(
        self,
        count: int,
        distributions: Mapping[str, Distribution | str] | None = None,
        /,
        *,
        seed: int = 1,
        how: str = "random",
        correlation: Mapping[tuple[str, str], float] | None = None,
        **more: Distribution | str,
    ) -> Study:
        """Vary over random rows from distributions by name (`normal`, `lognormal`, `uniform`, `triangular`, or as
        text); how : "random", "latin" (hypercube) or "sobol"; correlation : of pairs, between their normal scores."""
        drawn = self._parse_distributions(count, {**(distributions or {}), **more})
        names, matrix = tuple(drawn), np.eye(len(drawn))
        for (a, b), value in (correlation or {}).items():
            if a not in drawn or b not in drawn or a == b:
                raise ModelError(f"'{a}', '{b}' are not both drawn from distributions.", where="correlation")
            matrix[names.index(a), names.index(b)] = matrix[names.index(b), names.index(a)] = value
        if how not in HOW:
            raise ModelError(
                f"There is no sampling method '{how}'.", where="how", remedy=f"Use one of {', '.join(HOW)}."
            )
        rows = tuple(tuple(map(float, row)) for row in matrix) if correlation else ()
        axis = StudyAxis(names, (), how, tuple(drawn.values()), int(count), int(seed), rows)
        axis.rows() if correlation else None
        return self._add_axis(axis)

    def sobol(
        self, base: int, distributions: Mapping[str, Distribution | str] | None = None, /, *, seed: int = 1, **more: Any
    ) -> Study:
        """Vary over Saltelli's design for sensitivity indices: base · (d + 2) rows of d distributions."""
        drawn = self._parse_distributions(base, {**(distributions or {}), **more})
        count = int(base) * (len(drawn) + 2)
        return self._add_axis(StudyAxis(tuple(drawn), (), "saltelli", tuple(drawn.values()), count, int(seed)))

    def _parse_distributions(self, count: int, specifications: Mapping[str, Any]) -> dict[str, Distribution]:
        if not specifications or int(count) < 1:
            raise ModelError(
                "The study has nothing to sample.", where="sample", remedy="Give a positive count and distributions."
            )
        found = {}
        for name, each in specifications.items():
            try:
                read = lambda text, name=name: self.number(name, text)  # noqa: E731
                found[name] = parse_distribution(each, read) if isinstance(each, str) else each
            except KinetostatError as error:
                raise error.at(where=f"'{name}'") from None
        return found

    # ------------------------------------------------------------------------------------------ what is recorded

    def record(
        self, formulas: Mapping[str, str | RecordedCurve] | None = None, /, **more: str | RecordedCurve
    ) -> Study:
        """Record numbers for each row: measures (`core.simulation.measures`) and curves of runs; formulas of channels
        and FRAME.manipulability, FRAME.smallest_radius, FRAME.isotropy of poses."""
        record, curves = dict(self._declared.record), dict(self._declared.curves)
        for name, each in {**(formulas or {}), **more}.items():
            if isinstance(each, RecordedCurve):
                if not each.every > 0.0:
                    raise ModelError("The time between samples must be positive.", where=f"curve '{name}'")
                curves[name] = (each.name, each.every)
            else:
                record[name] = str(each)
        self._declared = replace(self._declared, record=record, curves=curves)
        return self

    def check(self) -> StudyMachine:
        """Prepare the machine for the rows. Raises KinetostatError for an invalid study."""
        d = self._declared
        if not d.axes:
            raise ModelError("Nothing is varied.", where="study", remedy="Add a grid, samples or a list.")
        if d.kind in ("runs", "poses") and not d.record and not d.curves:
            raise ModelError(
                "The study records nothing.", where="study", remedy="Record a measure, such as max(elbow.q)."
            )
        return StudyMachine(d)

    # ------------------------------------------------------------------------------------------ running

    def run(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        cores: int | Literal["all"] = 1,
        cluster: str | None = None,
        progress: Callable[[Progress], object] | None = None,
        cancelled: Callable[[], bool] | None = None,
        enough: Callable[[], bool] | None = None,
        elsewhere: Callable[[FileError], str | None] | None = None,
        failing: Callable[[Progress], bool] | None = None,
        aside: bool = False,
        resume: bool = False,
    ) -> StudyResult:
        """Compute all rows.

        file : HDF5, every finished chunk safe in it; cores : of this computer, "all": all but one; aside : all of them
        in other processes, so that this one stays free, else it computes, too; cluster : address of a Dask scheduler;
        cancelled : ends early with the rows so far; enough : nothing further begins, what is in hand comes back;
        elsewhere : asked for another file where the disk is full; failing : asked whether to go on where more than half
        of the first rows failed
        """
        machine = self.check()
        table = RowTable(self._declared, machine.columns)
        kept = None if file is None else RowFile(os.fspath(file), table, resume=resume)
        asked = StudyCallbacks(
            progress or _ignore_progress, cancelled or _never_cancelled, enough or _never_cancelled, elsewhere, failing
        )
        try:
            StudyExecution(self._declared, machine, table, kept, asked).compute_unfinished_rows(cores, cluster, aside)
        except KinetostatError as error:
            if kept is not None:
                kept.leave_journal()
            error.result = StudyResult(table)  # type: ignore[attr-defined]
            raise
        except BaseException:
            if kept is not None:
                kept.leave_journal()
            raise
        if kept is not None:
            kept.close()
        return StudyResult(table)

    def resume(self, file: str | os.PathLike[str], **options: Any) -> StudyResult:
        """Continue the study in a file without repeating finished rows. Raises FileError if it holds another study."""
        return self.run(file, resume=True, **options)


def _ignore_progress(_: object) -> None:
    pass


def _never_cancelled() -> bool:
    return False


def _axis_from_csv(path: str, parse_value: Callable[[str, Any], float]) -> StudyAxis:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"The CSV file cannot be read: {error}.", file=path) from None
    if len(rows) < 2:
        raise FileError("The CSV file has no rows.", file=path, remedy="Write names in the first line, values below.")
    names = tuple(cell.strip() for cell in rows[0])
    values = []
    for k, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise FileError(f"The row has {len(row)} values for {len(names)} names.", file=path, line=k)
        try:
            values.append(tuple(parse_value(name, _parse_cell(cell)) for name, cell in zip(names, row, strict=True)))
        except KinetostatError as error:
            raise error.at(file=path, line=k) from None
    return StudyAxis(names, tuple(values), "list")


def _parse_cell(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()
