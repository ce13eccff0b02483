"""Expressions of Xacro files have Python's values, and reach nothing of Python."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.xacro.bounds import BarredError, EvaluationBudget, TooLargeError
from core.files.xacro.callables import FUNCTIONS, MATHEMATICS, TYPES
from core.files.xacro.expressions import evaluate
from core.files.xacro.values import with_dot_access

NAMES = {**FUNCTIONS, **MATHEMATICS, **TYPES}
PYTHONS = {
    **{name: __builtins__[name] for name in (*FUNCTIONS, *TYPES)},
    **{name: getattr(math, name) for name in MATHEMATICS},
}
GIVEN = {"x": 3, "y": -2.5, "s": "left_arm", "v": [1, 2, 3], "d": {"a": 1, "b": [2, 3]}}


def value(text, steps=100_000, **more):
    return evaluate(text, {**NAMES, **GIVEN, **more}, EvaluationBudget(steps))


def pythons_value(text):
    return eval(text, {"__builtins__": {}, **PYTHONS, **GIVEN})


def outcome(function, text):
    """The value with its type, or the kind of error."""
    try:
        found = function(text)
    except (BarredError, TooLargeError):
        raise
    except Exception as error:
        return type(error)
    return repr(found)


# ------------------------------------------------------------------------------------- the same values

ORDINARY = """
1 + 2 * 3 ** 2 // 4 % 5 - -6
(1, 2.5, 'a', None, True)[-1]
0.5 * (x + y) if x > 2 and not y > 0 else 'other'
1 < x <= 3 != 4
x in v or 'arm' in s
radians(180) + pi - atan2(1, 1) * sin(pi / 2) + math_is_not_a_name
sqrt(2) ** 2 + hypot(3, 4) + degrees(pi)
'0 0 1'.split()[2]
[float(w) * 2 for w in '1 2.5 -3e2'.split()]
' '.join([str(w) for w in v])
'%s_%d_%.3f' % (s, x, y) + '%5s|' % 'a'
s.upper().replace('_', '-').startswith('LEFT') and s.endswith('arm')
'{}_{}'.format(s, x) + '{0:>8}|{name!r}'.format(1, name='n')
f'{s}_{x:03d}_{y!r}'
dict(a=1, **{'b': 2})
{k: w for k, w in zip('abc', v) if w != 2}
{i % 2 for i in range(5)}
[(i, j) for i in range(3) for j in range(i)]
list(map(lambda a, b=2, *c, **e: a * b, v))
(lambda f, n: f(f, n))(lambda f, n: 1 if n < 2 else n * f(f, n - 1), 6)
[g() for g in [lambda: i for i in range(3)]]
sorted(v, key=lambda a: -a) + sorted('cab', reverse=True)
max(1, 2.5, key=lambda a: -a) + min([3, 1]) + sum(v) + len(d)
d['b'][0] + d.get('c', 7)
list(enumerate(v, 1))[::-1]
v[1:] + v[:-1] + v[::2]
round(2.567, 2) + round(2.5) + abs(-3) + int('7') + int(2.9) + float('1e-3')
isinstance(x, int) and isinstance(s, (str, list)) and type(y) == float
list(reversed(v)) + list(filter(lambda a: a > 1, v)) + list(tuple(v))
[a for a, *b in [(1, 2, 3), (4, 5)]] + [*v, *range(2)]
sum([[1], [2, 3]], [])
(1 + 2j).real + (3).bit_length() + (4).numerator
1 << 5 | 6 & 3 ^ 9 >> 1
~5 + (not 0)
x / 0
v[7]
d['none']
nobody
'a' + 1
s.nothing
int('a')
[1, 2
(lambda a: a)()
x(3)
[a for a, b in [(1, 2, 3)]]
""".strip().splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_expressions_have_pythons_value_or_error(text):
    assert outcome(value, text) == outcome(pythons_value, text)


SMALL = st.integers(0, 9).map(str) | st.sampled_from(["0.5", "-2.25", "1e3", "x", "y", "True"])
TEXTS = st.sampled_from(["'a'", "'b c d'", "s", "''", "'7'"])
SIGNS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", "in", "and", "or"]
LISTS = st.sampled_from(["v", "[]", "d['b']", "list(range(4))", "s.split('_')", "(1, 'a')"])


def compound(inner):
    """Expressions made of others."""
    pair, binary = st.tuples(inner, inner), st.sampled_from(SIGNS)
    formed = st.sampled_from(
        [
            "str({})",
            "len({})",
            "abs({})",
            "int({})",
            "float({})",
            "bool({})",
            "-{}",
            "not {}",
            "[{}]",
            "({},)",
            "list({})",
            "sorted({})",
            "sum({})",
            "max({})",
            "round({}, 2)",
            "{}[0]",
            "{}[1:]",
            "{}[::-1]",
            "{}.split()",
            "{}.upper()",
            "'%s' % {}",
            "'{{}}'.format({})",
            "f'{{{}}}'",
            "[a * 2 for a in {}]",
            "(lambda a: a + 1)({})",
            "{{'k': {}}}['k']",
            "list(map(str, {}))",
            "sqrt({})",
            "'_'.join({})",
            "[*{}]",
            "repr({})",
            "any(a for a in {})",
            "tuple({})",
            "isinstance({}, str)",
            "2 ** ({}) if x == 2 else 0",
            "[b for a in {} for b in (a, x)]",
        ]
    )
    return (
        st.tuples(pair, binary).map(lambda t: f"({t[0][0]} {t[1]} {t[0][1]})")
        | st.tuples(formed, inner).map(lambda t: t[0].format(f"({t[1]})"))
        | st.tuples(inner, inner, inner).map(lambda t: f"(({t[0]}) if ({t[1]}) else ({t[2]}))")
        | pair.map(lambda t: f"[{t[0]}, {t[1]}]")
        | pair.map(lambda t: f"max({t[0]}, {t[1]})")
    )


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=300, deadline=None)
@given(st.recursive(SMALL | TEXTS | LISTS, compound, max_leaves=8))
def test_random_expressions_have_pythons_value_or_error(text):
    assert outcome(value, text) == outcome(pythons_value, text)


def test_entries_of_yaml_are_reached_with_dots():
    robot = with_dot_access({"arm": {"links": [{"mass": 2.0}], "keys": 5}})
    assert value("r.arm.links[0].mass + r['arm']['links'][0]['mass']", r=robot) == 4.0
    assert value("[l.mass for l in r.arm.links]", r=robot) == [2.0]
    assert value("list(r.arm.keys()) + [r.arm['keys']]", r=robot) == ["links", "keys", 5]
    with pytest.raises(AttributeError, match="no key 'leg'"):
        value("r.leg", r=robot)


# ------------------------------------------------------------------------------------- escapes

ESCAPES = """
().__class__.__base__.__subclasses__()
(lambda: [c for c in ().__class__.__base__.__subclasses__()])()
(lambda l: l.append((l[0].gi_frame.f_back for _ in [1])) or [*l[0]][0])([])
(a for a in v).gi_frame
(a for a in v).gi_code
(lambda: 0).__globals__
(lambda: 0).__code__
(lambda: 0).func_globals
len.__self__
len.run
sin.run.__self__
str.mro()
type.mro(str)
type(type(x))('X', (), {})
type(len)(1)
''.join.__self__
'{0.__class__}'.format(s)
'{0.real}'.format(x)
'{0[a]}'.format(d)
'{a.b}'.format(a=s)
'{:{}}'.format(s, 10 ** 9)
'a'.format_map(d)
'a'.encode()
f'{().__class__}'
__import__('os').system('true')
[__builtins__ for a in v]
__builtins__['open']
d.__class__
d.get.__self__
x.__class__
v.__reduce__()
v.__class__
s.__getattribute__('x')
(y := 5)
[0 for v[0] in [9]]
[0 for d.a in [9]]
[k for k in (b'raw',)]
...
str[int]
int | str
python_is_no_name if 0 else (lambda **k: k)(**{'__class__': 1}).__class__
map(str, v).__next__()
(await x)
[a async for a in v]
(yield 3)
v @ v
(lambda self: self.__dict__)(len)
slice(1, 2).indices
range(3).__iter__()
{}.fromkeys(v)
(1).to_bytes
(1).from_bytes
frozenset.__init__
""".strip().splitlines()


@pytest.mark.parametrize("text", ESCAPES)
def test_what_leads_to_python_is_barred(text):
    with pytest.raises((BarredError, TooLargeError, SyntaxError)):
        value(text)


@pytest.mark.parametrize("name", ["open", "eval", "exec", "getattr", "vars", "globals", "input", "memoryview"])
def test_other_functions_of_python_mean_nothing(name):
    with pytest.raises(NameError):
        value(f"{name}('x')")


BOMBS = """
9**9**9
(9**9)**(9**9)
1 << 10**12
1 << 10**12 << 10**12
'a' * 10**12
10**12 * [0]
[[0] * 1000] * 10000
[0] * 1000 + [[0] * 100000] * 100
'%1000000000d' % 1
'%*d' % (10**9, 1)
'%.1000000000f' % 1.0
'{:1000000000}'.format(1)
f'{x:1000000000}'
f'{x:{10**9}}'
'a'.ljust(10**12)
'1'.zfill(10**12)
('a' * 100000).replace('a', 'b' * 100000)
('b' * 100000).join('a' * 100000)
('b' * 100000).join(a for a in 'a' * 100000)
''.join(['a' * 100000] * 1000)
range(10**12)
range(10**30)
list(range(10**7))
factorial(10**9)
comb(10**9, 10**8)
perm(10**6)
prod(range(1, 10**6))
prod([10**4000] * 1000)
lcm(*range(1, 100000))
round(5, -10**9)
sum(([0] * 100000 for a in range(1000)), [])
[a.append(a) for a in [[]]]
(lambda l: [l.append(i) for i in l])([1])
(lambda l: [l.extend(l) for i in range(100)])([1])
(lambda d: [d.update({i: d.copy()}) for i in range(100)])({})
(lambda f: f(f))(lambda f: f(f))
(lambda f: f(f, 1))(lambda f, n: f(f, n) + f(f, n))
[a for a in range(10000) for b in range(10000)]
sum(1 for a in range(1000) for b in range(1000) for c in range(1000))
[[[a] * 100 for a in range(1000)] for b in range(1000)]
(lambda f, l: f(f, l))(lambda f, l: f(f, [l, l]), [])
len(list(map(lambda a: [0] * 1000, range(100000))))
""".strip().splitlines()


@pytest.mark.parametrize("text", BOMBS)
def test_bombs_are_refused_before_they_go_off(text):
    began = time.perf_counter()
    with pytest.raises(TooLargeError):
        value(text)
    assert time.perf_counter() - began < 60.0


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "1" + ")" * 5000, "-" * 100_000 + "1", "1" + "+1" * 50_000, "[" * 90 * 100]
)
def test_texts_nested_without_end_are_refused(text):
    with pytest.raises((TooLargeError, SyntaxError)):
        value(text)
