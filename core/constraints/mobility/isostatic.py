"""Proposals to release redundant constraints without changing the motion.

Releasing constraints C of a machine with k self-stresses S (components, k) makes it isostatic without a new freedom
exactly if C has k members and S[C] is regular. Joints are exchanged for kinds with fewer constraints, as their kinds
propose: few exchanges first, then kinds that workshops have; what no exchange reaches is released direction by
direction.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.self_stress import Component, Dependence, SelfStresses
from core.joints import JOINT_KINDS, JointKind
from core.later import dataclass
from core.numerics.matrix_forms import is_sparse, to_dense
from core.numerics.rank import connected_row_groups

Array = NDArray[np.float64]
Kinds = Mapping[str, type[JointKind]]
"""Joint → its kind."""

REGULAR = 1e-4
"""Smallest singular value (of orthonormal self-stresses) at which a release is effective."""
ITERATIONS = 6
"""Number of power iterations for the largest singular value of many self-stresses."""
MOST_TRIALS = 4000
"""Number of combinations of joint replacements tried before constraints are released individually."""


@dataclass(frozen=True)
class Release:
    """One change: a joint replaced by another kind, or constraints removed. `components` are indices into those of the
    self-stresses."""

    joint: str
    kind: str
    components: tuple[int, ...]
    text: str
    directions: tuple[tuple[float, float, float], ...] = ()
    """World directions of the components."""
    freed: str = ""
    """Description of the single direction released in a joint."""
    motions: tuple[str, ...] = ()
    """"translation" or "rotation", for each component."""
    element: tuple[str, str] = ("", "")
    """(collection, name) of an element that is removed as a whole."""

    def of(self, indices: Sequence[int] | NDArray[np.int64]) -> Release:
        """Return the release with its component indices, which refer to a subset, replaced by those of all
        components."""
        return dataclasses.replace(self, components=tuple(int(indices[i]) for i in self.components))


def propose_releases(
    stresses: SelfStresses, circuits: Sequence[Dependence], kinds: Kinds, released_last: Sequence[int]
) -> tuple[Release, ...]:
    """Find the simplest changes that leave no self-stress; () if there are none.

    circuits : self-stresses that span all, each of the component whose redundancy it shows
    released_last : components in order of preference for a change
    """
    changes = _release_loop_by_loop(stresses, circuits, kinds, released_last)
    if not _release_is_complete(stresses, [i for change in changes for i in change.components]):
        changes = [
            c
            for block in _independent_groups(stresses)
            for c in _find_changes(block, stresses.components, kinds, released_last)
        ]
    return tuple(changes)


def _release_loop_by_loop(
    all_stresses: SelfStresses, circuits: Sequence[Dependence], kinds: Kinds, released_last: Sequence[int]
) -> list[Release]:
    """Find changes that resolve each element's redundancy where no other element's self-stresses act."""
    groups: dict[str, list[Dependence]] = defaultdict(list)
    for each in circuits:
        groups[all_stresses.components[each.component].name].append(each)
    places = np.zeros(len(all_stresses.components), dtype=int)
    places[list(released_last)] = np.arange(len(released_last))
    count = np.zeros(len(all_stresses.components), dtype=int)
    blocks = [_active_components(own) for own in groups.values()]
    for acting, stresses in blocks:
        count[acting[np.max(np.abs(stresses), axis=1) > REGULAR]] += 1
    changes: list[Release] = []
    for acting, stresses in blocks:
        alone = np.flatnonzero(count[acting] <= (np.max(np.abs(stresses), axis=1) > REGULAR))
        block, _ = np.linalg.qr(stresses)
        own = alone[np.argsort(places[acting[alone]])].tolist()
        components = tuple(all_stresses.components[i] for i in acting)
        changes += [change.of(acting) for change in _find_changes(block, components, kinds, own)]
    return changes


def _active_components(circuits: Sequence[Dependence]) -> tuple[NDArray[np.int64], Array]:
    """Components in which given self-stresses act, and (components, k) their unit vectors."""
    acting = np.unique(np.concatenate([each.acting for each in circuits]))
    block = np.zeros((len(acting), len(circuits)))
    for k, each in enumerate(circuits):
        block[np.searchsorted(acting, each.acting), k] = each.strengths / np.linalg.norm(each.strengths)
    return acting, block


def _independent_groups(stresses: SelfStresses) -> list[Array]:
    """Self-stresses split into groups without common components, so that independent loops are resolved separately."""
    if not stresses.count:
        return []
    entries = to_dense(stresses.entries)
    if is_sparse(stresses.entries):
        entries, _ = np.linalg.qr(entries)
    # the projector on the space has the blocks of the space
    blocks = []
    for rows in connected_row_groups(np.abs(entries @ entries.T) > REGULAR):
        part = np.where(rows[:, None], entries, 0.0)
        u, sigma, _ = np.linalg.svd(part, full_matrices=False)
        if sigma[0] > REGULAR:
            blocks.append(u[:, sigma > REGULAR])
    return blocks


def _find_changes(
    entries: Array, components: tuple[Component, ...], kinds: Kinds, released_last: Sequence[int]
) -> list[Release]:
    strong = np.linalg.norm(entries, axis=1) > REGULAR
    active = [i for i in released_last if strong[i]]
    options = _release_options(active, components, kinds)
    count = entries.shape[1]
    trials = 0
    for size in (1, 2, 3):
        for chosen in itertools.combinations(options, size):
            if sum(len(change.components) for change in chosen) != count:
                continue
            if len({change.joint for change in chosen}) < size:
                continue
            trials += 1
            if trials > MOST_TRIALS:
                break
            if _removes_all_stresses(entries, [i for change in chosen for i in change.components], count):
                return list(chosen)
    return _release_one_by_one(entries, options, active, components)


def _release_options(active: Sequence[int], components: tuple[Component, ...], kinds: Kinds) -> list[Release]:
    """Replacements of single joints, then constraints of other elements; in the order of `active`."""
    by_joint: dict[str, list[int]] = defaultdict(list)
    for i in active:
        by_joint[components[i].name if components[i].motion else ""].append(i)
    spare = by_joint.pop("", [])
    result = [
        Release(
            joint,
            exchange.kind,
            chosen,
            f"make {joint} {exchange.kind}",
            tuple(components[i].direction for i in chosen),
            motions=tuple(components[i].motion for i in chosen),
        )
        for joint, own in by_joint.items()
        if joint in kinds
        for exchange in kinds[joint].releases
        for chosen in _matching_components(own, components, exchange.frees)
    ]
    result.sort(key=lambda change: (-len(change.components), not JOINT_KINDS[change.kind].ready_made))
    return result + [_removed_constraint("", i, components[i]) for i in spare]


def _removed_constraint(joint: str, index: int, component: Component) -> Release:
    element = (component.collection, component.name) if component.collection != "joints" else ("", "")
    return Release(joint, "", (index,), f"remove {_component_name(component)}", element=element)


def _component_name(component: Component) -> str:
    from core.model.model import WORDS

    if component.collection == "joints":
        return f"{component.note} of {component.name}"
    return f"{WORDS[component.collection]} {component.name}"


def _matching_components(
    joint_components: Iterable[int], components: tuple[Component, ...], directions: tuple[str, ...]
) -> list[tuple[int, ...]]:
    """Sets of a joint's components that a replacement releases."""
    groups = [[i for i in joint_components if _constrains_motion_type(components[i], word)] for word in directions]
    chosen = {tuple(sorted(some)) for some in itertools.product(*groups) if len(set(some)) == len(directions)}
    # what a planar joint releases is at right angles
    return [some for some in sorted(chosen) if len({components[i].axis for i in some}) == len(some)]


