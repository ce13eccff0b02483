"""`python -m benchmarks.loops [WORD] [--write]`: machines of many loops, ours by closed forms and by iteration beside
MuJoCo and Exudyn (`pip install exudyn`; left out where it is not there).

Row after row of four-bars falls through its flat pose: processor time of 1 s of motion with an error of at most
`ERROR` in the angle of a crank, which all in phase follow one pendulum. Of ours the method and tolerance that are
quickest at this error, of MuJoCo and Exudyn the longest step. Each machine is measured in a process of its own, ended
after `LONGEST` processor seconds. Then the waits before motion, with nothing kept of the machine's code; and chains of
Stewart platforms and a tracked vehicle, at the default tolerances. Last one evaluation of the closed forms, machines in
turn. WORD chooses programs: closed, iteration, MuJoCo, Exudyn, waits, others, evaluation.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import json  # noqa: E402
import math  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import loop_machines  # noqa: E402
from benchmarks.document import tell  # noqa: E402
from benchmarks.loop_machines import crank_angle, falling, four_bars  # noqa: E402
from benchmarks.measure import Result, least  # noqa: E402
from benchmarks.solvers import exudyn_settings  # noqa: E402

COUNTS = (1, 20, 100, 200, 400, 1000)
FEW, MANY = 100, 1000
"""Loops between which growth is told."""
DURATION, ERROR = 1.0, 1e-4
LONGEST = 150
"""Processor seconds after which a machine is given up."""
TOLERANCES = (("rk853", 1e-3), ("rk853", 1e-4), ("rk54", 1e-4), ("rk54", 1e-5), ("adams", 1e-6))
STEPS = {"MuJoCo": (1e-2, 7e-3, 5e-3, 3e-3, 1e-3), "Exudyn": (2e-2, 1e-2, 5e-3, 2e-3, 1e-3)}
"""s, the longest first."""
ONE_PIECE = 80
EVALUATED = (20, 80, 100, 400, 1000)
"""Loops of machines whose equations in independent speeds are evaluated by themselves."""
ROUNDS, REPEATED = 21, 10
OTHERS = (
    *("separate_four_bars 12", "separate_four_bars 48"),
    *(f"stewart_chain {count}" for count in (1, 2, 4, 8, 16, 32)),
    *(f"tracked_vehicle {links}" for links in (100, 200, 400)),
)
EVALUATIONS = 20
"""Steps of RK4 of 1 ms over which an evaluation is timed."""


def ours(count: int, closed_forms: bool) -> list[Result]:
    """(processor seconds, error) of each method and tolerance."""
    from core.mechanism import Mechanism
    from core.simulation import simulate

    mech, right = Mechanism(four_bars(count)), crank_angle(count, DURATION)
    cranks = [mech.joint_q(f"A{k}").start for k in range(count + 1)]

    def one(method: str, tolerance: float) -> Result:
        run = simulate(
            mech,
            DURATION,
            method=method,
            rtol=tolerance,
            atol=1e-2 * tolerance,
            v0=falling(count),
            output=DURATION,
            closed_forms=closed_forms,
        )
        return run.statistics.cpu, float(np.max(np.abs(run.q[-1][cranks] - right)))

    return [least(lambda each=each: one(*each)) for each in TOLERANCES]


def first_good(run: Callable[[float], Result], steps: Iterable[float]) -> list[Result]:
    """(processor seconds, error) of the steps down to the first that is good enough."""
    results: list[Result] = []
    for step in steps:
        results.append(run(step))
        if results[-1][1] <= ERROR:
            break
    return results


def mujoco_model(mujoco: Any, count: int, step: float) -> Any:
    """The couplers hang on the cranks before them and are connected with those behind them by equality constraints as
    hard as they can be at this step; Newton's solver, sparse where it finds that quicker, semi-implicit Euler."""
    spec, off = mujoco.MjSpec(), mujoco.mjtDisableBit
    option = spec.option
    option.gravity, option.timestep = [0.0, -loop_machines.GRAVITY, 0.0], step
    option.integrator, option.solver = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtSolver.mjSOL_NEWTON
    option.disableflags |= int(off.mjDSBL_CONTACT)
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    model = four_bars(count)
    placed: dict[str, Any] = {"world": spec.worldbody}
    bodies = {body.name: body for body in model.bodies}
    for joint in model.joints:
        if joint.child in placed:
            held = spec.add_equality(
                name=joint.name,
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1=joint.parent,
                name2=joint.child,
            )
            held.data[:3], held.solref, held.solimp = (
                joint.a.position,
                [2.0 * step, 1.0],
                [0.9999, 0.9999, 1e-3, 0.5, 2],
            )
            continue
        body = bodies[joint.child]
        inertia = [body.inertia.ixx, body.inertia.iyy, body.inertia.izz]
        placed[joint.child] = placed[joint.parent].add_body(
            name=joint.child,
            pos=joint.a.position,
            explicitinertial=True,
            mass=body.mass,
            ipos=body.center_of_mass,
            inertia=inertia,
        )
        placed[joint.child].add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
    return spec.compile()


