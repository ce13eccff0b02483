"""Notes on discontinuities in formulas at which a run does not stop a step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from core.mechanics.elements.mode_variables import MOST, ModeVariables, has_unlocated_jumps
from core.mechanics.elements.turn_counters import formulas_by_element
from core.mechanism.mechanism import Mechanism
from core.model.formula.expression import parse
from core.simulation.equations.joint_forces import Torque
from core.simulation.setup import Settings

FIXED_STEPS = (
    "Fixed steps do not end where formulas of {} switch: a force switched on and off within one step is missed, "
    "and steps that contain a switch are less accurate."
)
JUMPS = (
    "Formulas of {} jump by ==, !=, floor or ceil: the run does not locate these jumps, and a force switched on and "
    "off within one step is missed."
)


def switch_notes(mech: Mechanism, torque: Torque, chosen: Settings) -> tuple[str, ...]:
    """Return notes on the discontinuities that a run with these settings does not locate: all of them with fixed steps,
    otherwise those without an event indicator, by element."""
    formulas = _element_formulas(mech, torque)
    if not formulas:
        return ()
    constant = frozenset(mech.compiled.elements.numbers.values)
    if not chosen.rule.adaptive:
        return _notes_on([name for name, text in formulas if _event_indicators([text], constant).numbers], FIXED_STEPS)
    notes = _notes_on([name for name, text in formulas if has_unlocated_jumps(parse(text), constant)], JUMPS)
    variables = _event_indicators([text for _, text in formulas], constant)
    if count := len(variables.beyond):
        notes += (f"Formulas switch in {MOST + count} places, but the run locates only {MOST} of them.",)
    return notes


def _element_formulas(mech: Mechanism, torque: Torque) -> list[tuple[str, str]]:
    """Return (element, formula) of forces, friction, drivers and joint forces."""
    model = mech.compiled.elements.model
    drivers = [(driver.name, driver.function) for driver in model.drivers if isinstance(driver.function, str)]
    forces = list(torque.items()) if isinstance(torque, Mapping) else []
    return [*formulas_by_element(model), *drivers, *((name, text) for name, text in forces if isinstance(text, str))]


def _event_indicators(texts: Iterable[str], constant: Collection[str]) -> ModeVariables:
    """Return the event indicators of formulas, each of a separate element."""
    return ModeVariables((), constant, {str(k): parse(text) for k, text in enumerate(texts)})


def _notes_on(names: Iterable[str], words: str) -> tuple[str, ...]:
    quoted = ", ".join(f"'{name}'" for name in dict.fromkeys(names))
    return (words.format(quoted),) if quoted else ()
