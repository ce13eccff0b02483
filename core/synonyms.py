"""Terms used by other programs and books for this program's kinds, fields and commands, so that a message can suggest
the native name.

meant_by("hinge", JOINT_KINDS)      ["revolute"]
meant_by("pin.w", names)            ["pin.v"]: of a name with dots its last part, else what stands before it
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_OTHERS = (
    # kinds of joints
    ("revolute", "pin hinge pivot rotary rotational rotation r"),
    ("continuous", "unlimited wheel"),
    ("prismatic", "slider slide guide rail sliding linear translational translation telescope p"),
    ("cylindrical", "c"),
    ("universal", "cardan hooke ujoint u"),
    ("spherical", "ball ball_and_socket ball_joint socket ball_socket s"),
    ("screw", "helical helix lead_screw h"),
    ("planar", "plane"),
    ("free", "floating freejoint sixdof 6dof bushing"),
    ("fixed", "weld glue welded rigid clamp clamped bracket"),
    # kinds of forces, constraints, sensors
    ("line", "spring damper springdamper tsda linearspring strut muscle tendon"),
    ("series", "maxwell seriesspring"),
    ("joint", "torsionspring torsionalspring rotationalspring rsda motor actuator"),
    ("wrench", "load pointforce external externalforce forcetorque forces torque moment"),
    ("hold", "lock weld fix equality"),
    ("rod", "distance link strut connectingrod massless massless_link"),
    ("gear", "coupler coupling belt pulley rack rackandpinion transmission mimic"),
    ("distance", "length range"),
    ("angular_velocity", "gyro gyroscope imu omega rate"),
    ("acceleration", "accelerometer imu accel"),
    ("velocity", "speed velocimeter vel v"),
    ("omega", "w angularvelocity rate v"),
    ("alpha", "angularacceleration a"),
    ("orientation", "rotation attitude quaternion"),
    ("cut_force", "force loadcell"),
    ("cut_torque", "torque torquesensor"),
    # shapes
    ("box", "cuboid block brick cube"),
    ("sphere", "ball"),
    ("cylinder", "rod disk disc"),
    ("pipe", "tube hollow hollowcylinder ring"),
    ("beam", "ibeam profile"),
    ("gearwheel", "gear wheel"),
    ("coil", "spring"),
    ("mesh", "stl obj file geometry"),
    # the ground
    ("world", "ground earth inertial inertialframe universe global worldbody environment fixed base ref"),
    # fields
    ("center_of_mass", "com cog cm cg centreofmass centerofgravity centreofgravity center centre inertialorigin"),
    ("inertia", "moi tensor momentofinertia momentsofinertia inertiatensor diaginertia fullinertia i"),
    ("mass", "m weight"),
    ("density", "rho"),
    ("shapes", "shape geometry geom geoms visual visuals collision collisions"),
    ("kind", "type jointtype class"),
    ("parent", "base from predecessor reference body1 bodya parentlink frame body on"),
    ("child", "follower to successor body2 bodyb childlink link"),
    ("a", "from base predecessor point1 body1 frame1 origin"),
    ("b", "to follower successor point2 body2 frame2"),
    ("position", "xyz pos translation location p r"),
    ("rotation", "rpy quat quaternion orientation euler attitude angles"),
    ("pose", "origin transform placement xyz pos"),
    ("axis", "direction normal dir"),
    ("limits", "limit range bounds stops lower upper"),
    ("lower", "min minimum low"),
    ("upper", "max maximum high"),
    ("minimum", "min lower"),
    ("maximum", "max upper"),
    ("effort", "torque force maxforce maxtorque"),
    ("rest", "initial init q0 home start default ref springref freelength naturallength l0 value"),
    ("start_speed", "v0 initialvelocity initialspeed startvelocity speed velocity qd0"),
    ("damping", "damper viscous viscousfriction d"),
    ("stiffness", "spring springrate k"),
    ("friction", "coulomb frictionloss dryfriction brake clutch"),
    ("backward_friction", "ratchet freewheel oneway"),
    ("friction_coefficient", "mu coulomb reaction bearing"),
    ("static_friction_coefficient", "mus stiction"),
    ("bearing_radius", "pinradius journalradius"),
    ("armature", "rotorinertia rotor jm"),
    ("mimic", "follows couple coupled"),
    ("leader", "joint master source"),
    ("ratio", "multiplier factor gain gearratio"),
    ("law", "formula expression force function"),
    ("function", "formula expression law motion value"),
    ("color", "colour rgba rgb"),
    ("texture", "image"),
    ("size", "dimensions extents sizes"),
    ("length", "height depth l"),
    ("radius", "r"),
    ("description", "notes comment note doc documentation"),
    ("acceleration", "g"),
    ("value", "default val number"),
    ("dimension", "unit units quantity"),
    # collections
    ("bodies", "links parts body link"),
    ("joints", "joint"),
    ("frames", "markers sites tools frame"),
    ("parameters", "variables constants params parameter"),
    ("drivers", "motors actuators driver"),
    ("signals", "controllers controller blocks signal control"),
    ("computed_torque", "inversedynamicscontrol feedbacklinearisation"),
    ("pd", "controller position_control servo"),
    ("first_order", "lag lowpass pt1"),
    ("second_order", "pt2 oscillator"),
    ("lookup", "table interpolation"),
    ("limiter", "saturation clamp"),
    ("delay", "deadtime transport_delay"),
    ("poses", "keyframes keyframe configurations groupstates groupstate keypose"),
    ("targets", "waypoints waypoint goals goal viapoints"),
    ("motions", "trajectories trajectory programs paths motion"),
    ("forces", "springs dampers loads actuators force"),
    ("constraints", "loops equality equalities constraint closures"),
    ("sensors", "measures measurements chords sensor"),
    ("chains", "dh dhchain dhtable chain"),
    ("assemblies", "imports include includes subassemblies"),
    ("materials", "colors colours material"),
    ("operating_points", "trims trim equilibria setpoints operatingpoint"),
    ("studies", "study sweeps sweep montecarlo doe experiments"),
    ("designs", "aims optimisations optimizations objectives"),
    # coordinates, speeds and channels, behind a joint's or sensor's name
    ("q", "angle theta phi pos position displacement value s x"),
    ("v", "w omega speed velocity vel rate dq qd qdot dot angularvelocity"),
    ("a", "acc accel acceleration alpha ddq qdd qddot"),
    ("tau", "torque effort moment force f t"),
    ("rate", "v speed velocity dot vel w"),
    # options of functions
    ("speeds", "velocities rates qd v0"),
    ("accelerations", "acc qdd"),
    ("frame", "tool link body endeffector tcp"),
    # commands and functions
    ("check", "validate lint verify test"),
    ("render", "draw picture image screenshot"),
    ("convert", "export save translate"),
    ("run", "simulate simulation integrate"),
    ("film", "movie video animate animation record"),
    ("info", "show describe list"),
    ("plot", "graph chart"),
    ("forward_kinematics", "fk forwardkin fkine"),
    ("inverse_kinematics", "ik inversekin ikine"),
    ("inverse_dynamics", "id rnea"),
    ("mass_matrix", "inertiamatrix crba m"),
    ("jacobian", "jac jacob"),
    ("static_equilibrium", "equilibrium statics"),
    ("linearise", "linearize linearization eigenvalues modes modal"),
    ("assembly_branches", "branches assemblymodes"),
    ("instantaneous_screw", "screw twist"),
)
"""Native terms with their synonyms, in lower case, words joined by "_". A synonym of several terms is resolved by the
names that are valid in the context."""
SHORTEST = 3
"""Least number of letters of a synonym that is shown to the user."""


def get_synonyms(name: str) -> tuple[str, ...]:
    """Return the synonyms of a native term as users write them: those of "revolute" begin with "pin", "hinge",
    "pivot"."""
    words = next((others for own, others in _OTHERS if own == name), "").split()
    return tuple(word.replace("_", " ") for word in words if len(word) >= SHORTEST)


def find_meant_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names for which a term of another program may stand."""
    head, dot, last = name.rpartition(".")
    word = re.sub(r"[\s_-]", "", last).casefold()
    ours = {head + dot + own for own, others in _OTHERS if word in others.replace("_", "").split()}
    names = list(known)
    return [each for each in names if each.replace("-", "_") in ours] or [each for each in names if each == head]
