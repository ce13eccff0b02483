"""Robotica's functions by name, as in its manual's command reference, implemented by functions of the catalogue.

The rows of this table are all there is to say about a function: the parser checks calls by them, help and completion
quote them, the window makes its sheets from them, the manual its reference.
"""

from __future__ import annotations

from core.errors import near_misses
from core.files.mathematica.syntax import Tree, refused
from core.functions.results import Message, Result
from core.robotica import animations, equations, pictures, response
from core.robotica.command import Argument, Command, Word, text_of
from core.robotica.workspace import Workspace


def show_help(workspace: Workspace, name: Tree | None = None) -> Result:
    """Show the help of a function; without a name list all functions."""
    if name is None:
        return Message(title="Functions", text="\n".join(f"{c.usage:60s} {c.help}" for c in COMMANDS.values()))
    command = COMMANDS.get(text_of(name))
    if command is None:
        raise refused(name, f"There is no function '{text_of(name)}'.", near_misses(text_of(name), COMMANDS))
    return Message(title=command.name, text=command.manual)


_MATRIX = Argument(
    "matrix",
    "Matrix",
    "entry",
    "A[i], T[i,j], J, M, MU, CM, G, c[i,j,k], Jvc[i], Jwc[i], or an entry",
    needed=True,
    default="M",
)
_LABEL = Argument("label", "Label", "text", "Printed before it", example="Mass matrix")
_APPEND = Argument("file", "File", "write", 'Appended to; it is the default file then, which "*" means', example="none")
_SHAPE = Argument(
    "file",
    "File",
    "read",
    "Line[{{x, y, z}, …}], Polygon[…] and Point[…] lists, or STL, OBJ, glTF",
    example="the standard shape",
)
_SINGLE = Word("single", "Only the first pose")
_FRAME = Word("frame", "A box round the picture")
_ANIMATE = Word("animate", "One after another; ShowAnim shows it again, SaveAnim keeps it")
_SHOWN = (_SINGLE, _FRAME, _ANIMATE)


def _printed(name: str) -> tuple[Word, ...]:
    return (
        Word("print", f"A picture for the printer, too: {name}.pdf"),
        Word("mprint", f"A picture in the standard file, too: m{name}.png"),
        Word("xprint", "A picture in a file of your choice, too (.png, .svg, .pdf)", "text"),
    )


_RANGES = Argument(
    "ranges",
    "Ranges",
    "list",
    "{variable, start, end, divisions}, several with commas; angles in "
    "radians or as 90 Degree; 5 divisions unless said otherwise; a number behind the last range is that of all",
    example="{q1, 0, 90 Degree, 8}, {q2, 0, 1, 8}",
)


def _options(*words: Word) -> Argument:
    return Argument("options", "Options", "options", words=words)


