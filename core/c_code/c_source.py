"""Generation of the C source file NAME.c.

The code is C99 that needs <math.h> alone: nothing is allocated, no loop has a bound that is not constant, each value is
assigned once, and every function costs the same at each call but for which of two sets of rows closes the loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.c_code.header import escape_comment
from core.c_code.plan import ExportPlan, state_parts
from core.c_code.stepper import LEAST_PART
from core.mechanics.elements.time_argument import DEGREE
from core.numerics.tolerances import OPEN_GAP

Array = NDArray[np.float64]


def write_source(plan: ExportPlan) -> str:
    """Return the text of NAME.c."""
    public = {each.name for each in plan.public}
    texts = [
        f"/* {escape_comment(plan.title)}: see {plan.name}.h. Made by Kinetostat. */",
        f'#include "{plan.name}.h"',
        "",
        "#include <math.h>",
        "",
    ]
    for key, function in plan.written.items():
        text = function.text
        if key in public:  # the last function of its text is the one that others call
            text = _make_public(text, function.name)
        texts.append(text)
    texts += [
        *_start_values(plan),
        *_clock_function(plan),
        *_derivative_function(plan),
        *_jacobian_functions(plan),
        *_projection_function(plan),
        *_step_function(plan),
        *_outputs_function(plan),
    ]
    return "\n".join(texts)


def _make_public(text: str, name: str) -> str:
    before, inner = text.rsplit(f"static void {name}(", 1)
    return f"{before}void {name}({inner}"


def _format_numbers(plan: ExportPlan, values: Array) -> str:
    return ", ".join(plan.precision.format_number(float(x)) for x in values)


def _constant_array(plan: ExportPlan, name: str, values: Array) -> list[str]:
    real = plan.precision.type
    rows = [f"    {_format_numbers(plan, values[k : k + 4])}," for k in range(0, len(values), 4)]
    rows[-1] = rows[-1].removesuffix(",")
    return [f"static const {real} {name}[{len(values)}] =", "{", *rows, "};", ""]


def _start_values(plan: ExportPlan) -> list[str]:
    m, name, up = plan.machine, plan.name, plan.upper
    parts = {
        "q": plan.start[: m.nq],
        "v": plan.start[m.nq : m.nq + m.nv],
        "x": plan.start[m.nq + m.nv :],
        "p": m.p if plan.parameters else np.zeros(0),
    }
    lines: list[str] = []
    for letter, values in parts.items():
        if len(values):
            lines += _constant_array(plan, f"{name}_{letter}0", values)
    lines += [f"void {name}_start({name}_state *state)", "{"]
    zero = plan.precision.format_number(0.0)
    lines += [f"    state->time = {zero};", f"    state->begin = {zero};", "    state->steps = 0UL;"]
    for letter, values in parts.items():
        if len(values):
            lines += _for_loop(f"{up}_N{letter.upper()}", f"state->{letter}[i] = {name}_{letter}0[i];", 4)
    return [*lines, "}", ""]


def _for_loop(count: str, body: str, indent: int, first: str = "0") -> list[str]:
    pad = " " * indent
    return [f"{pad}for (int i = {first}; i < {count}; i++)", f"{pad}{{", f"{pad}    {body}", f"{pad}}}"]


def _has_time(plan: ExportPlan) -> bool:
    return plan.machine.time_size > 0


def _clock_function(plan: ExportPlan) -> list[str]:
    """Return the C function NAME_clock(time, t), which computes the time argument; recorded signals are polynomials
    between their points."""
    if not _has_time(plan):
        return []
    name, real, number = plan.name, plan.precision.type, plan.precision.format_number
    lines: list[str] = []
    splines = plan.splines
    assert splines is not None
    for k, (first, last) in enumerate(zip(splines.first[:-1], splines.first[1:], strict=True)):
        lines += _constant_array(plan, f"{name}_times{k}", splines.times[first:last])
        lines += _constant_array(plan, f"{name}_polynomials{k}", splines.coefficients[first:last].ravel())
    if len(splines.first) > 1:
        lines += _recorded_signal_code(plan)
    lines += [f"static void {name}_clock({real} time, {real} t[])", "{", "    t[0] = time;"]
    signals = len(splines.first) - 1
    for k in range(signals):
        count = int(splines.first[k + 1] - splines.first[k])
        lines.append(f"    {name}_signal(time, {name}_times{k}, {name}_polynomials{k}, {count}, &t[{1 + 3 * k}]);")
    lines += [f"    t[{k}] = {number(0.0)};" for k in range(1 + 3 * signals, plan.machine.time_size)]
    return [*lines, "}", ""]


def _recorded_signal_code(plan: ExportPlan) -> list[str]:
    """Return C code for the value and first two derivatives of a recorded signal, found by a fixed number of
    bisections."""
    real, number = plan.precision.type, plan.precision.format_number
    assert plan.splines is not None
    longest = int(np.max(np.diff(plan.splines.first)))
    rounds = max(int(np.ceil(np.log2(max(longest, 2)))), 1)
    return [
        f"static void {plan.name}_signal("
        f"{real} time, const {real} times[], const {real} polynomials[], int count, {real} t[])",
        "{",
        "    int low = 0;",
        "    int high = count - 1;",
        "    const int inside = (time >= times[0]) && (time < times[count - 1]);",
        f"    for (int i = 0; i < {rounds}; i++)",
        "    {",
        "        const int middle = (low + high) / 2;",
        "        const int upper = (time >= times[middle]) && (middle > low);",
        "        const int lower = (time < times[middle]);",
        "        low = upper ? middle : low;",
        "        high = lower ? middle : high;",
        "    }",
        "    {",
        "        const int at = inside ? low : ((time < times[0]) ? 0 : (count - 1));",
        f"        const {real} h = inside ? (time - times[at]) : {number(0.0)};",
        f"        const {real} *c = &polynomials[{DEGREE + 1} * at];",
        f"        t[0] = {_horner(0, number)};",
        f"        t[1] = inside ? {_horner(1, number)} : {number(0.0)};",
        f"        t[2] = inside ? {_horner(2, number)} : {number(0.0)};",
        "    }",
        "}",
        "",
    ]


def _horner(order: int, number: Callable[[float], str]) -> str:
    """Return the C expression of a derivative of the polynomial with coefficients c, highest power first, at h."""
    text = ""
    for power in range(DEGREE, order - 1, -1):
        factor = float(math.perm(power, order))
        term = f"c[{DEGREE - power}]" if factor == 1.0 else f"{number(factor)} * c[{DEGREE - power}]"
        text = f"({term} + h * {text})" if text else term
    return text


def _call_arguments(plan: ExportPlan, key: str, states: str, **others: str) -> list[str]:
    """Return the C arguments of a function whose q, v and x are contiguous in one array; others : expressions of the
    other arguments."""
    up = plan.upper
    words = {
        "q": states,
        "v": f"{states} + {up}_NQ",
        "x": f"{states} + {up}_NQ + {up}_NV",
        "t": "t",
        "u": "u",
        "p": "p",
        "f": "m",
        "a": "a",
        **others,
    }
    traced = plan.outputs if key == "values" else getattr(plan.functions, key)
    assert traced is not None
    return [words[word] for word in traced.arguments]


def _call_statement(plan: ExportPlan, key: str, states: str, result: str, **others: str) -> str:
    return plan.written[key].call(_call_arguments(plan, key, states, **others), result)


def _takes_argument(plan: ExportPlan, keys: Sequence[str], argument: str) -> bool:
    """Return True if any of these functions takes the argument."""
    for key in keys:
        if key not in plan.written:
            continue
        traced = plan.outputs if key == "values" else getattr(plan.functions, key)
        assert traced is not None
        if argument in [traced.arguments[i] for i in plan.written[key].used]:
            return True
    return False


OF_RATES = ("rates", "reduced")
OF_SLOPES = ("reduced", "slopes", "reduced_slopes")
OF_PROJECTION = ("normalised", "settled", "closed", "masses", "positions", "speeds", "beyond")


def _helper_parameters(
    plan: ExportPlan, keys: Sequence[str], further_arguments: Sequence[str] = "ut"
) -> list[tuple[str, str]]:
    """Return (declaration, name) of the arguments that helper functions receive and pass on."""
    real, found = plan.precision.type, []
    if "u" in further_arguments and _takes_argument(plan, keys, "u"):
        found.append((f"const {real} u[]", "u"))
    if _takes_argument(plan, keys, "t"):
        found.append((f"{real} time", "time"))
    if _takes_argument(plan, keys, "p"):
        found.append((f"const {real} p[]", "p"))
    return found


def _derivative_function(plan: ExportPlan) -> list[str]:
    """Return the C function NAME_derivative(s, u, time, p, f), which computes ẏ and returns a status."""
    up, real, number = plan.upper, plan.precision.type, plan.precision.format_number
    heads = [f"const {real} s[]", *(text for text, _ in _helper_parameters(plan, OF_RATES)), f"{real} f[]"]
    last = f"f[{up}_NQ + {up}_NV + {up}_NX]"
    lines = [f"static int {plan.name}_derivative({', '.join(heads)})", "{", "    int status = 0;"]
    lines += _time_argument_code(plan, OF_RATES)
    full = [
        f"    {_call_statement(plan, 'rates', 's', 'f')}",
        f"    if (!({last} > {number(LEAST_PART)}))",
        "    {",
        f"        status = {up}_NEAR_SINGULAR;",
        "    }",
    ]
    if "reduced" in plan.written:
        lines.append(f"    {_call_statement(plan, 'reduced', 's', 'f')}")
        full = [f"    if (!({last} > {number(0.0)}))", "    {", *(f"    {line}" for line in full), "    }"]
    elif plan.functions.positions is None:
        full = full[:1]
    return [*lines, *full, "    return status;", "}", ""]


def _jacobian_functions(plan: ExportPlan) -> list[str]:
    """Return the C functions NAME_factors(s, u, time, p, w, row), which factorises 1 − γ h J, and NAME_solve(w, row,
    b), which replaces b by the solution."""
    if not plan.method.implicit:
        return []
    up, real, number = plan.upper, plan.precision.type, plan.precision.format_number
    n = f"({up}_NQ + {up}_NV + {up}_NX)"
    heads = [
        f"const {real} s[]",
        *(text for text, _ in _helper_parameters(plan, OF_SLOPES)),
        f"{real} w[]",
        "int row[]",
    ]
    lines = [f"static void {plan.name}_factors({', '.join(heads)})", "{"]
    lines += _time_argument_code(plan, OF_SLOPES)
    if not any(_takes_argument(plan, OF_SLOPES, word) for word in "qvx"):
        lines.append("    (void)s;")
    call = _call_statement(plan, "slopes", "s", "w")
    if "reduced_slopes" in plan.written:
        size = plan.written["reduced"].size
        lines += [
            f"    {real} f[{size}];",
            f"    {_call_statement(plan, 'reduced', 's', 'f')}",
            f"    if (f[{size - 1}] > {number(0.0)})",
            "    {",
            f"        {_call_statement(plan, 'reduced_slopes', 's', 'w')}",
            "    }",
            "    else",
            "    {",
            f"        {call}",
            "    }",
        ]
    else:
        lines.append(f"    {call}")
    lines += _for_loop(f"{n} * {n}", f"w[i] = {number(-plan.h * plan.method.implicit)} * w[i];", 4)
    lines += _for_loop(n, f"w[i * {n} + i] += {number(1.0)};", 4)
    return [*lines, *_elimination_code(plan, n)]


def _elimination_code(plan: ExportPlan, n: str) -> list[str]:
    """Return the end of NAME_factors, elimination with partial pivoting, and NAME_solve."""
    real = plan.precision.type
    absolute = "fabsf" if real == "float" else "fabs"
    return [
        f"    for (int k = 0; k < {n}; k++)",
        "    {",
        "        int at = k;",
        f"        for (int i = k + 1; i < {n}; i++)",
        "        {",
        f"            at = ({absolute}(w[i * {n} + k]) > {absolute}(w[at * {n} + k])) ? i : at;",
        "        }",
        "        row[k] = at;",
        f"        for (int j = 0; j < {n}; j++)",
        "        {",
        f"            const {real} kept = w[k * {n} + j];",
        f"            w[k * {n} + j] = w[at * {n} + j];",
        f"            w[at * {n} + j] = kept;",
        "        }",
        f"        for (int i = k + 1; i < {n}; i++)",
        "        {",
        f"            w[i * {n} + k] = w[i * {n} + k] / w[k * {n} + k];",
        f"            for (int j = k + 1; j < {n}; j++)",
        "            {",
        f"                w[i * {n} + j] -= w[i * {n} + k] * w[k * {n} + j];",
        "            }",
        "        }",
        "    }",
        "}",
        "",
        *_solve_function(plan, n),
    ]


def _solve_function(plan: ExportPlan, n: str) -> list[str]:
    """Return the C function NAME_solve."""
    real = plan.precision.type
    return [
        f"static void {plan.name}_solve(const {real} w[], const int row[], {real} b[])",
        "{",
        f"    for (int k = 0; k < {n}; k++)",
        "    {",
        f"        const {real} kept = b[k];",
        "        b[k] = b[row[k]];",
        "        b[row[k]] = kept;",
        f"        for (int i = k + 1; i < {n}; i++)",
        "        {",
        f"            b[i] -= w[i * {n} + k] * b[k];",
        "        }",
        "    }",
        f"    for (int i = {n} - 1; i >= 0; i--)",
        "    {",
        f"        for (int k = {n} - 1; k > i; k--)",
        "        {",
        f"            b[i] -= w[i * {n} + k] * b[k];",
        "        }",
        f"        b[i] = b[i] / w[i * {n} + i];",
        "    }",
        "}",
        "",
    ]


def _time_argument_code(plan: ExportPlan, keys: Sequence[str]) -> list[str]:
    if not _takes_argument(plan, keys, "t"):
        return []
    return [
        f"    {plan.precision.type} t[{plan.machine.time_size}];",
        f"    {plan.name}_clock(time, t);",
    ]


def _copy_lines(lines: Sequence[str], pad: int) -> list[str]:
    return [" " * pad + line for line in lines]


def _projection_function(plan: ExportPlan) -> list[str]:
    """Return the C function NAME_project(s, time, p), which closes the loops in s and returns a status."""
    present = [key for key in OF_PROJECTION if key in plan.written]
    if not present:
        return []
    up, real, number = plan.upper, plan.precision.type, plan.precision.format_number
    heads = [f"{real} s[]", *(text for text, _ in _helper_parameters(plan, present, "t"))]
    lines = [f"static int {plan.name}_project({', '.join(heads)})", "{", "    int status = 0;"]
    sizes = [plan.written[key].size for key in present if key != "masses"]
    lines.append(f"    {real} r[{max(sizes)}];")
    if "masses" in plan.written:
        lines.append(f"    {real} m[{plan.machine.factor_size}];")
    lines += _time_argument_code(plan, present)
    if "normalised" in plan.written:
        lines += [f"    {_call_statement(plan, 'normalised', 's', 'r')}", *_for_loop(f"{up}_NQ", "s[i] = r[i];", 4)]
    if "settled" in plan.written:
        inner = [
            _call_statement(plan, "settled", "s", "r"),
            *_for_loop(f"{up}_NX", f"s[{up}_NQ + {up}_NV + i] = r[i];", 0),
        ]
        lines += [f"    for (int k = 0; k < {plan.closing}; k++)", "    {", *_copy_lines(inner, 8), "    }"]
    iterate = _iterative_projection_code(plan) if "positions" in plan.written else []
    if "closed" in plan.written:
        lines += [
            f"    {_call_statement(plan, 'closed', 's', 'r')}",
            f"    if (r[{up}_NQ + {up}_NV] > {number(0.0)})",
            "    {",
            *_for_loop(f"{up}_NQ + {up}_NV", "s[i] = r[i];", 8),
            "    }",
            "    else",
            "    {",
            *_copy_lines(iterate, 8),
            "    }",
        ]
    else:
        lines += _copy_lines(iterate, 4)
    if "beyond" in plan.written:
        lines += [
            f"    {_call_statement(plan, 'beyond', 's', 'r')}",
            f"    for (int i = 0; i < {plan.written['beyond'].size}; i++)",
            "    {",
            f"        if (r[i] > {number(0.0)})",
            "        {",
            f"            status |= {up}_LIMIT;",
            "        }",
            "    }",
        ]
    return [*lines, "    return status;", "}", ""]


def _iterative_projection_code(plan: ExportPlan) -> list[str]:
    up, real, number = plan.upper, plan.precision.type, plan.precision.format_number
    return [
        f"{real} gap = {number(0.0)};",
        _call_statement(plan, "masses", "s", "m"),
        f"for (int k = 0; k < {plan.closing}; k++)",
        "{",
        f"    {_call_statement(plan, 'positions', 's', 'r')}",
        *_for_loop(f"{up}_NQ", "s[i] = r[i];", 4),
        f"    gap = r[{up}_NQ];",
        "}",
        _call_statement(plan, "speeds", "s", "r"),
        *_for_loop(f"{up}_NV", f"s[{up}_NQ + i] = r[i];", 0),
        f"if (!(gap < {number(OPEN_GAP)}))",
        "{",
        f"    status |= {up}_OUT_OF_REACH;",
        "}",
        f"if (!(r[{up}_NV] > {number(LEAST_PART)}))",
        "{",
        f"    status |= {up}_NEAR_SINGULAR;",
        "}",
    ]


def _passed_arguments(plan: ExportPlan, keys: Sequence[str], further_arguments: str, time: str) -> list[str]:
    """Return the arguments passed on to a helper function."""
    names = {"u": "input->u", "time": time, "p": "state->p"}
    return [names[name] for _, name in _helper_parameters(plan, keys, further_arguments)]


def _step_function(plan: ExportPlan) -> list[str]:
    """Return the C function NAME_step."""
    up, name, real, number = plan.upper, plan.name, plan.precision.type, plan.precision.format_number
    total = f"{up}_NQ + {up}_NV + {up}_NX"
    h = number(plan.h)
    lines = [
        f"int {name}_step({name}_state *state, const {name}_input *input, {name}_output *output)",
        "{",
        "    int status = 0;",
        f"    {real} s[{total}];",
        f"    {real} f[{total} + 1];",
        f"    {real} finite = {number(0.0)};",
    ]
    if len(plan.method.c) > 1:
        lines.append(f"    {real} z[{total}];")
    if plan.method.implicit:
        lines += [f"    {real} g[{total} + 1];", f"    {real} w[({total}) * ({total})];", f"    int row[{total}];"]
    elif not plan.method.impulse:
        lines.append(f"    {real} sum[{total}];")
    uses_time = _takes_argument(plan, OF_RATES, "t")
    if not uses_time and not _takes_argument(plan, OF_RATES, "u"):
        lines.append("    (void)input;")
    lines += _pack_state(plan)
    of_method = (
        _semi_implicit_step if plan.method.impulse else _implicit_step if plan.method.implicit else _explicit_stages
    )
    lines += of_method(plan)
    if any(key in plan.written for key in OF_PROJECTION):
        after = f"state->time + {h}"
        arguments = ["s", *_passed_arguments(plan, [k for k in OF_PROJECTION if k in plan.written], "t", after)]
        lines.append(f"    status |= {name}_project({', '.join(arguments)});")
    lines += [
        f"    for (int i = 0; i < {total}; i++)",
        "    {",
        f"        finite += s[i] * {number(0.0)};",
        "    }",
        f"    if (!(finite == {number(0.0)}))",
        "    {",
        f"        status |= {up}_NOT_FINITE;",
        "    }",
        f"    if ((status & ({up}_NOT_FINITE | {up}_OUT_OF_REACH)) == 0)",
        "    {",
        *_unpack_state(plan),
        "        state->steps++;",
        f"        state->time = state->begin + ({real})state->steps * {h};",
        "    }",
        f"    {name}_outputs(state, input, output);",
        "    return status;",
        "}",
        "",
    ]
    return lines


def _pack_state(plan: ExportPlan) -> list[str]:
    """Return C code that copies q, v and x into the array s."""
    parts = state_parts(plan)
    return [line for x, count, at in parts for line in _for_loop(count, f"s[{at}i] = state->{x}[i];", 4)]


def _unpack_state(plan: ExportPlan) -> list[str]:
    """Return C code that copies the array s into q, v and x."""
    parts = state_parts(plan)
    return [line for x, count, at in parts for line in _for_loop(count, f"state->{x}[i] = s[{at}i];", 8)]


def _explicit_stages(plan: ExportPlan) -> list[str]:
    up, name, number = plan.upper, plan.name, plan.precision.format_number
    total, lines = f"{up}_NQ + {up}_NV + {up}_NX", list[str]()
    lines += _for_loop(total, f"sum[i] = {number(0.0)};", 4)
    for k, (c, b) in enumerate(zip(plan.method.c, plan.method.b, strict=True)):
        if k:
            lines += _for_loop(total, f"z[i] = s[i] + {number(plan.h * c)} * f[i];", 4)
        time = "state->time" if c == 0.0 else f"state->time + {number(plan.h * c)}"
        arguments = ["z" if k else "s", *_passed_arguments(plan, OF_RATES, "ut", time), "f"]
        lines.append(f"    status |= {name}_derivative({', '.join(arguments)});")
        lines += _for_loop(total, f"sum[i] += {number(b)} * f[i];", 4)
    return [*lines, *_for_loop(total, f"s[i] += {number(plan.h)} * sum[i];", 4)]


def _implicit_step(plan: ExportPlan) -> list[str]:
    up, name, number = plan.upper, plan.name, plan.precision.format_number
    total, h = f"{up}_NQ + {up}_NV + {up}_NX", plan.h
    now, soon = "state->time", f"state->time + {number(h)}"
    rates = f"{name}_derivative"
    first, second = map(number, plan.method.b)
    return [
        f"    {name}_factors({', '.join(['s', *_passed_arguments(plan, OF_SLOPES, 'ut', now), 'w', 'row'])});",
        f"    status |= {rates}({', '.join(['s', *_passed_arguments(plan, OF_RATES, 'ut', now), 'f'])});",
        f"    {name}_solve(w, row, f);",
        *_for_loop(total, f"z[i] = s[i] + {number(h)} * f[i];", 4),
        f"    status |= {rates}({', '.join(['z', *_passed_arguments(plan, OF_RATES, 'ut', soon), 'g'])});",
        *_for_loop(total, f"g[i] = g[i] - {number(2.0)} * f[i];", 4),
        f"    {name}_solve(w, row, g);",
        *_for_loop(total, f"s[i] += {number(h)} * ({first} * f[i] + {second} * g[i]);", 4),
    ]


def _semi_implicit_step(plan: ExportPlan) -> list[str]:
    up, name, number = plan.upper, plan.name, plan.precision.format_number
    h = number(plan.h)
    arguments = ["s", *_passed_arguments(plan, OF_RATES, "ut", "state->time"), "f"]
    return [
        f"    status |= {name}_derivative({', '.join(arguments)});",
        *_for_loop(f"{up}_NQ + {up}_NV + {up}_NX", f"s[i] += {h} * f[i];", 4, f"{up}_NQ"),
        f"    {_call_statement(plan, 'q_rate', 's', 'f')}",
        *_for_loop(f"{up}_NQ", f"s[i] += {h} * f[i];", 4),
    ]


def _outputs_function(plan: ExportPlan) -> list[str]:
    """Return the C function NAME_outputs."""
    up, name, real = plan.upper, plan.name, plan.precision.type
    head = f"void {name}_outputs(const {name}_state *state, const {name}_input *input, {name}_output *output)"
    if plan.outputs is None:
        return [head, "{", "    (void)input;", "    output->time = state->time;", "}", ""]
    total = f"{up}_NQ + {up}_NV + {up}_NX"
    lines = [head, "{", f"    {real} s[{total}];"]
    if _takes_argument(plan, ("values",), "t"):
        lines += [f"    {real} t[{plan.machine.time_size}];", f"    {name}_clock(state->time, t);"]
    lines += _pack_state(plan)
    if plan.output_needs_rates:
        arguments = ["s", *_passed_arguments(plan, OF_RATES, "ut", "state->time"), "f"]
        lines.insert(3, f"    {real} f[{total} + 1];")
        lines.append(f"    (void){name}_derivative({', '.join(arguments)});")
    if not (plan.output_needs_rates and _takes_argument(plan, OF_RATES, "u")):
        lines.append("    (void)input;")
    call = _call_statement(plan, "values", "s", "output->y", p="state->p", a=f"f + {up}_NQ", n="&state->time")
    return [*lines, f"    {call}", "}", ""]
