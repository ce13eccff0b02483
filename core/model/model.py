"""The document: one immutable value that contains the user's description of the machine.

Expanded, its chains become bodies, joints and frames; sub-assemblies their elements; joints given in world axes are
converted to the frames of bodies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from core.errors import ModelError, find_likely_names, suggest_names
from core.joints import JOINT_KINDS, Free, JointKind
from core.kinds import explain_unknown_kind, find_user_defined_kinds
from core.later import dataclass
from core.model.aims import Aim
from core.model.assemblies import BROUGHT, SubAssembly
from core.model.bodies import WORLD, Body, Frame, World
from core.model.chains import DHChain, expand_chain
from core.model.constraints import CONSTRAINT_KINDS, Constraint, Driver
from core.model.fields import (
    Element,
    FormulaKind,
    FormulaVectorKind,
    ReferenceKind,
    ScalarKind,
    VectorKind,
    declared_fields,
    nested_elements,
    part,
    parts,
    text,
)
from core.model.forces import FORCE_KINDS, Force, Junction
from core.model.formula.expression import names_in_formula as names_in
from core.model.formula.expression import parse
from core.model.formula.formula_fields import list_formulas
from core.model.joints import Joint
from core.model.motions import Motion, StoredPose, Target
from core.model.parameters import Parameter, parameter_values
from core.model.reference_pose import Carrier, Placement, compute_placements
from core.model.sensors import SENSOR_KINDS, Sensor
from core.model.shapes import IDENTITY, Material
from core.model.signal_elements import BLOCK_KINDS, Signal
from core.model.signal_laws import SignalTable
from core.model.signals import TIME, component_name, is_mass_entry
from core.model.study_plans import StudyPlan
from core.model.trims import Trim
from core.model.validation.circular_references import find_cycles


def expand_model(model: Model) -> Model:
    """Return the machine with chains, sub-assemblies and joints given in world axes expanded (the model itself if it
    has none).

    The result is checked through the model it is made of, not once more. What sub-assemblies bring is remembered with
    each of them, so that a change of a parameter costs little.
    """
    given = [joint for joint in model.joints if joint.given_in != "frames"]
    if not model.chains and not model.assemblies and not given:
        return model
    whole: dict[str, list[Any]] = {collection: list(getattr(model, collection)) for collection in BROUGHT}
    for chain in model.chains:
        for collection, brought in zip(("bodies", "joints", "frames"), expand_chain(chain), strict=True):
            whole[collection] += brought
    for assembly in model.assemblies:
        for collection, elements in assembly.added_elements.items():
            whole[collection] += elements
    if given:
        bodies, frames = ({e.name: e for e in whole[collection]} for collection in ("bodies", "frames"))
        from core.model.reference_pose import joint_in_body_frames  # needs NumPy, which most models do without

        whole["joints"] = [joint_in_body_frames(joint, bodies, frames) for joint in whole["joints"]]
    whole["joints"] += _free_joints_of_mounted_bodies(model, whole)
    plain = object.__new__(type(model))
    for field in dataclasses.fields(model):
        object.__setattr__(plain, field.name, getattr(model, field.name))
    for collection, members in whole.items():
        object.__setattr__(plain, collection, tuple(members))
    object.__setattr__(plain, "chains", ())
    object.__setattr__(plain, "assemblies", ())
    return plain


def _free_joints_of_mounted_bodies(model: Model, collections: dict[str, list[Any]]) -> list[Joint]:
    """Return free joints for floating bodies of sub-assemblies that are not mounted on the ground, so that they start
    at the mount."""
    away = [a for a in model.assemblies if a.parent not in ("", WORLD) or a.pose != IDENTITY]
    if not away:
        return []
    groups = _ConnectedGroups(collections)
    taken = {joint.name for joint in collections["joints"]}
    children = {joint.child for joint in collections["joints"]}
    joints = []
    for assembly in away:
        bodies = [body.name for body in assembly.added_elements.get("bodies", ())]
        for name in [*(b for b in bodies if b not in children), *bodies]:
            if groups.find_representative(name) != groups.find_representative(WORLD) and name not in taken:
                joints.append(Joint(name=name, kind=Free.name, parent=assembly.ground, child=name))
                groups.merge(WORLD, name)
    return joints


class _ConnectedGroups:
    """Groups of connected bodies and frames (union–find)."""

    def __init__(self, collections: dict[str, list[Any]]) -> None:
        self.leader: dict[str, str] = {}
        for frame in collections["frames"]:
            self.merge(frame.parent, frame.name)
        for joint in collections["joints"]:
            self.merge(joint.parent, joint.child)

    def find_representative(self, name: str) -> str:
        """Return the representative of the group that contains a body or frame."""
        while (leader := self.leader.get(name, name)) != name:
            self.leader[name] = name = self.leader.get(leader, leader)
        return name

    def merge(self, a: str, b: str) -> None:
        """Merge the groups of two bodies or frames."""
        self.leader[self.find_representative(a)] = self.find_representative(b)


FAMILIES: dict[str, tuple[str, Collection[str]]] = {
    "joints": ("joint", JOINT_KINDS),
    "sensors": ("sensor", SENSOR_KINDS),
    "forces": ("force", FORCE_KINDS),
    "constraints": ("constraint", CONSTRAINT_KINDS),
    "signals": ("signal", BLOCK_KINDS),
}
"""Collection → noun of its kinds, and the known kinds."""


def elements_of_unknown_kind(model: Element) -> Iterator[tuple[str, Any]]:
    """Yield (collection, element) of elements whose kind is unknown."""
    for collection, (_, known) in FAMILIES.items():
        yield from ((collection, each) for each in getattr(model, collection) if each.kind not in known)


def unknown_kind_reason(collection: str, element: Any) -> tuple[str, str]:
    """Return the reason why the kind of an element is unknown, and the remedy."""
    family, known = FAMILIES[collection]
    return explain_unknown_kind(family, element.kind, known)


def unknown_kind_error(model: Element) -> ModelError | None:
    """Return the error for the first element of unknown kind; None if all kinds are known."""
    for collection, element in elements_of_unknown_kind(model):
        what, remedy = unknown_kind_reason(collection, element)
        return ModelError(what, where=f"{FAMILIES[collection][0]} '{element.name}', kind", remedy=remedy)
    return None


def check_kinds_known(model: Element) -> None:
    """Raise ModelError naming the first element of unknown kind."""
    if (error := unknown_kind_error(model)) is not None:
        raise error


def used_user_kinds(model: Element) -> tuple[type[Any], ...]:
    """Return the user-defined kinds used by an expanded model."""
    named = ((family, e.kind) for collection, (family, _) in FAMILIES.items() for e in getattr(model, collection))
    return tuple(find_user_defined_kinds(named).values())


@dataclass(frozen=True, kw_only=True)
class Annotation(Element):
    """Content of a file that is kept without being interpreted (an unknown URDF tag, for example)."""

    where: str = text("Kind and name of the element it belongs to, e.g. 'link gripper'")
    content: str = text("Text as written in the file")


class _Collection(NamedTuple):
    """A list of elements of a model. word : noun for one element in messages and menus; namespace : where names must be
    unique; asks : True if the elements are tasks about the machine and not part of it"""

    element: type[Element]
    word: str
    namespace: str
    asks: bool = False


_TABLE = {
    "parameters": _Collection(Parameter, "parameter", "parameter"),
    "materials": _Collection(Material, "material", "material"),
    "bodies": _Collection(Body, "body", "frame"),
    "frames": _Collection(Frame, "frame", "frame"),
    "joints": _Collection(Joint, "joint", "joint"),
    "chains": _Collection(DHChain, "chain", "chain"),
    "assemblies": _Collection(SubAssembly, "assembly", "assembly"),
    "junctions": _Collection(Junction, "junction", "frame"),
    "sensors": _Collection(Sensor, "sensor", "sensor"),
    "forces": _Collection(Force, "force", "force"),
    "constraints": _Collection(Constraint, "constraint", "force"),
    "drivers": _Collection(Driver, "driver", "force"),
    "signals": _Collection(Signal, "signal", "signal"),
    "poses": _Collection(StoredPose, "pose", "place", asks=True),
    "targets": _Collection(Target, "target", "place", asks=True),
    "motions": _Collection(Motion, "motion", "motion", asks=True),
    "operating_points": _Collection(Trim, "operating point", "operating_point", asks=True),
    "studies": _Collection(StudyPlan, "study", "study", asks=True),
    "designs": _Collection(Aim, "design", "design", asks=True),
}
"""Collections in the order of files and trees. Bodies, frames and junctions share one namespace, as do all elements
that exert forces."""

COLLECTIONS: dict[str, type[Element]] = {name: each.element for name, each in _TABLE.items()}
"""Collections of a model, in the order of files and trees, with their element types."""

WORDS = {name: each.word for name, each in _TABLE.items()}
"""Noun for one element of a collection, in messages and menus."""

NAMESPACES = {name: each.namespace for name, each in _TABLE.items()}
"""Collections that share a namespace."""

QUESTIONS = tuple(name for name, each in _TABLE.items() if each.asks)
"""Collections of tasks about the machine, which belong to the document but not to the machine."""
FOLLOWED = ("poses", "targets", "motions")
"""Those that belong to a machine whose controllers follow motions."""


@dataclass(frozen=True, kw_only=True)
class Model(Element):
    """A machine. Edits are functions Model → Model (core.model.edits.edits)."""

    name: str = text("Title", "model")
    description: str = text("Notes")
    world: World = part(World, "Surroundings", World())
    parameters: tuple[Parameter, ...] = parts(Parameter, "Named numbers")
    materials: tuple[Material, ...] = parts(Material, "Named colours")
    bodies: tuple[Body, ...] = parts(Body, "Rigid bodies")
    frames: tuple[Frame, ...] = parts(Frame, "Named frames")
    joints: tuple[Joint, ...] = parts(Joint, "Joints")
    chains: tuple[DHChain, ...] = parts(DHChain, "Denavit–Hartenberg chains")
    assemblies: tuple[SubAssembly, ...] = parts(SubAssembly, "Machines from other files")
    junctions: tuple[Junction, ...] = parts(Junction, "Massless points at which line forces meet")
    sensors: tuple[Sensor, ...] = parts(Sensor, "Sensors")
    forces: tuple[Force, ...] = parts(Force, "Force elements")
    constraints: tuple[Constraint, ...] = parts(Constraint, "Sensors kept constant and coupled joints")
    drivers: tuple[Driver, ...] = parts(Driver, "Motions given as functions of time")
    signals: tuple[Signal, ...] = parts(Signal, "Signals, and controllers of joints")
    poses: tuple[StoredPose, ...] = parts(StoredPose, "Stored poses")
    targets: tuple[Target, ...] = parts(Target, "Targets of a tool")
    motions: tuple[Motion, ...] = parts(Motion, "Planned motions")
    operating_points: tuple[Trim, ...] = parts(Trim, "Operating points to be found")
    studies: tuple[StudyPlan, ...] = parts(StudyPlan, "Studies with varied numbers")
    designs: tuple[Aim, ...] = parts(Aim, "Design tasks")
    annotations: tuple[Annotation, ...] = parts(Annotation, "Kept from the file, not interpreted")
    origin: str = dataclasses.field(default="", compare=False)
    """Path of the file the model was read from (mesh files are looked up relative to it); not saved."""
    left_out: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    """Sentences about content of the file that its reader did not support; not saved."""

    def validate(self) -> None:
        """Check for unique names, existing references, known names in every expression, and no cycles. Raises
        ModelError."""
        expanded = self.expanded
        for namespace in dict.fromkeys(NAMESPACES.values()):
            _check_unique(self if namespace in ("chain", "assembly") else expanded, namespace)
        known = {
            target: frozenset(expanded.index(target))
            for target in ("joint", "material", "sensor", "force", "place", "motion", "parameter")
        }
        known["point"] = frozenset(expanded.index("frame"))
        known["frame"] = known["point"] - {junction.name for junction in expanded.junctions}
        unknown = frozenset(element.name for _, element in elements_of_unknown_kind(expanded))
        names = FormulaNames(frozenset(expanded.index("parameter")), signal_names(expanded), unknown)
        for assembly in self.assemblies:  # before the values, so that a wrong name is told where it stands
            _check_element(assembly, "assemblies", known, names)
        _check_mounting(self.assemblies)
        expanded.values()
        for collection, element in self.elements():
            _check_element(element, collection, known, names)
        for _ in nested_elements(self.world):
            _check_element(_, "world", known, names)
        _check_frame_cycles(expanded.frames)
        if expanded.signals and not any(
            collection == "signals" for collection, _ in elements_of_unknown_kind(expanded)
        ):
            expanded.signal_table.check()

    def __repr__(self) -> str:
        """Return one line for consoles: the name and the number of elements of each collection."""
        counts = [f"{len(getattr(self, each))} {each.replace('_', ' ')}" for each in COLLECTIONS if getattr(self, each)]
        return f"Model({', '.join([repr(self.name), *counts])})"

    # ------------------------------------------------------------------------------- look-ups

    def elements(self) -> Iterator[tuple[str, Any]]:
        """Yield (collection, element) of all named elements, in the order of files and trees."""
        for collection in COLLECTIONS:
            for element in getattr(self, collection):
                yield collection, element

    def find(self, collection: str, name: str) -> Any:
        """Return the element with this name. Raises ModelError that suggests similar names."""
        if collection not in COLLECTIONS:
            raise ModelError(f"A model has no {collection!r}.", remedy=suggest_names(str(collection), COLLECTIONS))
        for element in getattr(self, collection):
            if element.name == name:
                return element
        if (owner := containing_assembly(self, name)) is not None:
            raise ModelError(
                f"'{name}' belongs to the sub-assembly '{owner.name}'.", remedy=f"Change it in its file, {owner.file}."
            )
        remedy = suggest_names(str(name), [element.name for element in getattr(self, collection)])
        raise ModelError(f"There is no {WORDS[collection]} '{name}'.", remedy=remedy)

    def body(self, name: str) -> Body:
        """Return the body with this name, including bodies of chains."""
        return self.expanded.find("bodies", name)

    def joint(self, name: str) -> Joint:
        """Return the joint with this name, including joints of chains."""
        return self.expanded.find("joints", name)

    def chain(self, name: str) -> DHChain:
        """Return the chain with this name."""
        return self.find("chains", name)

    def values(self, given: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the value of every parameter, including those of sub-assemblies, with those in `given` replaced."""
        return parameter_values(self.expanded.parameters, given)

    @cached_property
    def machine(self) -> Model:
        """Return the model without its tasks; two models describe the same machine if these are equal."""
        if not any(getattr(self, name) for name in QUESTIONS):
            return self
        asked = [name for name in QUESTIONS if not (self.signals and self.motions and name in FOLLOWED)]
        bare: Model = object.__new__(Model)  # nothing names a question: what is left is as valid as all was
        for field in dataclasses.fields(Model):
            object.__setattr__(bare, field.name, () if field.name in asked else getattr(self, field.name))
        return bare

    @cached_property
    def expanded(self) -> Model:
        """Return the same machine with chains and sub-assemblies expanded into bodies, joints, frames …"""
        return expand_model(self)

    @cached_property
    def signal_table(self) -> SignalTable:
        """Return the formulas of the signals of an expanded model. Raises ModelError for an algebraic loop."""
        table = SignalTable(self)
        table.check()
        return table

    @cached_property
    def placements(self) -> dict[str, Placement]:
        """Return name → placement on its carrier, for the ground, every body, frame and junction, including those of
        chains."""
        plain = self.expanded
        return compute_placements(plain.world, (*plain.bodies, *plain.junctions), plain.frames)

    def placement(self, name: str) -> Placement:
        """Return the carrier of a body, frame or junction, and the frames between them; the empty name is the
        ground."""
        if (found := self.placements.get(name or WORLD)) is None:
            raise ModelError(
                f"There is no body, frame or junction '{name}'.", remedy=suggest_names(name, list(self.placements))
            )
        return found

    def carrier(self, name: str) -> Carrier:
        """Return the body, ground or junction that carries a named element (the element itself, unless it is a
        frame)."""
        return self.placement(name).carrier

    def index(self, namespace: str) -> dict[str, Element]:
        """Return name → element of a namespace ("frame": bodies and frames; "joint", "parameter", "material",
        "chain")."""
        found: dict[str, Element] = {}
        for collection, space in NAMESPACES.items():
            if space == namespace:
                found.update((element.name, element) for element in getattr(self, collection))
        return found