_TABLE = (
    Command(
        "DataFile",
        'DataFile["name"]',
        "Read a robot (any supported file); everything given before is forgotten.",
        equations.data_file,
        (Argument("name", "File", "read", "Without a name it asks", example="ask"),),
    ),
    Command("PrintInputData", "PrintInputData[]", "Show the robot's tables.", equations.print_input),
    Command("FKin", "FKin[]", "Form the A and T matrices and the Jacobian.", equations.forward_kinematics),
    Command(
        "ELDynamics", "ELDynamics[]", "Form mass matrix, Christoffel symbols, C matrix, gravity.", equations.dynamics
    ),
    Command("SDynamics", "SDynamics[]", "Show the simplified dynamics.", equations.simplified_dynamics),
    Command(
        "SimplifyExpression",
        "SimplifyExpression[c[1,1,1]]",
        "Short form of an expression.",
        equations.simplify,
        (
            Argument(
                "expression",
                "Expression",
                "entry",
                "Of numbers, symbols and entries of matrices",
                needed=True,
                default="c[1,1,1]",
            ),
        ),
    ),
    Command(
        "SimplifyTrigNotation",
        "SimplifyTrigNotation[]",
        "Write C1 and S12 for Cos[q1] and Sin[q1 + q2] in all that follows; with full the other way round.",
        equations.trig_notation,
        (Argument("notation", "Notation", "entry", "short or full", example="short"),),
    ),
    Command(
        "MPrint", 'MPrint[T[0,1], "T01", "file"]', "Print a matrix.", equations.matrix_print, (_MATRIX, _LABEL, _APPEND)
    ),
    Command(
        "EPrint",
        'EPrint[M, "Mass matrix", "file"]',
        "Print a matrix, an entry per line, column by column.",
        equations.element_print,
        (_MATRIX, _LABEL, _APPEND),
    ),
    Command(
        "CPrint",
        'CPrint["label", "file"]',
        "Print the C matrix, an entry per line.",
        equations.coriolis_print,
        (_LABEL, _APPEND),
    ),
    Command("APrint", 'APrint["file"]', "Print every A matrix.", equations.all_a, (_APPEND,)),
    Command("TPrint", 'TPrint["file"]', "Print every T matrix.", equations.all_t, (_APPEND,)),
    Command(
        "Planar",
        "Planar[]",
        "The space in which the tool can move: 0 none, 1 x, 2 y, 3 xy, 4 z, 5 xz, 6 yz, 7 xyz.",
        pictures.planar,
    ),
    Command(
        "RElp",
        "RElp[{{q1, 0, 90 Degree}, {a2, 3, 8}}, {scale}]",
        "Manipulability ellipsoids.",
        pictures.ellipsoids,
        (
            _RANGES,
            _options(
                *_SHOWN,
                Word("scale", "Make the largest axis of each two units long"),
                Word("measures", "Print volume, eccentricity, smallest radius and geometric mean, too"),
                Word("monly", "Measures only, no picture"),
                Word("file", "Store the measures", "text"),
                *_printed("relp"),
            ),
        ),
    ),
    Command(
        "ShowRobot",
        "ShowRobot[{{q1, 20 Degree, 90 Degree, 8}}, {animate}]",
        "The arm over ranges, all variables together.",
        pictures.show_robot,
        (_RANGES, _options(*_SHOWN, *_printed("robotplot"))),
    ),
    Command(
        "SeqShowRobot",
        "SeqShowRobot[{{q1, 0, 1}, {q2, 0, 1}}, {animate}]",
        "The arm over ranges, one variable after another.",
        pictures.show_in_sequence,
        (_RANGES, _options(*_SHOWN, *_printed("robotplot"))),
    ),
    Command(
        "RevJoint",
        'RevJoint["file"]',
        "The shape of revolute joints; it turns with them. Without a file the standard one.",
        pictures.revolute,
        (_SHAPE,),
    ),
    Command(
        "PrisJoint",
        'PrisJoint["file"]',
        "The shape of prismatic joints; it moves with them. Without a file the standard one.",
        pictures.prismatic,
        (_SHAPE,),
    ),
    Command(
        "LinkShape",
        'LinkShape["file"]',
        "The shape of links, one unit long: stretched to a along x, or to d along z. Without a file the standard one.",
        pictures.link,
        (_SHAPE,),
    ),
    Command("ClearRevJoint", "ClearRevJoint[]", "Revolute joints without shape.", pictures.clear_revolute),
    Command("ClearPrisJoint", "ClearPrisJoint[]", "Prismatic joints without shape.", pictures.clear_prismatic),
    Command("ClearLinkShape", "ClearLinkShape[]", "Links as plain lines.", pictures.clear_link),
    Command(
        "SetRanges",
        "SetRanges[{-5, 5}, {-2, 4}, {0, 9}]",
        "The part of space that views and pictures show, in a box with numbers; SetRanges[] for everything.",
        animations.set_ranges,
        (
            Argument("x", "x", "list", "Smallest, largest, in m", example="-5, 5"),
            Argument("y", "y", "list", "Smallest, largest, in m", example="-2, 4"),
            Argument("z", "z", "list", "Smallest, largest, in m", example="0, 9"),
        ),
    ),
    Command("ShowAnim", "ShowAnim[]", "Play what was shown or loaded last.", animations.show),
    Command(
        "SaveAnim",
        'SaveAnim["anim1"]',
        "Keep the last animation in a file.",
        animations.save,
        (Argument("file", "File", "write", "A JSON file", needed=True, default="anim1.json"),),
    ),
    Command(
        "LoadAnim",
        'LoadAnim["anim1"]',
        "Read an animation of this robot; ShowAnim plays it.",
        animations.load,
        (Argument("file", "File", "read", "Written by SaveAnim", needed=True, default="anim1.json"),),
    ),
    Command(
        "Clear",
        "Clear[d3]",
        "Take the values of symbols away.",
        equations.clear,
        (Argument("symbols", "Symbols", "names", "Several with commas", needed=True, default="a1"),),
    ),
    Command(
        "GetInputTau",
        'GetInputTau["file"]',
        "Read torques; without a file they are zero.",
        response.get_torques,
        (Argument("file", "File", "read", "Torque file", example="all torques zero"),),
    ),
    Command("DisplayTau", "DisplayTau[]", "Show the torques.", response.display_torques),
    Command(
        "Response",
        "Response[{0, 10, 500}, {q1[0] == 0, q1'[0] == 0}]",
        "Let the robot move.",
        response.simulate_response,
        (
            Argument(
                "times",
                "Times",
                "list",
                "Start, end, and perhaps the largest number of steps",
                needed=True,
                default="0, 10",
            ),
            Argument(
                "conditions",
                "Initial conditions",
                "list",
                "q1[0] == 0, q1'[0] == 0 … or {q1, position, speed} …; zero where nothing is said",
                example="q1[0] == 0.3, q1'[0] == 0",
            ),
        ),
    ),
    Command(
        "SaveResponse",
        'SaveResponse["file", {0, 10}, 0.1]',
        "Save the response in SIMNON form.",
        response.save_response,
        (
            Argument("file", "File", "write", "SIMNON file", needed=True, default="response.sim"),
            Argument("times", "Times", "list", "Start, end", example="all"),
            Argument("increment", "Increment", "number", "Seconds between rows", example="0.1"),
        ),
    ),
    Command(
        "SimDrive",
        'SimDrive["file", {trace, arm, animate, 0.2}]',
        "Drive the robot by a trace.",
        response.drive,
        (
            Argument("file", "File", "read", '"*": the data in memory', default="*"),
            _options(
                Word("trace", "The path of the tool"),
                Word("arm", "The arm, picture beside picture"),
                _FRAME,
                Word("animate", "Play it"),
                Word("step", "Seconds between pictures", "number", bare=True, default="0.2"),
                Word("distance", "A picture each time the tool moved so far (m)", "number"),
                *_printed("simdrive"),
            ),
        ),
    ),
    Command(
        "SimPlot",
        "SimPlot[t, {q1, q2}, {1.5}]",
        "Plot a trace, any variable against any others.",
        response.plot,
        (
            Argument("along", "Along", "entry", "t, q1, q1', tau1 or a channel", needed=True, default="t"),
            Argument("variables", "Variables", "list", "Of the same kind, with commas", needed=True, default="q1"),
            _options(
                Word("aspect", "Height over width", "number", bare=True, default="as it fits"),
                Word("frame", "A frame round the plot, which it always has"),
                *_printed("simplot"),
            ),
        ),
    ),
    Command(
        "Help",
        "Help[FKin]",
        "What a function does.",
        show_help,
        (Argument("function", "Function", "entry", "By name", example="all"),),
    ),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _TABLE}
"""Functions by name, in the order of the manual."""
