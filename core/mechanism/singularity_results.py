"""Results of `Mechanism.singularities`: singular poses near a position by name, with distance and lost direction."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Array = NDArray[np.float64]

SingularityKind = Literal["type 1", "type 2", "type 3", "constraints"]
Scaling = Literal["speeds", "length", "separate"]


@dataclass(frozen=True)
class LostDirection:
    """A motion that the frame loses at a singular pose.

    part : "translation" along the direction, impossible without a rotation; or "rotation" about it, impossible while
    the frame's origin is at rest; direction : (3,) unit vector, world axes; wrench : (6,) [torque; force] at the
    frame's origin that loads no actuator, lengths in m, of unit norm with lengths in sizes of the machine
    """

    part: Literal["translation", "rotation"]
    direction: Array
    wrench: Array


@dataclass(frozen=True)
class Singularity:
    """A singular pose near a position.

    name : "shoulder", "elbow", "wrist", or the joints that then move while the frame is at rest
    kind : "type 1", the frame loses a direction; "type 2", it moves though all actuators are held; "type 3", both;
        "constraints", the loops' own constraints lose rank
    measure : 0 at the singularity; of arms with named configurations a factor of the Jacobian determinant, whose sign
        is the configuration; of others the smallest singular value as a share of its largest value at other poses
    distance : to the singularity, rad or m by `dimension`, counted in `coordinate`; None: of the point that belongs to
        the shoulder from the plane through axis 1 along axis 2
    q : (nq,) the singular pose
    lost : None for kinds 2 and "constraints"
    speeds : (nv,) motion that the frame does not follow there (type 1), or that the actuators do not prevent
    joints : that take part in it
    """

    name: str
    kind: SingularityKind
    measure: float
    distance: float
    dimension: Literal["angle", "length"]
    coordinate: str | None
    q: Array
    lost: LostDirection | None
    speeds: Array
    joints: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Singularities:
    """Singularities near a position, nearest first, and measures of its Jacobian.

    translation, rotation : (≤ 3,) singular values of the parts, m and rad per unit speed of the actuators, of which
        slides count `length` metres like 1 rad
    sigma : (r,) singular values of the whole, in the scaling: "speeds": share of the wanted speed of the tool that is
        possible within the joints' speed limits; "length": lengths are divided by `length`; "separate": empty
    rank : number of directions in which the frame can move here; of r directions at general poses
    condition : largest over smallest singular value, infinite at singular poses; "separate": the larger of the parts'
    manipulability : Yoshikawa's product of the singular values of a part, in m, m², m³ for translation
    """

    singularities: tuple[Singularity, ...]
    translation: Array
    rotation: Array
    sigma: Array
    rank: int
    full_rank: int
    condition: float
    manipulability: tuple[float, str]
    scaling: Scaling
    length: float

    @property
    def nearest(self) -> Singularity | None:
        """Nearest singularity, None if none is found."""
        return self.singularities[0] if self.singularities else None

    def __getitem__(self, name: str) -> Singularity:
        """Singularity with a name; KeyError if there is none."""
        for each in self.singularities:
            if each.name == name:
                return each
        raise KeyError(name)


@dataclass(frozen=True)
class SingularitiesArray:
    """Singularities at N positions, a column per name.

    measures, distances : (N, K), as in `Singularity`; dimensions : (K,) "angle" or "length"; sigma : (N, r)
    rank : (N,)
    """

    names: tuple[str, ...]
    dimensions: tuple[str, ...]
    measures: Array
    distances: Array
    sigma: Array
    rank: NDArray[np.intp]


@dataclass(frozen=True)
class LocusCurve:
    """A curve of singular poses over two coordinates.

    name : the part that is singular, as in `Singularity`, "pose" for other arms; places : (m, 2) values of the two
    coordinates; q : (m, nq) positions; points : (m, 3) of the frame there, m; is_closed : the last place is the first
    """

    name: str
    places: Array
    q: Array
    points: Array
    is_closed: bool


@dataclass(frozen=True)
class SingularityLoci:
    """All curves of singular poses over two coordinates within their ranges (rad, m), the others at rest."""

    coordinates: tuple[str, str]
    ranges: tuple[tuple[float, float], tuple[float, float]]
    frame: str
    curves: tuple[LocusCurve, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parts that are singular somewhere."""
        return tuple(dict.fromkeys(each.name for each in self.curves))