def _constrains_motion_type(component: Component, motion_type: str) -> bool:
    motion, _, side = motion_type.partition(" ")
    return component.motion == motion and (not side or component.along == (side == "along"))


def _removes_all_stresses(entries: Array, released: Sequence[int], count: int) -> bool:
    sigma = np.linalg.svd(entries[list(released)], compute_uv=False)
    return len(released) == len(sigma) == count and bool(np.all(sigma > REGULAR))


def _release_is_complete(stresses: SelfStresses, released: Sequence[int]) -> bool:
    """Return True if releasing these components leaves no self-stress. For an orthonormal basis S of the self-stresses
    and another basis E, the smallest singular value of S[chosen] is the reciprocal of the largest of E E[chosen]⁻¹."""
    if not is_sparse(stresses.entries):
        return _removes_all_stresses(stresses.entries, released, stresses.count)
    from scipy.sparse.linalg import splu

    E = stresses.entries
    if len(released) != stresses.count:
        return False
    try:
        factor = splu(stresses.of(released).tocsc())
    except RuntimeError:
        return False
    x, growth = np.random.default_rng(stresses.count).normal(size=stresses.count), 0.0
    for _ in range(ITERATIONS):
        x /= np.linalg.norm(x)
        x = factor.solve(E.T @ (E @ factor.solve(x)), trans="T")
        growth = float(np.sqrt(np.linalg.norm(x)))
    return growth < 1.0 / REGULAR


def _release_one_by_one(
    entries: Array, options: Sequence[Release], active: Sequence[int], components: tuple[Component, ...]
) -> list[Release]:
    """Replace joints as long as each replacement releases only redundant components, then release single directions."""
    singles = [
        Release(c.name, "", (i,), f"free the {c.text} in {c.name}", (c.direction,), c.text, (c.motion,))
        if c.motion
        else _removed_constraint(c.name, i, c)
        for i, c in ((i, components[i]) for i in active)
    ]
    space, result, changed = entries, [], set()
    for change in (*options, *singles):
        if change.joint in changed and change.kind:
            continue
        if not space.shape[1]:
            break
        if len(change.components) <= space.shape[1] and _are_independent(space, change.components):
            space = _remove_components(space, change.components)
            result.append(change)
            changed.add(change.joint)
    return result


def _are_independent(space: Array, selected: Sequence[int]) -> bool:
    sigma = np.linalg.svd(space[list(selected)], compute_uv=False)
    return bool(sigma[-1] > 1e-2 * max(float(np.max(np.abs(space))), REGULAR))


def _remove_components(space: Array, removed: Sequence[int]) -> Array:
    """Self-stresses that vanish in the chosen components."""
    if not len(removed) or not space.shape[1]:
        return space
    _, sigma, vt = np.linalg.svd(space[list(removed)])
    return np.asarray(space @ vt[int(np.sum(sigma > REGULAR)) :].T)
