"""Plan of an export: all data from which the generated code is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.c_code.machine_functions import LETTERS, MachineFunctions, Traced
from core.c_code.public_functions import PublicFunction
from core.c_code.stepper import Method, StepFunctions
from core.codegen.c_text import CFunction, Precision, c_function
from core.mechanics.elements.time_argument import Splines
from core.model.formula.formula_units import Dimension

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """All data from which the generated code is written; h : step, s."""

    name: str
    title: str
    machine: MachineFunctions
    functions: StepFunctions
    outputs: Traced | None
    output_names: tuple[str, ...]
    output_measures: tuple[Dimension, ...]
    output_needs_rates: bool
    public: tuple[PublicFunction, ...]
    method: Method
    h: float
    closing: int
    factorisation: str
    start: Array
    precision: Precision
    notes: tuple[str, ...] = ()
    splines: Splines | None = None
    written: dict[str, CFunction] = field(default_factory=dict)
    """Functions in C, after `functions_of` created them."""

    @property
    def upper(self) -> str:
        """Prefix of the names of constants."""
        return self.name.upper()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of parameters that are arguments."""
        return () if self.machine.constants else self.machine.compiled.p_names


def parts_of_state(plan: Plan) -> list[tuple[str, str, str]]:
    """Return (letter, name of its size, offset in an array of q, v and x as "… + ") of the nonempty parts."""
    m, found, at = plan.machine, list[tuple[str, str, str]](), ""
    for letter, size in (("q", m.nq), ("v", m.nv), ("x", m.nx)):
        count = f"{plan.upper}_N{letter.upper()}"
        if size:
            found.append((letter, count, at))
        at += f"{count} + "
    return found


def functions_of(plan: Plan, watch: Callable[[], None] = lambda: None) -> dict[str, CFunction]:
    """Return all functions used by the step and the outputs, in C; watch : called before each."""
    traced = {name: each for name, each in plan.functions._asdict().items() if each is not None}
    if plan.outputs is not None:
        traced["values"] = plan.outputs
    for name, each in traced.items():
        watch()
        letters = [LETTERS[word] for word in each.arguments]
        plan.written[name] = c_function(f"{plan.name}_{name}", each.graph, plan.precision, letters)
    for public in plan.public:
        watch()
        letters = [LETTERS[word] for word in public.traced.arguments]
        plan.written[public.name] = c_function(
            f"{plan.name}_{public.name}", public.traced.graph, plan.precision, letters
        )
    return plan.written