def mujoco(count: int) -> list[Result]:
    """(processor seconds, error) with these steps."""
    import mujoco

    right, speeds = crank_angle(count, DURATION), falling(count)

    def run(step: float) -> Result:
        steps = math.ceil(DURATION / step)
        model = mujoco_model(mujoco, count, DURATION / steps)
        data = mujoco.MjData(model)
        places = {name: model.joint(name).dofadr[0] for name in speeds}

        def work() -> Result:
            mujoco.mj_resetData(model, data)
            for name, place in places.items():
                data.qvel[place] = speeds[name]
            began = time.process_time()
            mujoco.mj_step(model, data, steps)
            used = time.process_time() - began
            cranks = [data.qpos[place] for name, place in places.items() if name.startswith("A")]
            return used, float(np.max(np.abs(np.array(cranks) - right)))

        return least(work)

    return first_good(run, STEPS["MuJoCo"])


def exudyn_system(exudyn: Any, count: int) -> tuple[Any, list[int]]:
    """Planar rigid bodies and pins; the nodes of the cranks."""
    import exudyn.itemInterface as item

    mbs, model = exudyn.SystemContainer().AddSystem(), four_bars(count)
    objects, cranks = {"world": mbs.AddObject(item.ObjectGround())}, []
    centers: dict[str, Any] = {"world": np.zeros(3)}
    for body in model.bodies:
        centers[body.name] = np.array(body.center_of_mass, dtype=float)
        crank, number = body.name.startswith("crank"), int(body.name.lstrip("crankouple"))
        place = [number, 0.5, 0.0] if crank else [number - 0.5, 1.0, 0.0]
        node = mbs.AddNode(
            item.NodeRigidBody2D(
                referenceCoordinates=place, initialVelocities=[0.5, 0.0, -1.0] if crank else [1.0, 0.0, 0.0]
            )
        )
        cranks += [node] if crank else []
        objects[body.name] = mbs.AddObject(
            item.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=loop_machines.ROD, nodeNumber=node)
        )
        at = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=objects[body.name]))
        mbs.AddLoad(item.Force(markerNumber=at, loadVector=[0.0, -loop_machines.GRAVITY, 0.0]))
    for joint in model.joints:
        sides = [
            mbs.AddMarker(
                item.MarkerBodyPosition(
                    bodyNumber=objects[name], localPosition=list(np.array(pose.position, dtype=float) - centers[name])
                )
            )
            for name, pose in ((joint.parent, joint.a), (joint.child, joint.b))
        ]
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=sides))
    mbs.Assemble()
    return mbs, cranks


def exudyn(count: int) -> list[Result]:
    """(processor seconds, error) by its generalised-α with ρ∞ = 0.9 and its sparse solver."""
    import exudyn

    right = crank_angle(count, DURATION)

    def run(step: float) -> Result:
        settings = exudyn_settings(exudyn, DURATION, step)
        settings.linearSolverType = exudyn.LinearSolverType.EigenSparse

        def work() -> Result:
            mbs, cranks = exudyn_system(exudyn, count)
            began = time.process_time()
            mbs.SolveDynamic(settings)
            used = time.process_time() - began
            angles = [mbs.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)[2] for node in cranks]
            return used, float(np.max(np.abs(np.array(angles) - right)))

        return least(work)

    return first_good(run, STEPS["Exudyn"])


