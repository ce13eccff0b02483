"""Vocabulary of MJCF: every element with its attributes and children as of MuJoCo 4, and some from earlier versions.

https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from core.files.vocabulary import Vocabulary

LEFT_OUT = {
    **dict.fromkeys(("geom adhesion", "pair adhesion"), "bodies do not stick to one another"),
    "geom surfacevel": "moving surfaces do not carry bodies along",
    **dict.fromkeys(("joint springyield", "spatial springyield", "fixed springyield"), "springs stay elastic"),
}
"""Attributes that are not read although they affect the motion, with the consequence."""

OBJECTS = (
    *("body", "xbody", "joint", "geom", "site", "camera", "light", "flex", "mesh", "skin", "hfield", "texture"),
    *("material", "pair", "exclude", "equality", "tendon", "actuator", "sensor", "numeric", "text", "tuple", "key"),
    "frame",
)
"""Kinds of elements to which others may refer by kind and name."""
_SWITCH, _TRUTH = ("false", "true", "auto"), ("false", "true")
KEYWORDS = {
    **dict.fromkeys(("limited", "actuatorfrclimited", "align", "inertiafromgeom"), _SWITCH),
    **dict.fromkeys(("autolimits", "balanceinertia", "alignfree", "fitaabb", "strippath", "mocap", "active"), _TRUTH),
    "flag": ("enable", "disable"),
    "angle": ("radian", "degree"),
    "coordinate": ("local", "global"),
    "option integrator": ("Euler", "RK4", "implicit", "implicitfast"),
    "option cone": ("pyramidal", "elliptic"),
    "option jacobian": ("dense", "sparse", "auto"),
    "option solver": ("PGS", "CG", "Newton"),
    "geom shellinertia": _TRUTH,
    "joint actuatorgravcomp": _TRUTH,
    "site type": ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "plane"),
    "geom fluidshape": ("none", "ellipsoid"),
    "texture builtin": ("none", "gradient", "checker", "flat"),
    "texture mark": ("none", "edge", "cross", "random"),
    **dict.fromkeys(("objtype", "reftype"), ("body", "xbody", "geom", "site", "camera")),
    **dict.fromkeys(
        ("element objtype", "user objtype", "plugin objtype", "plugin reftype"), (*OBJECTS, "dof", "plugin")
    ),
    "texture type": ("2d", "cube", "skybox"),
    **dict.fromkeys(("camera mode", "light mode"), ("fixed", "track", "trackcom", "targetbody", "targetbodycom")),
    "headlight active": ("0", "1"),
    "camera projection": ("perspective", "orthographic"),
    "light type": ("spot", "directional", "point", "image"),
    "dyntype": ("none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "user"),
    **dict.fromkeys(("gaintype", "biastype"), ("none", "fixed", "affine", "muscle", "dcmotor", "so3", "user")),
    "interp": ("zoh", "linear", "cubic"),
    "lengthrange mode": ("none", "muscle", "muscleuser", "all"),
    "compiler conflict": ("error", "warning", "merge"),
    "colorspace": ("auto", "linear", "sRGB"),
    "mesh inertia": ("convex", "exact", "legacy", "shell"),
}
"""Allowed values of attributes, by attribute, by element and attribute, or for all attributes of an element."""

VOCABULARY = Vocabulary("""
TARGETS = class name target texture body geom1 geom2 joint jointinparent tendon site refsite slidersite cranksite
    lengthrange
PLACED = pos quat axisangle xyaxes zaxis euler
ACTUATOR_BASE = class name group interp nsample user delay ctrlrange forcerange forcelimited
TRANSMISSION = @ACTUATOR_BASE joint jointinparent tendon site refsite slidersite cranksite cranklength gear armature
    damping ctrllimited lengthrange
SENSOR_BASE = name user cutoff noise delay interp interval nsample
SENSOR_FRAME = @SENSOR_BASE objtype objname
TENDON_BASE = actuatorfrclimited actuatorfrcrange armature class damping frictionloss group limited margin name
    range solimpfriction solimplimit solreffriction solreflimit springlength springyield stiffness user
mujoco = model > compiler option size statistic visual default extension asset worldbody contact tendon equality
    actuator sensor custom keyframe deformable include
include = *file
compiler = alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict coordinate
    discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough savecanonical
    savecompiled saveinertial settotalmass strippath texturedir usethread convexhull > lengthrange
lengthrange = accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit
option = actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity impratio integrator iterations
    jacobian ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance o_friction o_margin o_solimp
    o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance viscosity wind apirate
    collision mpr_iterations mpr_tolerance > flag
