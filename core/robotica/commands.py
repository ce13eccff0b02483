"""Robotica's functions by name, as in the command reference of its manual, implemented with functions of the catalogue.

The rows of this table are all there is to say about a function: the parser checks calls by them, help and completion
quote them, the window makes its sheets from them, the manual its reference.
"""

from __future__ import annotations

from core.errors import suggest_names
from core.files.mathematica.syntax import Tree, error_at
from core.functions.results import Message, Result
from core.robotica import animations, equations, pictures, response
from core.robotica.command import Argument, Command, OptionWord, string_value
from core.robotica.workspace import Workspace


def show_help(workspace: Workspace, name: Tree | None = None) -> Result:
    """Show the help of a function; without a name, list all functions."""
    if name is None:
        return Message(title="Functions", text="\n".join(f"{c.usage:60s} {c.help}" for c in COMMANDS.values()))
    command = COMMANDS.get(string_value(name))
    if command is None:
        raise error_at(
            name, f"There is no function '{string_value(name)}'.", suggest_names(string_value(name), COMMANDS)
        )
    return Message(title=command.name, text=command.help_text)


_MATRIX = Argument(
    "matrix",
    "Matrix",
    "entry",
    "A[i], T[i,j], J, M, MU, CM, G, c[i,j,k], Jvc[i], Jwc[i], or an entry",
    needed=True,
    default="M",
)
_LABEL = Argument("label", "Label", "text", "Label printed before the matrix", example="Mass matrix")
_APPEND = Argument(
    "file",
    "File",
    "write",
    'File to which the output is appended; it becomes the default file, written as "*"; empty: none',
    example="none",
)
_SHAPE = Argument(
    "file",
    "File",
    "read",
    "File with the shape: Line[{{x, y, z}, …}], Polygon[…] and Point[…] lists, or an STL, OBJ or glTF "
    "mesh; empty: the standard shape",
    example="the standard shape",
)
_SINGLE = OptionWord("single", "Show only the first pose")
_FRAME = OptionWord("frame", "Draw a box around the picture")
_ANIMATE = OptionWord("animate", "Show the poses one after another; ShowAnim plays them again, SaveAnim saves them")
_SHOWN = (_SINGLE, _FRAME, _ANIMATE)


def _print_options(name: str) -> tuple[OptionWord, ...]:
    return (
        OptionWord("print", f"Also write a picture for printing: {name}.pdf"),
        OptionWord("mprint", f"Also write a picture to the standard file: m{name}.png"),
        OptionWord("xprint", "Also write a picture to a file of your choice (.png, .svg, .pdf)", "text"),
    )


_RANGES = Argument(
    "ranges",
    "Ranges",
    "list",
    "{variable, start, end, divisions}, several separated by commas; angles in radians or as 90 Degree; "
    "5 divisions by default; a number after the last range is the number of divisions of all ranges",
    example="{q1, 0, 90 Degree, 8}, {q2, 0, 1, 8}",
)


def _options_argument(*words: OptionWord) -> Argument:
    return Argument("options", "Options", "options", words=words)


