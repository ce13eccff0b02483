"""`generate_c`: export of a machine as a folder of C code that does not depend on Kinetostat."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.c_code import companions
from core.c_code.c_source import write_source
from core.c_code.companions import TestBuild, build_and_test
from core.c_code.fmu import write_fmu
from core.c_code.header import write_header
from core.c_code.joint_resistance import SmoothedResistance, choose_smoothing
from core.c_code.machine_functions import MachineFunctions
from core.c_code.plan import ExportPlan, build_functions, find_public_function, to_identifier
from core.c_code.plan import find_outputs as outputs_of
from core.c_code.stepper import METHODS, NEAR_SINGULAR, NOT_FINITE, OUT_OF_REACH, Stepper, build_step_functions
from core.c_code.test_main import write_test_program
from core.codegen.c_text import PRECISIONS
from core.errors import FileError, KinetostatError, ModelError, SimulationError, suggest_names
from core.mechanism import Mechanism
from core.model import Model
from core.model.model import check_kinds_known
from core.simulation import simulate
from core.simulation.run.contact_checks import check_contact_steps
from core.simulation.run.early_ends import dependent_rows_error
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import AUTOMATIC_FACTORS, CHOLESKY, check_factorisation

Array = NDArray[np.float64]

REFERENCE_TIME = 1.0
"""Longest duration of the reference simulation, s."""
SAMPLES = 50
MOST_STEPS = 2000
HOLDING = 0.3
"""Joint forces in the reference simulation, as a fraction of those that would hold the machine in its initial pose."""
LONGEST = 400_000
"""Number of instructions of one function above which compilers would take hours."""

MOST_PLAIN = 50_000
"""Largest number of instructions of one function whose variables fit on the stack without optimisation."""

DIFFERENTIABLE = 20_000
"""Largest number of instructions of ẏ for which derivatives are analysed after failed steps."""
OURS = ("README.md", "Makefile", "CMakeLists.txt")
"""Names of generated files that other software uses as well."""
MARK = "Kinetostat"
"""Text by which generated files are recognised, near their beginning."""


class UnstableStep(SimulationError):
    """Raised if the steps of generated code are unstable; longest : largest stable step (s) for the fastest motion."""

    longest: float = 0.0


class Generated(NamedTuple):
    """Result of the export: the files written and their test.

    operations : of each function by kind, as the header tells them; difference : of the reference to the program's own
    run after a second, as a part of its size (None where the program has no such run)
    """

    folder: Path
    files: tuple[str, ...]
    name: str
    notes: tuple[str, ...]
    operations: dict[str, dict[str, int]]
    difference: float | None
    trial: TestBuild


def generate_c(
    model: Model | Mechanism,
    folder: str | Path,
    *,
    name: str | None = None,
    functions: Sequence[str] = (),
    step: float = 1e-3,
    method: str = "rk4",
    outputs: Sequence[str] | None = None,
    parameters: str = "arguments",
    values: Mapping[str, Any] | Sequence[float] | None = None,
    q0: Any = None,
    v0: Any = None,
    precision: str = "double",
    closing: int = 2,
    factorisation: str = AUTOMATIC_FACTORS,
    fmi: str | None = None,
    trial: bool = True,
    optimised: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Generated:
    """Write a machine as stand-alone C99 into a folder, build its test where there is a compiler, and run it.

    name : what all names begin with, default: the model's
    functions : beside the step, e.g. "inverse_dynamics", "mass_matrix", "frame:tool", "jacobian:tool"
    step : s; method : "rk4", "heun", "euler", "semi_implicit", or "ros2" for stiff machines
    outputs : formulas of signals after each step, e.g. "tool.position.z", "elbow.q", "elbow.a"; default: all sensors
    parameters : "arguments", so that they can be changed while the code runs, or "constants"
    values : of parameters; q0, v0 : where the code begins, as for `simulate`
    precision : "double" or "float"
    closing : how many Gauss–Newton steps close the loops after each step, where they have no closed form
    factorisation : "rank-revealing" ("automatic") finds redundant rows at each step; "Cholesky" takes them for
    independent, as `simulate` does: where they are not, a step returns NOT_FINITE
    fmi : "2.0" for a Functional Mock-up Unit for Co-Simulation beside the code
    trial : whether to build and run the test; optimised : whether as it is meant to be used, which takes compilers
    three times as long, and tells how long a step takes
    progress : called with what is done next; what it raises ends all

    Raises ModelError for what the code cannot be made of, SimulationError if the machine does not move as it should,
    FileError if the folder cannot be written; then nothing is there.
    """
    mech = model if isinstance(model, Mechanism) else Mechanism(model)
    check_kinds_known(mech.model.expanded)
    mech.model.expanded.signal_table.require_continuous("C code")
    _check_options(method, precision, parameters, step, closing, fmi)
    check_factorisation(factorisation)
    p = mech.parameter_values(values)
    target = Path(folder)
    tracing, referring = (
        partial(progress, stage) for stage in ("Building expression graphs", "Computing the reference")
    )
    tracing()
    start = start_state(mech, q0, v0, p, 0.0, None)
    plan, passive = _build_plan(
        mech,
        name,
        functions,
        step,
        method,
        outputs,
        parameters == "constants",
        p,
        start,
        precision,
        closing,
        factorisation,
        tracing,
    )
    _check_foreign_files(plan, target)
    build_functions(plan, tracing)
    if (longest := max(sum(f.operations.values()) for f in plan.written.values())) > LONGEST:
        raise ModelError(
            f"A function of this machine has {longest} operations, which is too many for C compilers.",
            where="C code",
            remedy="Remove parts of the machine.",
        )
    reference = _ReferenceRun(plan, passive, referring)
    files = {
        f"{plan.name}.h": write_header(plan),
        f"{plan.name}.c": write_source(plan),
        f"{plan.name}_test.c": write_test_program(plan, len(reference.rows)),
        f"{plan.name}_reference.csv": reference.format_file(),
        "Makefile": companions.write_makefile(plan),
        "CMakeLists.txt": companions.write_cmake_lists(plan),
    }
    progress("Building and testing the code" if trial else "Writing the code")
    quick = optimised or longest > MOST_PLAIN
    try_it = (lambda room: build_and_test(room, plan.name, progress, target.name, quick)) if trial else _skipped_trial
    names, found = _write_files(plan, target, files, reference.difference, try_it, fmi is not None, progress)
    operations = {key: f.operations for key, f in plan.written.items()}
    return Generated(target, names, plan.name, plan.notes, operations, reference.difference, found)


def _check_options(method: str, precision: str, parameters: str, step: float, closing: int, fmi: str | None) -> None:
    for word, value, known in (
        ("method", method, tuple(METHODS)),
        ("precision", precision, tuple(PRECISIONS)),
        ("parameters", parameters, ("arguments", "constants")),
        ("fmi", fmi or "2.0", ("2.0",)),
    ):
        if value not in known:
            raise ModelError(f"There is no {word} '{value}'.", where=word, remedy=suggest_names(str(value), known))
    if not (np.isfinite(step) and step > 0.0):
        raise ModelError("The step size must be a positive time.", where="step", remedy="Give seconds, e.g. 1e-3.")
    if closing < 1:
        raise ModelError(
            "Closing the loops needs at least one iteration (`closing`).",
            where="closing",
            remedy="Use 1, 2 (the default) or more.",
        )


def _build_plan(
    mech: Mechanism,
    name: str | None,
    functions: Sequence[str],
    step: float,
    method: str,
    output_names: Sequence[str] | None,
    constants: bool,
    p: Array,
    start: Array,
    precision: str,
    closing: int,
    factorisation: str,
    watch: Callable[[], None],
) -> tuple[ExportPlan, SmoothedResistance]:
    if not mech.nv:
        raise ModelError("The machine has no joint that moves.", where="C code", remedy="Add a body and a joint.")
    q, v = start[: mech.nq], start[mech.nq : mech.nq + mech.nv]
    check_contact_steps(mech, step, p)
    passive = choose_smoothing(mech.compiled, q, v, p, step)
    machine = MachineFunctions(mech, p, q, passive, constants, factorisation == CHOLESKY)
    rule = METHODS[method]
    found = outputs_of(machine, output_names)
    plan = ExportPlan(
        name=to_identifier(name or (mech.model.name or "machine").lower()),
        title=mech.model.name or "Machine",
        machine=machine,
        functions=build_step_functions(machine, rule, watch),
        outputs=found.traced,
        output_names=found.names,
        output_measures=found.measured,
        output_needs_rates=found.needs_rates,
        public=tuple(find_public_function(machine, each) for each in dict.fromkeys(functions) if each != "step"),
        method=rule,
        h=step,
        closing=closing,
        factorisation=factorisation,
        start=start,
        precision=PRECISIONS[precision],
        notes=tuple(passive.notes()),
        splines=mech.compiled.splines(p) if machine.time_size else None,
    )
    return plan, passive


def _fastest_rate(plan: ExportPlan, u: Array) -> float:
    """Return |λ| (1/s) of the fastest motion near the start state; 0 if unknown."""
    rates = plan.functions.rates
    if rates.graph.n_instructions() > DIFFERENTIABLE:
        return 0.0
    stepper = Stepper(plan.machine, plan.functions, plan.method, plan.h, plan.closing)
    given = stepper.arguments_at(plan.start, 0.0, u)
    slopes = rates.graph.jacobian()(*(given[word] for word in rates.arguments), 0)
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    columns = [np.asarray(block)[:-1] for word, block in zip(rates.arguments, slopes, strict=True) if word in "qvx"]
    values = np.abs(np.linalg.eigvals(np.hstack(columns)))
    return float(np.max(values, initial=0.0)) if np.isfinite(values).all() else 0.0


class _ReferenceRun:
    """Reference samples for the code's test, computed by the same stepper in Python with constant joint forces."""

    def __init__(self, plan: ExportPlan, resistance: SmoothedResistance, before_each: Callable[[], None]) -> None:
        before_each()
        machine = plan.machine
        self.plan, self.mech = plan, machine.mech
        self.steps = max(min(round(REFERENCE_TIME / plan.h), MOST_STEPS), 1)
        self.u = self._joint_forces()
        stepper = Stepper(machine, plan.functions, plan.method, plan.h, plan.closing)
        every = max(self.steps // SAMPLES, 1)
        y = plan.start.copy()
        self.rows: list[Array] = [np.concatenate([[0.0], self.u, y])]
        for k in range(self.steps):
            before = y
            y, status = stepper.step(y, k * plan.h, self.u)
            if status & (NOT_FINITE | OUT_OF_REACH):
                self._raise_unstable(k, status, before)
            if (k + 1) % every == 0:
                before_each()
                self.rows.append(np.concatenate([[k + 1.0], self.u, y]))
        self.end = y
        self.difference = None if resistance.is_smoothed or plan.method.like is None else self._relative_difference()

    def _joint_forces(self) -> Array:
        m = self.plan.machine
        held = m.compiled.call("gravity", self.plan.start[: m.nq], p=m.p)
        return HOLDING * np.asarray(held, dtype=float)

    def _raise_unstable(self, k: int, status: int, y: Array) -> None:
        plan = self.plan
        if status & NEAR_SINGULAR and plan.factorisation == CHOLESKY:
            raise dependent_rows_error(self.mech, y[: self.mech.nq], plan.machine.p, k * plan.h)
        what = "is not finite" if status & NOT_FINITE else "does not close its loops"
        quickest = _fastest_rate(plan, self.u)
        longest = plan.method.stable / quickest if quickest > 0.0 else np.inf
        remedy = "Use shorter steps, or more iterations (`closing`)."
        if longest < plan.h:
            remedy = f"Use steps below {longest:.1g} s: the fastest motion has |λ| = {quickest:.2g}/s at the start."
        error = UnstableStep(
            f"After {k} steps of {plan.h:g} s the machine {what}.",
            where=f"C code, {plan.method.title}",
            remedy=remedy,
        )
        error.longest = float(f"{longest:.1g}") if np.isfinite(longest) else 0.0
        raise error

    def _relative_difference(self) -> float | None:
        """Return the relative difference between the reference and Kinetostat's own simulation at the end."""
        plan = self.plan
        m, time = plan.machine, self.steps * plan.h
        try:
            run = simulate(
                self.mech,
                time,
                method=plan.method.like or "",
                step=plan.h,
                output=time,
                q0=plan.start[: m.nq],
                v0=plan.start[m.nq : m.nq + m.nv],
                x0=plan.start[m.nq + m.nv :],
                parameters=m.p,
                torque=self.u,
                closed_forms=m.forms is not None,
                closing=plan.closing,
                factorisation=plan.factorisation,
            )
        except KinetostatError:
            return None
        end = np.concatenate([run.q[-1], run.v[-1], run.x[-1]])
        return float(np.max(np.abs(end - self.end)) / max(1.0, float(np.max(np.abs(end)))))

    def format_file(self) -> str:
        """Return the reference file: a line of names, then hexadecimal numbers."""
        m = self.plan.machine
        names = ["step", *(f"u {n}" for n in m.compiled.v_names), *m.compiled.q_names]
        names += [*(f"{n}.v" for n in m.compiled.v_names), *m.compiled.x_names]
        lines = [",".join(name.replace(",", " ") for name in names)]
        lines += [",".join(float(x).hex() for x in row) for row in self.rows]
        return "\n".join(lines) + "\n"


def _check_foreign_files(plan: ExportPlan, target: Path) -> None:
    """Raise FileError if a file not generated by Kinetostat would be overwritten."""
    for name in (*OURS, f"{plan.name}.h", f"{plan.name}.c"):
        path = target / name
        try:
            foreign = path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace")[:400]
        except OSError as problem:
            raise FileError(f"The file cannot be read: {problem.strerror}.", file=str(path)) from None
        if foreign:
            raise FileError(
                "The folder contains a file of this name that Kinetostat did not generate.",
                file=str(path),
                remedy="Choose an empty folder, or one with generated code.",
            )


def _check_folder_names(target: Path, names: Sequence[str]) -> None:
    """Raise FileError if a folder has the name of a file to be written."""
    for name in names:
        if (target / name).is_dir():
            raise FileError(
                "A folder has the name of a file to be written.",
                file=str(target / name),
                remedy="Rename it, or choose another folder for the code.",
            )


def _skipped_trial(_folder: Path) -> TestBuild:
    return TestBuild(None, "Not yet tested: `make` builds and runs the test.")


def _write_files(
    plan: ExportPlan,
    target: Path,
    files: Mapping[str, str],
    difference: float | None,
    build_test: Callable[[Path], TestBuild],
    unit: bool,
    progress: Callable[[str], None],
) -> tuple[tuple[str, ...], TestBuild]:
    """Write all files or none: they are created and tested in a temporary folder next to the target first."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".c_code_", dir=target.parent) as made:
            room = Path(made).absolute()  # compilers run inside of it
            for name, text in files.items():
                (room / name).write_text(text, encoding="utf-8")
            found = build_test(room)
            names = [*files, "README.md"]
            if unit:
                sources = {name: files[name] for name in (f"{plan.name}.h", f"{plan.name}.c")}
                packed = write_fmu(plan, room, sources, progress)
                names.append(packed.file)
                found = found._replace(words=f"{found.words} {packed.words}".strip())
            (room / "README.md").write_text(
                companions.write_readme(plan, difference, f"{found.words} {found.seconds}".strip()), encoding="utf-8"
            )
            _check_folder_names(target, names)
            target.mkdir(exist_ok=True)
            for name in names:
                shutil.move(room / name, target / name)
    except OSError as problem:
        raise FileError(
            f"The code cannot be written: {problem.strerror or problem}.",
            where="folder",
            file=str(target),
            remedy="Choose a folder that can be written to.",
        ) from None
    return tuple(names), found