def containing_assembly(model: Model, name: str) -> SubAssembly | None:
    """Return the sub-assembly that contains a named element (`leg1` for `leg1.knee`); None if there is none."""
    return next((each for each in model.assemblies if name.startswith(f"{each.name}.")), None)


def _check_unique(model: Model, namespace: str) -> None:
    seen = {WORLD} if namespace == "frame" else set()
    for collection, space in NAMESPACES.items():
        if space != namespace:
            continue
        for element in getattr(model, collection):
            if element.name in seen:
                what = "is the name of the ground" if element.name == WORLD else "is used twice"
                raise ModelError(
                    f"The name '{element.name}' {what}.",
                    where=f"{WORDS[collection]} '{element.name}'",
                    remedy="Give each element its own name.",
                )
            seen.add(element.name)


class FormulaNames(NamedTuple):
    """Names that a formula may use: parameters and, if it may depend on time and state, signals."""

    parameters: frozenset[str]
    signals: frozenset[str]
    unknown: frozenset[str] = frozenset()
    """Elements of unknown kinds, whose names in formulas cannot be checked."""

    def of(self, kind: ScalarKind | VectorKind) -> frozenset[str]:
        """Return the names that formulas in a field of this kind may use."""
        if isinstance(kind, FormulaVectorKind):
            return self.parameters | self.signals
        if isinstance(kind, FormulaKind):
            return self.parameters | (self.signals | set(kind.own) if kind.states else frozenset(TIME))
        return self.parameters

    def unknown_names(
        self, kind: ScalarKind | VectorKind, formula: str, local_names: frozenset[str] = frozenset()
    ) -> list[str]:
        """Return the unknown names in a formula of such a field; `local_names` are defined by its element."""
        missing = names_in(parse(formula)) - self.of(kind)
        if isinstance(kind, FormulaKind) and kind.states:
            missing = frozenset(name for name in missing - local_names if not is_mass_entry(name))
        return sorted(name for name in missing if not any(f"{name}.".startswith(f"{each}.") for each in self.unknown))