def waits(count: int) -> dict[str, float]:
    """Processor seconds to open a file, close the machine's loops at a pose that is not closed, and make a run of one
    sample with all that it needs: by iteration, then by closed forms. The integrator's own code is there already."""
    from core.files import load, save
    from core.mechanism import Mechanism
    from core.simulation import simulate

    small = Mechanism(four_bars(1))
    for closed_forms in (True, False):
        simulate(small, 1e-3, closed_forms=closed_forms)
    os.environ["KINETOSTAT_CACHE"] = ""
    found: dict[str, float] = {}

    def timed(what: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        found[what] = time.process_time() - began
        return result

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.kst"
        timed("save", lambda: save(four_bars(count), path))
        mech = timed("open", lambda: Mechanism(load(path)))
    guess = np.random.default_rng(0).normal(scale=1e-2, size=mech.nq)
    timed("assemble", lambda: mech.assemble(guess))
    timed("order of solution", lambda: mech.solution_order)
    for what, closed_forms in (("first run, iteration", False), ("first run, closed forms", True)):
        timed(what, lambda on=closed_forms: simulate(mech, 1e-3, v0=falling(count), closed_forms=on))
    timed("mobility", lambda: mech.mobility(mech.rest()))
    return found


def other(machine: str) -> dict[str, float]:
    """Processor seconds of a first run and of 1 s of motion at the default tolerances; how many loops there are."""
    from core.mechanism import Mechanism
    from core.simulation import simulate

    name, count = machine.split()
    mech = Mechanism(getattr(loop_machines, name)(int(count)))
    found: dict[str, float] = {"loops": len(mech.loops), "speeds": mech.nv}
    for what, closed_forms in (("closed forms", True), ("iteration", False)):
        began = time.process_time()
        simulate(mech, 1e-3, closed_forms=closed_forms)
        found[f"first run, {what}"] = time.process_time() - began
        found[what] = least(lambda on=closed_forms: (simulate(mech, DURATION, closed_forms=on).statistics.cpu, 0.0))[0]

    def evaluation() -> Result:
        end = 1e-3 * EVALUATIONS
        spent = simulate(mech, end, method="rk4", step=1e-3, output=end, closed_forms=False).statistics
        return spent.cpu / spent.evaluations, 0.0

    found["an evaluation by iteration"] = least(evaluation)[0]
    return found


def evaluations() -> dict[str, dict[str, float]]:
    """Nanoseconds of processor time for a loop and evaluation, the median of rounds in which all machines take turns:
    their equations as a table of blocks and, where that does not take long to compile, in one piece."""
    from core.constraints.closed_forms import closed_forms
    from core.mechanism import Mechanism

    os.environ["KINETOSTAT_CACHE"], os.environ["KINETOSTAT_THREADS"] = "", "1"
    timed = []
    for count in EVALUATED:
        mech, speeds = Mechanism(four_bars(count)), falling(count)
        v = np.array([speeds.get(name, 0.0) for name in mech.v_names])
        for what, longest in (("blocks", 0), ("one piece", 10**6)):
            if longest and count > ONE_PIECE:
                continue
            closed_forms.LONG = longest
            code = closed_forms.AnalyticClosure(mech.compiled.program.symbolic).reduction_code
            states = [np.tile(each, (20_000 // count, 1)) for each in (np.zeros(mech.nq), v)]
            out, p = np.empty((len(states[0]), code.size)), np.ascontiguousarray(mech.parameter_values())
            timed.append(
                (count, what, lambda code=code, of=(states, p, out): code.evaluate_batch(*of), count * len(out))
            )
    rounds: list[list[float]] = []
    for _ in range(ROUNDS):
        rounds.append([])
        for *_, work, loops in timed:
            began = time.process_time()
            for _ in range(REPEATED):
                work()
            rounds[-1].append(1e9 * (time.process_time() - began) / (REPEATED * loops))
    found: dict[str, dict[str, float]] = {"blocks": {}, "one piece": {}}
    for (count, what, *_), nanoseconds in zip(timed, np.median(rounds, axis=0), strict=True):
        found[what][f"N = {count}"] = float(nanoseconds)
    of = {(count, what): k for k, (count, what, *_) in enumerate(timed)}
    growth = [each[of[1000, "blocks"]] / each[of[100, "blocks"]] for each in rounds]
    return {**found, "blocks": {**found["blocks"], "N = 1000 over N = 100": float(np.median(growth))}}


PROGRAMS: dict[str, Callable[[int], Any]] = {
    "Kinetostat, closed forms": lambda count: ours(count, True),
    "Kinetostat, iteration": lambda count: ours(count, False),
    "MuJoCo": mujoco,
    "Exudyn, sparse": exudyn,
}


def child(what: str, of: str) -> Any:
    """Measure in a subprocess; a note where there is no result."""
    command = [sys.executable, "-m", "benchmarks.loops", "--child", what, of]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return f"more than {LONGEST} s" if done.returncode < 0 else last.rpartition("Error: ")[2]


def measure(what: str, of: str) -> Any:
    """In a process of its own."""
    if what == "waits":
        return waits(int(of))
    if what == "evaluation":
        return evaluations()
    return other(of) if what == "others" else PROGRAMS[what](int(of))


def quickest(found: Any) -> float:
    """Milliseconds at the wanted error; NaN where there are none, or fewer than the clock tells."""
    good = [seconds for seconds, error in found if error <= ERROR] if isinstance(found, list) else []
    return 1e3 * min(good, default=math.nan) or math.nan


def rows_of_four_bars(chosen: Callable[[str], bool]) -> list[str]:
    """The table of motion."""
    lines = [
        f"N four-bars, ms of processor time for {DURATION:g} s of motion at an error of {ERROR:g} rad; "
        f"growth: per loop, N = {MANY} over N = {FEW}.",
        "",
        "| program | " + " | ".join(f"N = {count}" for count in COUNTS) + " | growth |",
        "| --- |" + " ---: |" * (len(COUNTS) + 1),
    ]
    for name in filter(chosen, PROGRAMS):
        cells, per_loop = [], {}
        for count in COUNTS:
            found = child(name, str(count))
            milliseconds = quickest(found)
            per_loop[count] = milliseconds / count
            cells.append(_number(milliseconds) if isinstance(found, list) else str(found))
            print(name, count, found, file=sys.stderr, flush=True)
            if not isinstance(found, list):
                cells += ["–"] * (len(COUNTS) - len(cells))
                break
        growth = per_loop.get(MANY, math.nan) / per_loop.get(FEW, math.nan)
        lines.append(f"| {name} | {' | '.join(cells)} | {_number(growth)} |")
    return [*lines, ""]


def table(title: str, what: str, machines: Iterable[str]) -> list[str]:
    """Numbers by machine, with a column for each that any of them has."""
    return _table(title, {machine: child(what, machine) for machine in machines})


def _table(title: str, found: dict[str, Any]) -> list[str]:
    columns = list(dict.fromkeys(name for row in found.values() if isinstance(row, dict) for name in row))
    lines = [title, "", "| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for machine, row in found.items():
        own = row if isinstance(row, dict) else dict.fromkeys(columns[:1], str(row))
        cells = (own.get(name, math.nan) for name in columns)
        lines.append(f"| {machine.replace('_', ' ')} | {' | '.join(map(_number, cells))} |")
    return [*lines, ""]


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "–" if math.isnan(value) else f"{value:.3g}"


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(*sys.argv[2:4])))
        return
    words = [word for word in sys.argv[1:] if not word.startswith("-")]

    def chosen(name: str) -> bool:
        return not words or any(word in name for word in words)

    lines = rows_of_four_bars(chosen) if any(map(chosen, PROGRAMS)) else []
    if chosen("waits"):
        lines += table("N four-bars, seconds of processor time before motion.", "waits", map(str, COUNTS[1:]))
    if chosen("others"):
        title = f"Seconds of processor time: the first run, and {DURATION:g} s of motion at the default tolerances."
        lines += table(title, "others", OTHERS)
    if chosen("evaluation"):
        lines += _table("One evaluation by closed forms, ns of processor time for each loop.", child("evaluation", ""))
    tell("Many loops", "loops", lines)


if __name__ == "__main__":
    main()