flag = actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent
    frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override refsafe sensor
    sleep speculative spring warmstart passive sensornoise
size = memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor
    nuser_site nuser_tendon nuserdata
statistic = center extent meaninertia meanmass meansize
visual = > global quality headlight map scale rgba
global = azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth orthographic
    realtime
quality = numquads numslices numstacks offsamples shadowsize
headlight = active ambient diffuse specular
map = actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot torque zfar znear
visual/scale = actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth
    framelength framewidth frustum jointlength jointwidth light selectpoint slidercrank
visual/rgba = actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce
    contactfriction contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia joint light
    rangefinder selectpoint slidercrank
GROUND = childclass name > body frame replicate geom site camera light plugin attach flexcomp composite include
INSIDE = @GROUND > inertial joint freejoint
body = @PLACED @INSIDE fuse gravcomp mocap simple sleep user
worldbody = @GROUND
frame = @INSIDE @PLACED
replicate = @INSIDE *count sep offset euler
inertial = @PLACED diaginertia fullinertia *mass *pos
joint = actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping frictionloss group limited
    margin name pos range ref solimpfriction solimplimit solreffriction solreflimit springdamper springref
    springyield stiffness type user
freejoint = align group name
geom = @PLACED adhesion castshadow class conaffinity condim contype density fitscale fluidcoef fluidshape friction
    fromto gap group hfield margin mass material mesh name priority rgba shellinertia size solimp solmix solref
    surfacevel type user > plugin
site = @PLACED class fromto group material mesh name rgba size type user
camera = @PLACED class focal focalpixel fovy ipd mode name output principal principalpixel projection resolution
    sensorsize target user
light = active ambient attenuation bulbradius castshadow class cutoff diffuse dir directional exponent intensity
    mode name pos range softness specular target texture type
attach = body frame model prefix > ?
composite = > ?
flexcomp = @PLACED cellcount count dim dof element file flatskin group inertiabox mass material mesh name origin point
    radius rgba rigid scale spacing texcoord type > edge elasticity contact pin plugin
FLEX_CONTACT = activelayers conaffinity condim contype friction gap internal margin passive priority selfcollide solimp
    solmix solref vertcollide
flexcomp/contact flex/contact = @FLEX_CONTACT
edge = damping equality solimp solref stiffness
elasticity = damping elastic2d poisson section sectionsize shear thickness yield young
pin = grid gridrange id range
plugin = plugin instance > config
config = key value
extension = > plugin include
extension/plugin = plugin > instance
instance = name > config
asset = > mesh hfield skin texture material model include
mesh = builtin class content_type face file inertia material maxhullvert name normal params refpos refquat scale
    smoothnormal texcoord vertex > plugin
hfield = content_type elevation file name ncol nrow size
skin = face file group inflate material name rgba texcoord vertex > bone
bone = bindpos bindquat body vertid vertweight
texture = builtin class colorspace content_type embed file fileback filedown filefront fileleft fileright fileup
    gridlayout gridsize height hflip mark markrgb name nchannel random rgb1 rgb2 type vflip width
material = class emission metallic name reflectance rgba roughness shininess specular texrepeat texture texuniform >
    layer
layer = role texture
model = content_type file name
default = class > default mesh texture material joint geom site camera light pair equality tendon general motor
    position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor skin include
default/mesh = @mesh -builtin -class -content_type -face -file -material -name -normal -params -refpos -refquat
    -smoothnormal -texcoord -vertex
default/texture = @texture -class -content_type -file -fileback -filedown -filefront -fileleft -fileright -fileup
    -name
default/material = @material -@TARGETS texture
default/joint = @joint -@TARGETS
default/geom = @geom -@TARGETS
default/site = @site -@TARGETS
default/camera = @camera -@TARGETS
default/light = @light -@TARGETS
default/default = @default *class
contact = > pair exclude include
pair = adhesion class condim friction gap *geom1 *geom2 margin name solimp solref solreffriction
exclude = *body1 *body2 name
default/pair = @pair -@TARGETS
tendon = > spatial fixed include
spatial = @TENDON_BASE material rgba width > site geom pulley
fixed = @TENDON_BASE > joint
spatial/site = *site
spatial/geom = *geom sidesite
pulley = *divisor
fixed/joint = *joint *coef
default/tendon = @spatial -@TARGETS
equality = > connect weld joint tendon flex flexstrain distance include
connect = active anchor body1 body2 class name site1 site2 solimp solref
weld = active anchor body1 body2 class name relpose site1 site2 solimp solref torquescale
equality/joint = active class *joint1 joint2 name polycoef solimp solref
equality/tendon = active class name polycoef solimp solref *tendon1 tendon2
flex = active class *flex name solimp solref
flexstrain = active cell class *flex name solimp solref
distance = > ?
default/equality = active solimp solref
actuator = > general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor
    plugin include so3