def _check_element(
    element: Element, collection: str, known_names: Mapping[str, frozenset[str]], names: FormulaNames
) -> None:
    title = f"{WORDS.get(collection, collection)} '{getattr(element, 'name', '')}'".replace(" ''", "")
    local_names: frozenset[str] = getattr(element, "local_names", frozenset())
    for inner in nested_elements(element):
        for field in declared_fields(type(inner)):
            if isinstance(field.kind, ReferenceKind):
                value = getattr(inner, field.name)
                ground = () if field.kind.target in ("place", "motion", "parameter") else (WORLD,)
                if value and value not in known_names[field.kind.target] and value not in ground:
                    raise ModelError(
                        f"There is no {_target_noun(field.kind.target)} '{value}'.",
                        where=f"{title}, {field.name}",
                        remedy=_unknown_name_remedy(
                            value, [*known_names[field.kind.target], *ground], "Name an existing one or add it first."
                        ),
                    )
        for found in list_formulas(inner):
            for used in names.unknown_names(found.kind, found.text, local_names):
                raise ModelError(
                    f"The name '{used}' is not defined (in '{found.text}').",
                    where=f"{title}, {found.field.name}",
                    remedy=_unknown_name_remedy(
                        used, names.of(found.kind), "Define a parameter of this name or correct the formula."
                    ),
                )


