"""What mobility tells about a model, as findings: redundant constraints, wrong drivers, loops that stay open, rest
positions that are not met."""

from __future__ import annotations

from core.constraints import rest_position
from core.errors import AssemblyError, KinetostatError, listed
from core.mobility.mobility import Mobility, mobility
from core.model import Finding
from core.traces.compiled import Compiled

LARGE = 60_000
"""Constraints times speeds above which a model is not looked at unasked (seconds)."""


def examined(compiled: Compiled) -> tuple[Mobility | None, tuple[Finding, ...]]:
    """(mobility at the rest pose, findings); (None, findings) if the machine does not close, or is very large."""
    if len(compiled.rows) * compiled.nv > LARGE:
        return None, ()
    try:
        found = mobility(compiled)
    except AssemblyError as error:
        return None, _open(error)
    except KinetostatError:  # said where it arises, when the machine is used
        return None, ()
    return found, (*rest_position.findings(compiled), *findings(found))


def findings(found: Mobility) -> tuple[Finding, ...]:
    """Hints and warnings of a mobility, by element."""
    result = []
    for text in (*found.inconsistent, *found.idle_drivers):
        name = text.removeprefix("Driver ").split(" ")[0].split(".")[0]
        severity = "warning" if text in found.inconsistent else "hint"
        result.append(Finding(severity, f"{text}.", "Remove it or let it move another joint.", "drivers", name))  # type: ignore[arg-type]
    leave = "Or leave it: the motion is right; of many possible forces in the joints the smallest are given."
    remedy = f"{found.advice} {leave}".strip()
    together: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for item in found.redundant:
        together.setdefault((item.collection, item.joint, item.fixed_by), []).append(item.component)
    for (collection, name, fixed_by), components in together.items():
        others = listed(fixed_by)
        if collection == "joints":
            several = len(components) > 1
            what = f"its {listed(components)}" if several else f"its {components[0]}"
            text = f"More is held than needed: {what} {'are' if several else 'is'} already fixed by {others}."
        else:
            text = f"It holds what {others} hold{'s' if len(fixed_by) == 1 else ''} already."
        result.append(Finding("hint", text, remedy, collection, name))
    if found.infinitesimal:
        name = found.motions[0].joints[0][0] if found.motions else ""
        text = "The machine is shaky: a small motion is possible that ends at once."
        result.append(
            Finding("hint", text, "Brace it, or change lengths so that bars do not lie in a line.", "joints", name)
        )
    return tuple(result)


def _open(error: AssemblyError) -> tuple[Finding, ...]:
    """The message at every element that has a part in it."""
    return tuple(_at(error, place) for place in error.together or (error.where,))


def _at(error: AssemblyError, place: str) -> Finding:
    kind, _, name = place.partition(" ")
    collection = {"joint": "joints", "constraint": "constraints", "driver": "drivers"}.get(kind, "")
    text = error.what if place == error.where else f"It cannot hold as things are. {error.where}: {error.what}"
    return Finding("warning", text, error.remedy, collection, name.strip("'"))
