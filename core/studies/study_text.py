"""Studies as people write them down: what varies and what is recorded, by lines of text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.studies.distributions import KINDS as DISTRIBUTIONS
from core.studies.study import Study, channel

FEW_VALUES = 11
"""Of a range whose number of values is not said."""


@dataclass(frozen=True)
class StudyText:
    """varied : name → "0.3:0.5:21" (from, to, how many), "0, 5, 10", or a distribution, "normal(2, 0.05)"; the product
    of all ranges and lists, times `count` samples of all distributions; record : name → formula, of a curve
    "tool.position.z every 0.01"; frame : of targets; limit : s of work after which a row is given up; options : of runs
    """

    varied: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, str] = field(default_factory=dict)
    kind: str = "runs"
    count: int = 1000
    seed: int = 1
    how: str = "random"
    frame: str = ""
    limit: float = 60.0
    lists: tuple[str, ...] = ()
    """CSV files whose columns run together."""
    options: Mapping[str, Any] = field(default_factory=dict)


def study_of(model: Model | Mechanism, text: StudyText) -> Study:
    """The study that a text means. Raises KinetostatError naming the line that cannot be read."""
    options = dict(text.options) if text.kind == "runs" else {}
    study = Study(model, text.kind, frame=text.frame, limit=text.limit, **options)
    grid: dict[str, Any] = {}
    drawn: dict[str, str] = {}
    for name, values in text.varied.items():
        try:
            if is_drawn(values):
                drawn[name] = values
            else:
                grid[name] = values_of(study, name, values)
        except KinetostatError as error:
            raise error.at(where=f"'{name}'") from None
    if grid:
        study.grid(grid)
    for path in text.lists:
        study.list(path)
    if drawn:
        study.sample(text.count, drawn, seed=text.seed, how=text.how)
    for name, formula in text.record.items():
        curve, every, seconds = formula.rpartition(" every ")
        study.record({name: channel(curve.strip(), _seconds(name, seconds)) if every else formula})
    return study


def is_drawn(values: str) -> bool:
    """Whether a text is that of a distribution."""
    return values.partition("(")[0].strip() in DISTRIBUTIONS and values.rstrip().endswith(")")


def values_of(study: Study, name: str, text: str) -> list[float]:
    """The values of "0.3:0.5:21" or "0, 5, 10". Raises ModelError."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) == 1:
        return [study.number(name, part) for part in map(str.strip, text.split(",")) if part]
    if len(parts) > 3 or not all(parts):
        raise ModelError(f"'{text}' is no range.", remedy="Write from:to:how many, as 0.3:0.5:21.")
    count = FEW_VALUES
    if len(parts) == 3:
        try:
            count = int(parts[2])
        except ValueError:
            count = 0
        if count < 1:
            raise ModelError(f"'{parts[2]}' is no number of values.", remedy="Write from:to:how many, as 0.3:0.5:21.")
    return np.linspace(study.number(name, parts[0]), study.number(name, parts[1]), count).tolist()


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text.strip().removesuffix("s").strip())
    except ValueError:
        value = math.nan
    if not value > 0.0:
        raise ModelError(f"'{text}' are no seconds.", where=f"record '{name}'", remedy="Write: channel every 0.01")
    return value


def lines_of(text: str, option: str, unnamed: str = "") -> dict[str, str]:
    """Name → what stands behind "=", of a text whose lines are parted by semicolons or line ends.

    unnamed : names of what has none begin so. Raises ModelError for a line without a name, or a name that comes twice.
    """
    found: dict[str, str] = {}
    for part in (part.strip() for part in text.replace("\n", ";").split(";")):
        if not part:
            continue
        name, value = _named(part)
        if not name and unnamed:
            name = f"{unnamed}{len(found) + 1}"
        if not name or not value:
            raise ModelError(f"'{part}' has no name.", where=option, remedy="Write name=…; name=…")
        if name in found:
            raise ModelError(f"'{name}' comes twice.", where=option, remedy="Name each once.")
        found[name] = value
    return found


def _named(part: str) -> tuple[str, str]:
    """(name, what is behind the first "=" that is no comparison)."""
    name, equals, value = part.partition("=")
    if equals and not value.startswith("=") and name[-1:] not in ("<", ">", "!") and "(" not in name:
        return name.strip(), value.strip()
    return "", part
