"""Kinds of people: registered, brought by packages, handed to other processes; and those that nobody knows."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import pytest
import sympy

import kinetostat as ks
from core import kinds
from core.joints import JOINT_KINDS, Prismatic, Revolute
from core.joints.kind import JointKind
from core.kinds import Kinds
from core.model import fields
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import about_x
from core.numerics.spatial.vector import ZERO
from tests.joints.made_up_kinds import Cam, Parabola, PinInSlot

SOURCE = """
from tests.joints.made_up_kinds import Parabola

class Packaged(Parabola):
    name, title = "packaged", "Packaged"
"""


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    monkeypatch.setattr(kinds, "_sought", {})
    monkeypatch.setattr(fields, "_named_by_files", set())


def machine(kind: str) -> ks.Model:
    joint = ks.Joint(name="j", kind=kind, parent="world", child="b")
    return ks.Model(bodies=(ks.Body(name="b", mass=1.0),), joints=(joint,))


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, source: str) -> None:
    """A package as installers leave it: its module, and what is written of it."""
    (folder / "own_package.py").write_text(source)
    info = folder / "own_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kinetostat.kinds]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "own_package", raising=False)


def test_a_registered_kind_is_one_that_documents_name() -> None:
    assert ks.register(Parabola) is Parabola
    model = ks.loads(ks.dumps(machine("parabola")))
    assert model.joint("j").info is Parabola
    assert ks.Mechanism(model).nq == 1
    assert not [finding for finding in ks.check(model) if finding.severity == "error"]


def test_a_kind_that_is_made_anew_takes_its_own_place_and_its_machines_move_by_it() -> None:
    """As a script does that is run again; another class of the name is refused."""

    def made(scale: float) -> type[JointKind]:
        class Scaled(Prismatic):
            name = "scaled"

            def pose(self, q):  # type: ignore[no-untyped-def]
                return super().pose([scale * q[0]])

            def subspace(self, q):  # type: ignore[no-untyped-def]
                return tuple(column.scaled(scale) for column in super().subspace(q))

            def measure(self, X_ab):  # type: ignore[no-untyped-def]
                values, wrenches = super().measure(X_ab)
                return Measured((values[0] / scale,), wrenches)

        return Scaled

    for scale in (2.0, 3.0):
        kind = ks.register(made(scale))
        assert JOINT_KINDS["scaled"] is kind
        assert ks.Mechanism(machine("scaled")).frame([0.1], "b")[2][3] == pytest.approx(0.1 * scale)

    class Scaled(Revolute):
        name = "scaled"

    with pytest.raises(ks.KinetostatError, match="two kinds of joint called 'scaled'"):
        ks.register(Scaled)


def test_what_is_wrong_with_a_kind_is_told_with_its_name() -> None:
    class Silent(JointKind):
        name, title, help, uses = "silent", "Silent", "Nothing.", ()
        coordinates, coordinate_dimensions, counts_turns = (), (), False

    class Askew(Revolute):
        name = "askew"

        def pose(self, q):  # type: ignore[no-untyped-def]
            return Pose(about_x(0.1) @ super().pose(q).rotation, ZERO)

    class Deformed(Revolute):
        name = "deformed"

        def pose(self, q):  # type: ignore[no-untyped-def]
            X = super().pose(q)
            return X._replace(rotation=X.rotation._replace(x=X.rotation.x.scaled(1.0 + q[0])))

    class Lame(Revolute):
        name = "lame"

        def subspace(self, q):  # type: ignore[no-untyped-def]
            return tuple(column.scaled(q[0] * 0.0) for column in super().subspace(q))

    for kind, said in (
        (Silent, "Silent lacks bias, measure, pose, residual, subspace"),
        (Askew, "'askew' is refused: at its neutral coordinates 0 frame b does not coincide"),
        (Deformed, "'deformed' is refused: its pose at q = .* contains no valid rotation matrix"),
        (Lame, "'lame' is refused: its 1 speeds at q = .* give zero or linearly dependent motions"),
        (int, "not a kind of any family.*JointKind"),
    ):
        with pytest.raises(ks.KinetostatError, match=said):
            ks.register(kind)
        assert getattr(kind, "name", "") not in JOINT_KINDS


def test_a_package_brings_a_kind_when_a_document_names_it_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "packaged", "own_package:Packaged", SOURCE)
    assert ks.Mechanism(machine("revolute")).nq == 1
    assert "own_package" not in sys.modules
    assert ks.Mechanism(machine("packaged")).nq == 1
    assert JOINT_KINDS["packaged"].__module__ == "own_package"


@pytest.mark.parametrize(
    ("value", "source", "said"),
    [
        ("own_package:Packaged", "raise RuntimeError('out of paint')", "RuntimeError: out of paint"),
        ("own_package:Other", SOURCE, "AttributeError"),
        ("own_package:Packaged", SOURCE + "    def pose(self, q): return None\n", "member 'pose' fails"),
        ("own_package:Packaged", SOURCE.replace('"packaged"', '"boxed"'), "but provides 'boxed'"),
    ],
)
def test_a_broken_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, source: str, said: str
) -> None:
    install(tmp_path, monkeypatch, "packaged", value, source)
    with pytest.raises(ks.ModelError, match="own-package"):
        machine("packaged")
    model = ks.loads(ks.dumps(machine("revolute")).replace("parent:", "kind: packaged\n    parent:", 1))
    (error,) = [finding for finding in ks.check(model) if finding.severity == "error"]
    assert "own-package" in error.text
    assert said in error.text
    with pytest.raises(ks.ModelError, match="own-package"):
        ks.Mechanism(model)


def test_a_kind_that_no_other_process_can_import_is_refused_there_with_the_remedy() -> None:
    class Local(Parabola):
        name = "local"

    assert kinds.check_importable_kinds([Parabola]) == (Parabola,)
    with pytest.raises(ks.KinetostatError, match=r"'local' was defined in the console.*into a separate module"):
        kinds.check_importable_kinds([Local])


def test_families_that_are_not_open_take_no_kinds_of_people() -> None:
    class Wheel(ABC):
        name: ClassVar[str]

        @abstractmethod
        def turns(self) -> float: ...

    class Castor(Wheel):
        name = "castor"

        def turns(self) -> float:
            return 2.0

    Kinds("wheel", Wheel)  # type: ignore[type-abstract]
    with pytest.raises(ks.KinetostatError, match="not a kind of any family"):
        ks.register(Castor)


UNKNOWN = """kinetostat: {version}
name: model