general = @TRANSMISSION actdim actearly actlimited actrange biasprm biastype body dynprm dyntype ffrange gainprm
    gaintype inheritrange input velrange
default/general = @general -@TARGETS
motor = @TRANSMISSION
default/motor = @motor -@TARGETS
position = @TRANSMISSION dampratio inheritrange kp kv timeconst
default/position = @position -@TARGETS
velocity = @TRANSMISSION kv
default/velocity = @velocity -@TARGETS
intvelocity = @TRANSMISSION actlimited actrange dampratio inheritrange kp kv
default/intvelocity = @intvelocity -@TARGETS
orientation = @ACTUATOR_BASE dampratio input joint kp kv refsite site
default/orientation = @orientation -@TARGETS
pid = @TRANSMISSION dampratio ffrange imax inheritrange input ki kp kv posrange slewmax velrange
default/pid = @pid -@TARGETS
damper = @TRANSMISSION -ctrllimited kv
default/damper = @damper -@TARGETS
cylinder = @TRANSMISSION area bias diameter timeconst
default/cylinder = @cylinder -@TARGETS
muscle = @TRANSMISSION -site -refsite force fpmax fvmax lmax lmin range scale tausmooth timeconst vmax
default/muscle = @muscle -@TARGETS
adhesion = @ACTUATOR_BASE body gain
default/adhesion = @adhesion -@TARGETS
dcmotor = @TRANSMISSION -forcerange -forcelimited cogging controller inductance input lugre motorconst nominal
    resistance saturation thermal
default/dcmotor = @dcmotor -@TARGETS
actuator/plugin = @TRANSMISSION -refsite actdim actearly actlimited actrange dynprm dyntype instance plugin > config
so3 = > ?
sensor = > touch accelerometer velocimeter gyro force torque magnetometer camprojection rangefinder jointpos
    jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc jointactuatorfrc tendonactuatorfrc ballquat
    ballangvel jointlimitpos jointlimitvel jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framepos
    framequat framexaxis frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom
    subtreelinvel subtreeangmom insidesite distance normal fromto contact e_potential e_kinetic clock tactile user
    plugin include
sensor/touch sensor/accelerometer sensor/velocimeter sensor/gyro sensor/force sensor/torque sensor/magnetometer =
    @SENSOR_BASE *site
sensor/camprojection = @SENSOR_BASE *camera *site
sensor/rangefinder = @SENSOR_BASE camera data site
sensor/jointpos sensor/jointvel sensor/jointactuatorfrc sensor/ballquat sensor/ballangvel sensor/jointlimitpos
    sensor/jointlimitvel sensor/jointlimitfrc = @SENSOR_BASE *joint
sensor/tendonpos sensor/tendonvel sensor/tendonactuatorfrc sensor/tendonlimitpos sensor/tendonlimitvel
    sensor/tendonlimitfrc = @SENSOR_BASE *tendon
sensor/actuatorpos sensor/actuatorvel sensor/actuatorfrc = @SENSOR_BASE *actuator
sensor/framepos sensor/framequat sensor/framexaxis sensor/frameyaxis sensor/framezaxis sensor/framelinvel
    sensor/frameangvel = @SENSOR_BASE *objtype *objname refname reftype
sensor/framelinacc sensor/frameangacc = @SENSOR_BASE *objtype *objname
sensor/subtreecom sensor/subtreelinvel sensor/subtreeangmom = @SENSOR_BASE *body
sensor/insidesite = @SENSOR_FRAME enclosed site
sensor/distance sensor/normal sensor/fromto = @SENSOR_BASE body1 body2 geom1 geom2
sensor/contact = @SENSOR_BASE body1 body2 data geom1 geom2 num reduce site subtree1 subtree2
sensor/e_potential sensor/e_kinetic sensor/clock = @SENSOR_BASE
sensor/tactile = @SENSOR_FRAME -noise -objtype -objname geom mesh
sensor/user = @SENSOR_FRAME -delay -interp -interval -nsample datatype dim needstage
sensor/plugin = cutoff instance name objname objtype plugin refname reftype user > config
custom = > numeric text tuple include
numeric = data name size
text = data name
tuple = name > element
element = objname objtype prm
keyframe = > key include
key = act ctrl mpos mquat name plastic qpos qvel time
deformable = > flex skin
deformable/flex = body cellcount dim dof element elemtexcoord flatskin group material name node nodecoord radius rgba
    texcoord vertex > contact edge elasticity
""")