_TABLE = (
    Command(
        "DataFile",
        'DataFile["name"]',
        "Read a robot from any supported file; all earlier definitions are discarded.",
        equations.read_data_file,
        (
            Argument(
                "name", "File", "read", "File of the robot; without a name, a dialog asks for the file", example="ask"
            ),
        ),
    ),
    Command("PrintInputData", "PrintInputData[]", "Show the robot's tables.", equations.show_input_tables),
    Command("FKin", "FKin[]", "Derive the A and T matrices and the Jacobian.", equations.derive_forward_kinematics),
    Command(
        "ELDynamics",
        "ELDynamics[]",
        "Derive the mass matrix, Christoffel symbols, C matrix and gravity vector.",
        equations.derive_dynamics,
    ),
    Command("SDynamics", "SDynamics[]", "Show the simplified dynamics.", equations.show_simplified_dynamics),
    Command(
        "SimplifyExpression",
        "SimplifyExpression[c[1,1,1]]",
        "Simplify an expression.",
        equations.simplify_expression,
        (
            Argument(
                "expression",
                "Expression",
                "entry",
                "Expression of numbers, symbols and entries of matrices",
                needed=True,
                default="c[1,1,1]",
            ),
        ),
    ),
    Command(
        "SimplifyTrigNotation",
        "SimplifyTrigNotation[]",
        "Write C1 and S12 for Cos[q1] and Sin[q1 + q2] in all later results; with the word full, write them out in "
        "full.",
        equations.set_trig_notation,
        (Argument("notation", "Notation", "entry", "short or full", example="short"),),
    ),
    Command(
        "MPrint", 'MPrint[T[0,1], "T01", "file"]', "Print a matrix.", equations.print_matrix, (_MATRIX, _LABEL, _APPEND)
    ),
    Command(
        "EPrint",
        'EPrint[M, "Mass matrix", "file"]',
        "Print a matrix, one entry per line, column by column.",
        equations.print_elements,
        (_MATRIX, _LABEL, _APPEND),
    ),
    Command(
        "CPrint",
        'CPrint["label", "file"]',
        "Print the C matrix, one entry per line.",
        equations.print_coriolis,
        (_LABEL, _APPEND),
    ),
    Command("APrint", 'APrint["file"]', "Print every A matrix.", equations.print_all_a, (_APPEND,)),
    Command("TPrint", 'TPrint["file"]', "Print every T matrix.", equations.print_all_t, (_APPEND,)),
    Command(
        "Planar",
        "Planar[]",
        "Show the directions in which the tool can move: 0 none, 1 x, 2 y, 3 xy, 4 z, 5 xz, 6 yz, 7 xyz.",
        pictures.find_tool_directions,
    ),
    Command(
        "RElp",
        "RElp[{{q1, 0, 90 Degree}, {a2, 3, 8}}, {scale}]",
        "Draw manipulability ellipsoids over ranges.",
        pictures.show_ellipsoids,
        (
            _RANGES,
            _options_argument(
                *_SHOWN,
                OptionWord("scale", "Scale each ellipsoid so that its longest axis is two units long"),
                OptionWord(
                    "measures", "Also print volume, eccentricity, smallest radius and geometric mean of the radii"
                ),
                OptionWord("monly", "Print the measures only, without a picture"),
                OptionWord("file", "Write the measures to a file", "text"),
                *_print_options("relp"),
            ),
        ),
    ),
    Command(
        "ShowRobot",
        "ShowRobot[{{q1, 20 Degree, 90 Degree, 8}}, {animate}]",
        "Draw the arm over ranges, with all variables changing simultaneously.",
        pictures.show_robot,
        (_RANGES, _options_argument(*_SHOWN, *_print_options("robotplot"))),
    ),
    Command(
        "SeqShowRobot",
        "SeqShowRobot[{{q1, 0, 1}, {q2, 0, 1}}, {animate}]",
        "Draw the arm over ranges, with one variable changing after another.",
        pictures.show_in_sequence,
        (_RANGES, _options_argument(*_SHOWN, *_print_options("robotplot"))),
    ),
    Command(
        "RevJoint",
        'RevJoint["file"]',
        "Set the shape of revolute joints, which turns with the joint; without a file, use the standard shape.",
        pictures.set_revolute_shape,
        (_SHAPE,),
    ),
    Command(
        "PrisJoint",
        'PrisJoint["file"]',
        "Set the shape of prismatic joints, which moves with the joint; without a file, use the standard shape.",
        pictures.set_prismatic_shape,
        (_SHAPE,),
    ),
    Command(
        "LinkShape",
        'LinkShape["file"]',
        "Set the shape of links: a shape one unit long, which is stretched to the length a along x or d along z; "
        "without a "
        "file the standard shape.",
        pictures.set_link_shape,
        (_SHAPE,),
    ),
    Command("ClearRevJoint", "ClearRevJoint[]", "Draw revolute joints as plain lines.", pictures.clear_revolute_shape),
    Command(
        "ClearPrisJoint", "ClearPrisJoint[]", "Draw prismatic joints as plain lines.", pictures.clear_prismatic_shape
    ),
    Command("ClearLinkShape", "ClearLinkShape[]", "Draw links as plain lines.", pictures.clear_link_shape),
    Command(
        "SetRanges",
        "SetRanges[{-5, 5}, {-2, 4}, {0, 9}]",
        "Set the region of space that views and pictures show, in a box with numbered axes; SetRanges[] "
        "shows everything.",
        animations.set_ranges,
        (
            Argument("x", "x", "list", "Smallest and largest value, m", example="-5, 5"),
            Argument("y", "y", "list", "Smallest and largest value, m", example="-2, 4"),
            Argument("z", "z", "list", "Smallest and largest value, m", example="0, 9"),
        ),
    ),
    Command("ShowAnim", "ShowAnim[]", "Play the animation that was shown or loaded last.", animations.show_animation),
    Command(
        "SaveAnim",
        'SaveAnim["anim1"]',
        "Save the last animation to a file.",
        animations.save,
        (Argument("file", "File", "write", "JSON file for the animation", needed=True, default="anim1.json"),),
    ),
    Command(
        "LoadAnim",
        'LoadAnim["anim1"]',
        "Read an animation of this robot; ShowAnim plays it.",
        animations.load,
        (Argument("file", "File", "read", "File written by SaveAnim", needed=True, default="anim1.json"),),
    ),
    Command(
        "Clear",
        "Clear[d3]",
        "Remove the values of symbols.",
        equations.clear_values,
        (Argument("symbols", "Symbols", "names", "Names of symbols, separated by commas", needed=True, default="a1"),),
    ),
    Command(
        "GetInputTau",
        'GetInputTau["file"]',
        "Read joint torques from a file; without a file all torques are zero.",
        response.read_torques,
        (Argument("file", "File", "read", "Torque file", example="all torques zero"),),
    ),
    Command("DisplayTau", "DisplayTau[]", "Show the joint torques.", response.display_torques),
    Command(
        "Response",
        "Response[{0, 10, 500}, {q1[0] == 0, q1'[0] == 0}]",
        "Simulate the motion of the robot under the joint torques.",
        response.simulate_response,
        (
            Argument(
                "times",
                "Times",
                "list",
                "Start and end, s, and optionally the largest number of steps",
                needed=True,
                default="0, 10",
            ),
            Argument(
                "conditions",
                "Initial conditions",
                "list",
                "q1[0] == 0, q1'[0] == 0 …, or {q1, position, speed} …; zero if not given",
                example="q1[0] == 0.3, q1'[0] == 0",
            ),
        ),
    ),
    Command(
        "SaveResponse",
        'SaveResponse["file", {0, 10}, 0.1]',
        "Save the response in SIMNON format.",
        response.save_response,
        (
            Argument(
                "file",
                "File",
                "write",
                "SIMNON file for the response (.csv: CSV, .h5: the whole run)",
                needed=True,
                default="response.sim",
            ),
            Argument("times", "Times", "list", "Start and end, s; empty: the whole response", example="all"),
            Argument("increment", "Increment", "number", "Time between rows, s", example="0.1"),
        ),
    ),
    Command(
        "SimDrive",
        'SimDrive["file", {trace, arm, animate, 0.2}]',
        "Move the robot along a trace.",
        response.simulate_drive,
        (
            Argument("file", "File", "read", 'Trace file; "*": the last response or trace in memory', default="*"),
            _options_argument(
                OptionWord("trace", "Draw the path of the tool"),
                OptionWord("arm", "Draw the arm at successive times"),
                _FRAME,
                OptionWord("animate", "Play the motion"),
                OptionWord("step", "Time between successive arms, s", "number", bare=True, default="0.2"),
                OptionWord("distance", "Distance that the tool moves between successive arms, m", "number"),
                *_print_options("simdrive"),
            ),
        ),
    ),
    Command(
        "SimPlot",
        "SimPlot[t, {q1, q2}, {1.5}]",
        "Plot any variables of a trace against any other.",
        response.plot_variables,
        (
            Argument(
                "along",
                "Along",
                "entry",
                "Variable on the horizontal axis: t, q1, q1', tau1 or a channel",
                needed=True,
                default="t",
            ),
            Argument(
                "variables",
                "Variables",
                "list",
                "Variables on the vertical axis (named as for the horizontal axis), separated by commas",
                needed=True,
                default="q1",
            ),
            _options_argument(
                OptionWord("aspect", "Ratio of height to width", "number", bare=True, default="as it fits"),
                OptionWord("frame", "Frame around the plot (always drawn)"),
                *_print_options("simplot"),
            ),
        ),
    ),
    Command(
        "Help",
        "Help[FKin]",
        "Show what a function does.",
        show_help,
        (Argument("function", "Function", "entry", "Name of the function; empty: list all functions", example="all"),),
    ),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _TABLE}
"""Functions by name, in the order of the manual."""