def _unknown_name_remedy(name: str, known_names: Collection[str], default: str) -> str:
    """Return the remedy for an unknown name in a field or formula."""
    inside = [each for each in known_names if each.startswith(f"{name.partition('.')[0]}.")]
    return (
        suggest_names(name, sorted(inside or known_names))
        if inside or find_likely_names(name, known_names)
        else default
    )


def _target_noun(target: str) -> str:
    return {
        "frame": "body or frame",
        "point": "body, frame or junction",
        "force": "force element",
        "place": "pose or target",
    }.get(target, target)


def _check_mounting(assemblies: tuple[SubAssembly, ...]) -> None:
    """Raise ModelError if a sub-assembly is mounted on itself, directly or through others."""
    owners = {a.name: next((b.name for b in assemblies if a.parent.startswith(f"{b.name}.")), "") for a in assemblies}
    for circle in find_cycles(owners):
        raise ModelError(
            f"The sub-assemblies are mounted on each other in a cycle: {' → '.join(circle)}.",
            where=f"assembly '{circle[0]}', parent",
            remedy="Put one of them on the ground or on a body of this machine.",
        )


def _check_frame_cycles(frames: tuple[Frame, ...]) -> None:
    for circle in find_cycles({frame.name: frame.parent for frame in frames}):
        raise ModelError(
            f"The frames are attached to each other in a cycle: {' → '.join(circle)}.",
            where=f"frame '{circle[0]}', parent",
            remedy="Fix one of them to a body.",
        )