bodies:
  arm:
    mass: 1
  slider:
    mass: 1

joints:
  hinge:
    parent: world
    child: arm
  slot:
    kind: pin_in_slat
    parent: arm
    child: slider
    second_axis: [1, 0, 0]
    limits:
      - {{lower: -1, upper: 1}}
      - {{lower: -0.3, upper: 0.3}}
    rest: [0.1, 0.2]

sensors:
  smell: {{kind: nose, b: slider}}

forces:
  glue: {{kind: sticky, b: slider, stiffness: 7, law: smell + slot.angle}}

constraints:
  curve: {{kind: clothoid, a: arm, b: slider, length: 0.3}}
"""


def test_a_file_that_names_unknown_kinds_opens_and_is_written_as_it_was() -> None:
    text = UNKNOWN.format(version=ks.dumps(ks.Model()).split("\n")[0].split()[-1])
    model = ks.loads(text)
    assert ks.dumps(model) == text
    errors = {(f.collection, f.name): f for f in ks.check(model) if f.severity == "error"}
    assert set(errors) == {("joints", "slot"), ("sensors", "smell"), ("forces", "glue"), ("constraints", "curve")}
    for finding in errors.values():
        assert finding.field == "kind"
        assert finding.remedy.startswith("Install the package that provides it, or register it")
    with pytest.raises(ks.ModelError, match="joint 'slot', kind: There is no kind of joint called 'pin_in_slat'"):
        ks.Mechanism(model)
    with pytest.raises(ks.ModelError, match="slot"):
        ks.call("mobility", model)
    with pytest.raises(ks.ModelError, match="slot"):
        ks.simulate(model, 0.1)
    with pytest.raises(ks.ModelError, match="slot"):
        ks.symbolic.robot(model)
    assert ks.edits.change(model, "joints", "slot", description="kept").joint("slot").rest == (0.1, 0.2)
    renamed = ks.edits.rename(ks.edits.rename(model, "joints", "slot", "groove"), "sensors", "smell", "odour")
    assert renamed.forces[0].law == "odour + groove.angle"
    assert not ks.edits.remove(model, "sensors", "smell").forces


def test_a_script_that_misspells_a_kind_is_told_at_once() -> None:
    for make in (
        lambda: ks.Joint(name="j", kind="hinge", parent="world", child="b"),
        lambda: ks.Sensor(name="s", kind="hinge", b="b"),
        lambda: ks.Force(name="f", kind="hinge", b="b"),
        lambda: ks.Constraint(name="c", kind="hinge", b="b"),
    ):
        with pytest.raises(ks.ModelError, match="'hinge' is not one of"):
            make()


def test_derived_motion_is_exact_in_symbols() -> None:
    """T = ½ m (ṡ² + s² φ̇²) + ½ J φ̇² of a body that a pin holds by a slot at its centre of mass."""
    ks.register(PinInSlot)
    joint = ks.Joint(name="j", kind="pin_in_slot", parent="world", child="b", second_axis=(0.0, 1.0, 0.0))
    body = ks.Body(name="b", mass=2.0, inertia=ks.Inertia(ixx=0.01, iyy=0.01, izz=0.01))
    robot = ks.symbolic.robot(ks.Model(bodies=(body,), joints=(joint,)))
    slide = robot.q[1]
    M = sympy.Matrix([[2 * slide**2 + sympy.Rational(1, 100), 0], [0, 2]])
    assert (robot.M - M).expand() == sympy.zeros(2, 2)


def test_what_has_no_exact_form_is_refused_by_name() -> None:
    ks.register(Cam)
    with pytest.raises(ks.ModelError, match="'sqrt' of a symbol cannot be written as a polynomial"):
        _ = ks.symbolic.robot(machine("cam")).M


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        ("urdf", "joint 'j': URDF has no pin_in_slot joint"),
        ("rob", "can only contain one DH chain"),
        ("csv", "can only contain one DH chain"),
        ("toml", "can only contain one DH chain"),
    ],
)
def test_other_formats_refuse_it_by_name(tmp_path: Path, suffix: str, said: str) -> None:
    ks.register(PinInSlot)
    with pytest.raises(ks.FileError, match=said):
        ks.save(machine("pin_in_slot"), tmp_path / f"machine.{suffix}")
    assert not list(tmp_path.iterdir())
