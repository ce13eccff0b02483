"""Types of MJCF attributes: how many numbers each holds, and which are whole numbers or truth values.

Checked is what MuJoCo rejects although this reader may ignore it; https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

TABLE = """
real 1.. = act cogging controller ctrl numeric.data hfield.elevation face inductance lugre motorconst nodecoord
    nominal normal point prm qpos qvel saturation texcoord thermal user vertex vertweight
real 1 = visual/scale.* accel visual/headlight.active actuatortendon adhesion alpha area armature azimuth
    boundinertia boundmass bulbradius ccd_tolerance coef cranklength cutoff flex/edge.damping
    flex/elasticity.damping flexcomp/edge.damping flexcomp/elasticity.damping dampratio delay density diameter
    divisor elevation emission exponent extent fitscale fogend fogstart force fovy fpmax frictionloss fvmax gain
    gap glow gravcomp haze imax impratio inertiabox inflate inheritrange intensity interval inttotal ipd ki kp
    kv linewidth lmax lmin ls_tolerance margin mass maxforce meaninertia meanmass meansize metallic noise
    noslip_tolerance o_margin poisson radius random light.range realtime ref reflectance resistance roughness
    muscle.scale settotalmass shadowclip shadowscale shear shininess sleep_tolerance slewmax solmix
    material.specular springref springyield flexcomp/edge.stiffness visual/map.stiffness stiffnessrot tausmooth
    thickness time timeconst timestep tolerance tolrange torque torquescale viscosity vmax tendon.width
    spatial.width young zfar znear
real 1..10 = biasprm dynprm gainprm
real 1..2 = o_solref solref solreffriction solreflimit springlength
real 1..3 = damping friction size stiffness
real 1..5 = fluidcoef pair.friction o_friction o_solimp polycoef solimp solimpfriction solimplimit
real 1..6 = gear surfacevel
real 2.. = flexcomp/pin.range
real 2 = actrange actuatorfrcrange ctrlrange ffrange forcerange gridsize lengthrange posrange range resolution
    sectionsize sensorsize springdamper texrepeat muscle.timeconst velrange
real 3 = ambient anchor attenuation axis bias bindpos cellcount center diaginertia diffuse dir euler gravity
    magnetic markrgb origin pos refpos rgb1 rgb2 scale spacing specular wind zaxis
real 4 = visual/rgba.* axisangle bindquat quat refquat rgba hfield.size
real 7 = relpose
whole 1.. = actuatorgroupdisable id
whole 1 = actdim activelayers cameraid ccd_iterations conaffinity condim contype dim group height iterations
    ls_iterations nconmax njmax nkey noslip_iterations nsample nstack num numquads numslices numstacks
    nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site nuser_tendon nuserdata
    offheight offsamples offwidth priority sdf_initpoints sdf_iterations shadowsize softness width
truth = actearly active actlimited actuatorgravcomp align alignfree autolimits balanceinertia bvactive
    castshadow ctrllimited directional discardvisual ellipsoidinertia embed enclosed equality fitaabb flatskin
    forcelimited fusestatic hflip inertiafromgeom orthographic passive rigid savecanonical savecompiled
    saveinertial shellinertia smoothnormal strippath texuniform useexisting uselimit usethread vflip
"""
"""A type a line, with its attributes: the kind and number of values, then words, `element.word` or
`parent/element.word` (`*`: all of them), of which the most particular counts. Indented lines continue a row."""
_TRUTH = ("true", "false", "auto")
_RANGE_HINT = "Give the lower and the upper end."


class ValueType(NamedTuple):
    """Kind of values (real, whole or truth), and the smallest and largest number of them."""

    kind: str
    least: int
    most: float

    def find_problem(self, text: str) -> tuple[str, str]:
        """Return what is wrong with the text of an attribute, to follow its name, and the remedy; "" if nothing is."""
        values = text.split()
        if not values:
            return "", ""
        if self.kind == "truth":
            wrong = text.strip() not in _TRUTH
            return ("is neither true nor false", "Write true or false.") if wrong else ("", "")
        number = next((each for each in values if not _is_number(each)), None)
        if number is not None:
            return f"holds '{number[:40]}', which is not a number", "Give finite numbers."
        if self.kind == "whole" and (part := next((each for each in values if not _is_whole(each)), None)) is not None:
            return f"holds '{part[:40]}', which is not a whole number", "Give whole numbers."
        if len(values) > self.most:
            return f"has more than {self.most:.0f} number{'s' * (self.most > 1)}", "Leave out the rest."
        if len(values) < self.least:
            remedy = _RANGE_HINT if self.least == 2 else f"Give {self.least} numbers."
            return f"has fewer than {self.least} numbers", remedy
        return "", ""


def find_type(parent: str, element: str, word: str) -> ValueType | None:
    """Return the type of an attribute; None if it is text, a switch, or unknown."""
    if element == "flag":
        return None
    types = _types()
    places = (f"{parent}/{element}.{word}", f"{element}.{word}", f"{parent}/{element}.*", word)
    return next((types[place] for place in places if place in types), None)


@cache
def _types() -> dict[str, ValueType]:
    found: dict[str, ValueType] = {}
    current = ValueType("", 0, 0)
    for line in TABLE.strip().splitlines():
        head, equals, words = line.rpartition("=")
        if equals:
            kind, _, numbers = head.strip().partition(" ")
            least, several, most = numbers.partition("..")
            upper = math.inf if several and not most else float(most or least or 1)
            current = ValueType(kind, int(least or 1), upper)
        found |= dict.fromkeys(words.split(), current)
    return found


def _is_number(text: str) -> bool:
    try:
        number = float(text)
        return not (math.isnan(number) or (math.isinf(number) and any(map(str.isdigit, text))))
    except ValueError:
        return False


def _is_whole(text: str) -> bool:
    return math.isfinite(float(text)) and float(text).is_integer()