def require_model(value: object) -> Model:
    """Return the argument if it is a model; raise ModelError otherwise."""
    if not isinstance(value, Model):
        raise ModelError(f"A model is needed, not {type(value).__name__}.", remedy="Read one with load(path).")
    return value


def signal_names(model: Model) -> frozenset[str]:
    """Return all names that formulas of an expanded model may use, besides parameters and the element's own names."""
    names = set(TIME)
    children = {joint.child for joint in model.joints}
    kinds: list[tuple[str, type[JointKind]]] = [(joint.name, joint.info) for joint in model.joints]
    kinds += [(body.name, Free) for body in model.bodies if body.name not in children]
    for joint, kind in kinds:
        coordinates = [component_name(joint, suffix) for suffix in kind.coordinates]
        speeds = [component_name(joint, suffix) for suffix in kind.speeds]
        names.update(coordinates, (f"{name}.q" for name in coordinates), (f"{name}.v" for name in speeds))
    for sensor in model.sensors:
        values = [component_name(sensor.name, suffix) for suffix in sensor.info.components]
        names.update(values, (f"{name}.rate" for name in values))
    return frozenset(names) | _names_for_controllers(model, kinds)


def _names_for_controllers(model: Model, kinds: Iterable[tuple[str, type[JointKind]]]) -> set[str]:
    """Return the names of signals, of their states, of the coordinates of motions, and of gravity forces."""
    speeds = [component_name(joint, suffix) for joint, kind in kinds for suffix in kind.speeds]
    names = {f"gravity.{speed}" for speed in speeds}
    for signal in model.signals:
        names.update(signal.value_names, (f"{signal.name}.{state}" for state in signal.info.state_names(signal)))
    for motion in model.motions:
        names.update(f"{motion.name}.{speed}.{what}" for speed in speeds for what in ("q", "v", "a"))
    return names
