"""Text notation of studies: lines that declare what is varied and what is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import ModelError
from core.model import Model, RecordRow, StudyPlan, VariedRow
from core.model.formula.nodes import FUNCTIONS
from core.model.parameters import evaluate_finite_field
from core.studies.declaration import DISTRIBUTION_KINDS, MOST_ROWS

FEW_VALUES = 11
"""Default number of values in a range."""


@dataclass(frozen=True)
class StudyText:
    """Study in text notation. varied : name → "0.3:0.5:21" (from, to, count), "0, 5, 10", or a distribution, "normal(2,
    0.05)"; rows are all combinations of ranges and lists, times `count` random samples of all distributions; record :
    name → formula, for a curve "tool.position.z every 0.01"; frame : of targets; limit : computing time in s after
    which a row is aborted; options : of runs"""

    varied: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    kind: str = "runs"
    count: int = 1000
    seed: int = 1
    how: str = "random"
    frame: str = ""
    limit: float = 60.0
    lists: tuple[str, ...] = ()
    """CSV files whose columns vary together."""
    options: Mapping[str, Any] = field(default_factory=dict)


def is_distribution(text: str) -> bool:
    """Return True if a string has the form of a distribution, whether its name is known or not."""
    name, bracket, _ = text.partition("(")
    called = bool(bracket) and name.strip().isidentifier() and text.rstrip().endswith(")")
    return called and (name.strip() in DISTRIBUTION_KINDS or name.strip() not in FUNCTIONS)


def parse_values(text: str, parse_number: Callable[[str], float]) -> list[float]:
    """Parse the values of "0.3:0.5:21" or "0, 5, 10"; `parse_number` converts one. Raises ModelError."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        return [parse_number(part) for part in map(str.strip, text.split(",")) if part]
    if len(parts) > 3 or not all(parts):
        raise ModelError(f"'{text}' is not a range.", remedy="Write from:to:count, for example 0.3:0.5:21.")
    count = FEW_VALUES
    if len(parts) == 3:
        digits = parts[2].lstrip("0") if parts[2].isascii() and parts[2].isdigit() else ""
        if len(digits) > len(str(MOST_ROWS)) or int(digits or 0) > MOST_ROWS:
            raise ModelError(
                f"A range of more than {MOST_ROWS:,} values is too long.",
                remedy="Give fewer values, or draw them: uniform(low, high).",
            )
        count = int(digits or 0)
        if count < 1:
            raise ModelError(
                f"'{parts[2]}' is not a number of values.", remedy="Write from:to:count, for example 0.3:0.5:21."
            )
    found: list[float] = np.linspace(parse_number(parts[0]), parse_number(parts[1]), count).tolist()
    return found


def parse_recorded_quantity(name: str, text: str) -> str | tuple[str, float]:
    """Parse a recorded quantity: a formula, or (channel, interval in s) for a curve. Raises ModelError."""
    curve, every, seconds = text.rpartition(" every ")
    return (curve.strip(), _parse_interval(name, seconds)) if every else text


def _parse_interval(name: str, text: str) -> float:
    try:
        value = float(text.strip().removesuffix("s").strip())
    except ValueError:
        value = math.nan
    if not value > 0.0:
        raise ModelError(
            f"'{text}' is not a time in seconds.", where=f"record '{name}'", remedy="Write: channel every 0.01"
        )
    return value


def parse_name_lines(text: str, option: str, default_name: str = "") -> dict[str, str]:
    """Map names to the strings after "=", in a text whose lines are separated by semicolons or line ends.

    default_name : prefix of generated names. Raises ModelError for a line without a name, or a name that comes twice.
    """
    found: dict[str, str] = {}
    for part in (part.strip() for part in text.replace("\n", ";").split(";")):
        if not part:
            continue
        name, value = _split_name_and_text(part)
        if not name and default_name:
            name = f"{default_name}{len(found) + 1}"
        if not name or not value:
            raise ModelError(f"'{part}' lacks a name.", where=option, remedy="Write name=…; name=…")
        if name in found:
            raise ModelError(f"'{name}' is given twice.", where=option, remedy="Give each name once.")
        found[name] = value
    return found


def _split_name_and_text(line: str) -> tuple[str, str]:
    """Split a line into (name, string after the first "=" that is not part of a comparison)."""
    name, equals, value = line.partition("=")
    if equals and not value.startswith("=") and name[-1:] not in ("<", ">", "!") and "(" not in name:
        return name.strip(), value.strip()
    return "", line


# ------------------------------------------------------------------------------------------ of the document


def study_text_from_document(model: Model, name: str) -> StudyText:
    """Return a study of the document in text notation. Raises ModelError that suggests similar names or names the
    field."""
    if not model.studies:
        raise ModelError(
            f"There is no study '{name}': the document has no studies.",
            remedy="Save one in the Studies panel, or add a ks.StudyPlan.",
        )
    plan: StudyPlan = model.find("studies", name)
    values = model.values()

    def field_value(field: str) -> float:
        return float(evaluate_finite_field(getattr(plan, field), values, f"study '{name}', {field}"))

    record = {}
    for row in plan.record:
        every = (
            evaluate_finite_field(row.every, values, f"study '{name}', '{row.column}'")
            if row.every is not None
            else None
        )
        record[row.column] = row.formula if every is None else f"{row.formula} every {float(every)!r}"
    options: dict[str, Any] = {"duration": field_value("duration"), "method": plan.method}
    if plan.step is not None:
        options["step"] = field_value("step")
    return StudyText(
        {row.quantity: row.values for row in plan.varied},
        record,
        plan.kind,
        int(field_value("count")),
        int(field_value("seed")),
        plan.how,
        plan.frame,
        field_value("limit"),
        options=options if plan.kind == "runs" else {},
    )


def study_plan_from_text(name: str, text: StudyText, description: str = "") -> StudyPlan:
    """Convert a study in text notation to an element of the document. Raises ModelError."""
    rows = []
    for each, formula in text.record.items():
        meant = parse_recorded_quantity(each, formula)
        channel, every = meant if isinstance(meant, tuple) else (meant, None)
        rows.append(RecordRow(column=each, formula=channel, every=every))
    return StudyPlan(
        name=name,
        kind=text.kind,
        varied=tuple(VariedRow(quantity=each, values=values) for each, values in text.varied.items()),
        record=tuple(rows),
        count=float(text.count),
        seed=float(text.seed),
        how=text.how,
        frame=text.frame,
        limit=text.limit,
        description=description,
        **{key: text.options[key] for key in ("duration", "method", "step") if text.options.get(key) is not None},
    )
