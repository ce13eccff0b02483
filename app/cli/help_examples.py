"""Example command lines at the end of each command's help."""

from __future__ import annotations

CLOSING = """\b
Numbers take units and formulas: --pose joint1="30 deg", --set l1="50 mm"; without a unit they are SI (rad, m, s, N).
Exit code 0: done, warnings allowed; 1: errors found; 2: wrong usage.
"""
"""Text at the end of `kinetostat --help`."""

EXAMPLES = {
    "check": ("check arm.urdf --package my_robot=../my_robot", "check arm.urdf --strict --json"),
    "info": ('info arm.urdf --pose joint1="30 deg"', "info arm.urdf --json"),
    "render": ("render arm.urdf -o arm.png --view front --transparent",),
    "convert": ("convert arm.urdf arm.kst", "convert robot.rob robot.urdf --force"),
    "run": (
        'run arm.kst --duration 2 --q0 joint1="30 deg" --torque joint2="40*cos(t)" -o arm.h5',
        "run four_bar.kst --channels crank_pin.v,energy.total -o - | head",
    ),
    "plot": (
        "plot arm.h5",
        "plot arm.h5 joint1.q tool.position.x -o arm.pdf",
        "plot a.h5 joint1.q --with b.h5 -o ab.csv",
    ),
    "study": (
        "study arm.kst --grid l1=0.3:0.5:21 --record 'w=max(abs(joint2.v))' --duration 2 -o arm.h5",
        "study arm.kst --sample 'm=normal(2, 0.05)' -n 1000 --seed 7 --record 'e=at(tool.position, end)' --cores all",
        "study arm.kst --kind poses --grid joint1=0:1:20 --record 'w=tool.manipulability' -o w.csv",
    ),
    "film": (
        "film arm.h5 -o arm.mp4 --arrows force --trace tool",
        "film four_bar.kst --duration 2 --speed 0.25 -o slow.gif",
    ),
    "robotica": ('robotica stanford.rob -c "FKin[]; MPrint[T[0,2]]"', "robotica arm.rob --script calls.txt"),
    "examples": ("examples", "examples four_bar -o work"),
    "fit_dh_table": ("fit-dh-table arm.urdf --tip tool0 --file arm.kst",),
    "inverse_kinematics": ("inverse-kinematics arm.kst --position 0.4,0.1,0.6 --show all",),
    "manipulability": ('ellipsoid arm.rob --ranges joint1=0:"90 deg" --scale',),
    "response": ('response arm.rob --torques circle.tau --set k1=400 --initial q1="30 deg" --end 10',),
    "identify": (
        "identify arm.kst measured.csv --save better.kst",
        'identify arm.kst log.csv --columns "joint1.q=angle [deg], joint1.tau=torque" --cutoff "10 Hz"',
    ),
    "fit_run": ("fit-run pendulum.kst swing.csv --vary k --vary c=0:5",),
    "excitation": ("excitation arm.kst --period 8 --speed 1.5 --save motion.csv",),
    "derive": ("derive two_link.rob --what M -o M.tex", "derive two_link.rob --what T --i 0 --j 2"),
    "write_equations": ("write-equations two_link.rob --what M --language latex --file M.tex",),
    "simplify_expression": ('simplify-expression arm.rob --expression "Cos[q1]^2 + Sin[q1]^2"',),
    "picture": ("picture arm.kst --file arm.png --width 2400 --height 1600",),
    "show_robot": ('show-robot arm.rob --ranges q1=0:"90 deg":4',),
    "show_in_sequence": ('show-in-sequence arm.rob --sequence q1=0:"90 deg":4 --sequence q2=0:1:4',),
}
"""Example lines without the program's name, by command or function."""


def help_ending(name: str, called: str) -> str:
    """Return the end of the help text of the command or function `name`, invoked as `called`; a plain example line if
    none is listed."""
    lines = EXAMPLES.get(name, (f'{called} arm.kst --pose joint1="30 deg" --json',))
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  kinetostat {line}" for line in lines)])
