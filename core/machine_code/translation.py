"""Translates a function of the Python subset into LLVM IR, for given argument types.

The text is written once from top to bottom; where a name turns out to need a wider type than it had so far (a sum that
begins as 0), it is written again with what is known by then. Types of results follow from those of arguments.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from core.machine_code import language
from core.machine_code.arrays import ArrayWriter
from core.machine_code.value_types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NOTHING,
    POINTER,
    SCALARS,
    ArrayType,
    RecordType,
    Scalar,
    TupleType,
    Type,
    Value,
    common_type,
    constant_value,
)

VECTOR, ROWS = ArrayType(FLOAT, 1), ArrayType(FLOAT, 2)


class Signature(Protocol):
    """Interface of a translated function as its callers need it."""

    @property
    def name(self) -> str:
        """Return its name in LLVM IR."""

    @property
    def arguments(self) -> tuple[Type, ...]:
        """Return the types of its arguments."""

    @property
    def result(self) -> Type:
        """Return the type of its result."""


class LanguageError(Exception):
    """Error for source that cannot be translated, with file, line and reason."""


@cache
def parse_function(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax tree of a function, with the line numbers of its file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def declared_type(function: Callable[..., Any], name: str) -> Scalar | None:
    """Return the type that an annotation names; None: it is inferred from the argument (`Any`)."""
    hint = function.__annotations__.get(name, "Any")
    return SCALARS.get(None if hint is None else getattr(hint, "__name__", hint))


class Translation:
    """Translation of one function for one set of argument types.

    call : gives the signature of a marked function for types of arguments
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Type],
        call: Callable[[Callable[..., Any], tuple[Type, ...]], Signature],
    ) -> None:
        self.function, self.arguments, self._signature_of = function, tuple(arguments), call
        self.definition = parse_function(function)
        self._names = [argument.arg for argument in self.definition.args.args]
        self._locals = frozenset(function.__code__.co_varnames)
        self._types: dict[str, Type] = {}
        self.result: Type | None = declared_type(function, "return")
        self.called: list[Signature] = []
        self._node: ast.AST = self.definition
        for name, kind in zip(self._names, self.arguments, strict=True):
            self._types[name] = kind
        self._translate_body()

    def _translate_body(self) -> None:
        while True:
            known = (dict(self._types), self.result)
            self._begin_function()
            try:
                self._body(self.definition.body)
            except (TypeError, LookupError) as error:
                place = f"{inspect.getsourcefile(self.function)}:{getattr(self._node, 'lineno', '?')}"
                raise LanguageError(f"{place}: in {self.definition.name}: {error}") from error
            if known == (self._types, self.result):
                return

    def _begin_function(self) -> None:
        self.out = ArrayWriter()
        self.called = []
        self._places: dict[str, str] = {}
        self._loops: list[tuple[str, str]] = []
        for k, (name, kind) in enumerate(zip(self._names, self.arguments, strict=True)):
            self._assign_name(name, Value(kind, f"%a{k}"))

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        self._block(statements)
        if self.out.ended:
            return
        if self.result not in (None, NOTHING):
            raise TypeError("not every path through the function returns a value")
        self.result = NOTHING
        self.out.write("ret void")

    def text(self, name: str, attributes: str) -> str:
        """Return the function's definition in LLVM IR."""
        assert self.result is not None
        given = ", ".join(f"{kind.llvm} %a{k}" for k, kind in enumerate(self.arguments))
        lines = [f'define internal {self.result.llvm} @"{name}"({given}) {attributes} {{', "entry:"]
        return "\n".join([*lines, *self.out.allocations, *self.out.lines, "}"])

    # ---------------------------------------------------------------------------- statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.out.ended:
                return
            self._node = statement
            handler = _STATEMENTS.get(type(statement))
            if handler is None:
                raise TypeError(f"{type(statement).__name__} is not supported in compiled functions")
            handler(self, statement)

    def _expression(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):  # else a docstring
            self.value(statement.value)

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _assignment(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            self._assign(target, value)

    def _annotated_assignment(self, statement: ast.AnnAssign) -> None:
        assert statement.value is not None
        assert isinstance(statement.target, ast.Name)
        wanted = SCALARS[ast.unparse(statement.annotation)]
        self._assign(statement.target, self.out.convert(self.value(statement.value), wanted))

    def _augmented_assignment(self, statement: ast.AugAssign) -> None:
        target = statement.target
        if isinstance(target, ast.Name):
            now = self._local(target.id)
            self._assign_name(target.id, self.out.operation(statement.op, now, self.value(statement.value)))
            return
        kind, place = self._assignment_target(target)
        value = self.value(statement.value)
        self._store(kind, place, self.out.operation(statement.op, self.out.load(kind, place), value))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._assign_name(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value.type, TupleType) or len(value.type.parts) != len(target.elts):
                raise TypeError(f"{value.type} cannot be unpacked into {len(target.elts)} values")
            parts = [self.out.part(value, k, kind) for k, kind in enumerate(value.type.parts)]
            for each, part in zip(target.elts, parts, strict=True):
                self._assign(each, part)
        elif isinstance(target, ast.Subscript) and _has_slice(target):
            self._fill_array(self.value(target), value)
        else:
            self._store(*self._assignment_target(target), value)

    def _assign_name(self, name: str, value: Value) -> None:
        kind = self._types[name] = common_type(self._types.get(name), value.type)
        if kind is NOTHING:
            raise TypeError(f"'{name}' would be assigned None")
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = self.out.allocate_variable(kind, name)
        self.out.store(self.out.convert(value, kind), place)

    def _store(self, kind: Type, address: str, value: Value) -> None:
        """Store a value in an array element or record field."""
        self.out.store(self.out.convert(value, kind), address)

    def _fill_array(self, view: Value, value: Value) -> None:
        """Set all elements of a one-dimensional array to a number."""
        if not isinstance(view.type, ArrayType) or view.type.dimensions != 1 or not isinstance(value.type, Scalar):
            raise TypeError(f"{value.type} cannot be stored in {view.type}")
        number = self.out.convert(value, view.type.number)
        with self.out.count(constant_value(0), self.out.length(view), constant_value(1)) as (k, _):
            self.out.store(number, self.out.element(view, [k])[1])

    def _return(self, statement: ast.Return) -> None:
        value = Value(NOTHING, "") if statement.value is None else self.value(statement.value)
        if declared_type(self.function, "return") is None:
            self.result = common_type(self.result, value.type)
        assert self.result is not None
        if self.result is NOTHING:
            self.out.write("ret void")
        else:
            self.out.write(f"ret {self.out.convert(value, self.result)}")
        self.out.ended = True

    def _if(self, statement: ast.If) -> None:
        out = self.out
        then, other, behind = out.label("then"), out.label("else"), out.label("endif")
        out.branch(self.condition(statement.test), then, other if statement.orelse else behind)
        out.begin(then)
        self._block(statement.body)
        reached = not statement.orelse or not out.ended
        out.jump(behind)
        if statement.orelse:
            out.begin(other)
            self._block(statement.orelse)
            reached = reached or not out.ended
            out.jump(behind)
        if reached:
            out.begin(behind)

    def _while(self, statement: ast.While) -> None:
        out = self.out
        again, body, behind = out.label("while"), out.label("do"), out.label("done")
        out.begin(again)
        forever = isinstance(statement.test, ast.Constant) and statement.test.value is True
        if forever:
            out.jump(body)
        else:
            out.branch(self.condition(statement.test), body, behind)
        out.begin(body)
        self._loops.append((again, behind))
        self._block(statement.body)
        self._loops.pop()
        out.jump(again)
        if not forever or any(f"label %{behind}" in line for line in out.lines):
            out.begin(behind)

    def _break(self, statement: ast.Break) -> None:
        self.out.jump(self._loops[-1][1])

    def _continue(self, statement: ast.Continue) -> None:
        self.out.jump(self._loops[-1][0])

    def _for(self, statement: ast.For) -> None:
        if not isinstance(statement.target, ast.Name):
            raise TypeError("a loop must have a single loop variable")
        name, over, one = statement.target.id, statement.iter, constant_value(1)
        if isinstance(over, ast.Call) and self._constant_of(over.func) is range:
            given = [self.out.convert(self.value(argument), INT) for argument in over.args]
            first, end = (constant_value(0), given[0]) if len(given) == 1 else (given[0], given[1])
            with self.out.count(first, end, given[2] if len(given) > 2 else one) as (k, labels):
                self._loop_body(name, k, labels, statement.body)
            return
        values = self._temporary_array(over.elts) if isinstance(over, ast.Tuple) else self.value(over)
        with self.out.count(constant_value(0), self.out.length(values), one) as (k, labels):
            self._loop_body(name, self.out.element_or_row(values, [k]), labels, statement.body)

    def _loop_body(self, name: str, value: Value, labels: tuple[str, str], body: Sequence[ast.stmt]) -> None:
        """Write the loop body for one value of the loop variable."""
        self._assign_name(name, value)
        self._loops.append(labels)
        self._block(body)
        self._loops.pop()

    def _temporary_array(self, elements: Sequence[ast.expr]) -> Value:
        """Store a tuple's numbers in a temporary array that lives until the function returns."""
        values = [self.value(element) for element in elements]
        number: Type | None = None
        for value in values:
            number = common_type(number, value.type)
        if not isinstance(number, Scalar):
            raise TypeError("loops over tuples need numbers as elements")
        place = self.out.allocate_variable(number, "list", len(values))
        view = self.out.view(ArrayType(number, 1), place, [constant_value(len(values))])
        for k, value in enumerate(values):
            self.out.store(self.out.convert(value, number), self.out.element(view, [constant_value(k)])[1])
        return view

    # ---------------------------------------------------------------------------- places

    def _assignment_target(self, target: ast.expr) -> tuple[Type, str]:
        """Return type and address of an assignment target."""
        if isinstance(target, ast.Subscript):
            return self.out.element(self.value(target.value), self._indices(target))
        if isinstance(target, ast.Attribute):
            return self.out.assignable_field(self.value(target.value), target.attr)
        raise TypeError(f"{ast.unparse(target)} is not a valid assignment target")

    def _indices(self, node: ast.Subscript) -> list[Value]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [self.out.convert(self.value(part), INT) for part in parts]

    # ---------------------------------------------------------------------------- expressions

    def value(self, node: ast.expr) -> Value:
        """Translate an expression and return its value."""
        before, self._node = self._node, node
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            raise TypeError(f"{type(node).__name__} is not supported in compiled functions")
        found: Value = handler(self, node)
        self._node = before
        return found

    def condition(self, node: ast.expr) -> Value:
        """Translate an expression and return its truth value."""
        return self.out.truth_value(self.value(node))

    def _constant_of(self, node: ast.expr) -> Any:
        """Return the Python object that a global name, or an attribute of one, refers to. Raises LookupError."""
        if isinstance(node, ast.Name) and node.id not in self._locals:
            for space in (self.function.__globals__, vars(builtins)):
                if node.id in space:
                    return space[node.id]
        if isinstance(node, ast.Attribute):
            owner = self._constant_of(node.value)
            if hasattr(owner, node.attr):
                return getattr(owner, node.attr)
        raise LookupError(f"'{ast.unparse(node)}' is unknown")

    def _literal(self, node: ast.Constant) -> Value:
        return constant_value(node.value)

    def _local(self, name: str) -> Value:
        place = self._places.get(name)
        if place is None:
            raise TypeError(f"'{name}' is used before assignment")
        return self.out.load(self._types[name], place)

    def _name(self, node: ast.Name) -> Value:
        if node.id in self._locals:
            return self._local(node.id)
        return constant_value(self._constant_of(node))

    def _attribute(self, node: ast.Attribute) -> Value:
        try:
            return constant_value(self._constant_of(node))
        except LookupError:
            pass
        owner = self.value(node.value)
        if owner.type in (FLOAT, COMPLEX) and node.attr in ("real", "imag"):
            return self.out.part(self.out.convert(owner, COMPLEX), int(node.attr == "imag"), FLOAT)
        if isinstance(owner.type, ArrayType) and node.attr == "shape":
            lengths = [self.out.part(owner, 1 + k, INT) for k in range(owner.type.dimensions)]
            return self.out.build_structure(TupleType((INT,) * len(lengths)), lengths)
        return self.out.field_value(owner, node.attr)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(owner.type, TupleType):
            if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)):
                raise TypeError("tuple indices must be constant integers")
            return self.out.part(owner, node.slice.value, owner.type.parts[node.slice.value])
        if not _has_slice(node):
            return self.out.element_or_row(owner, self._indices(node))
        *before, last = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if before:
            owner = self.out.element_or_row(owner, [self.out.convert(self.value(part), INT) for part in before])
        if not isinstance(last, ast.Slice) or last.step is not None:
            raise TypeError("a slice must be the last index and have no step")
        return self._slice(owner, last)

    def _slice(self, view: Value, node: ast.Slice) -> Value:
        """Translate a slice; its bounds are clipped to the array and may not be negative."""
        ends = [None if end is None else self.out.convert(self.value(end), INT) for end in (node.lower, node.upper)]
        return self.out.slice(view, *ends)

    def _tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        return self.out.build_structure(TupleType(tuple(part.type for part in parts)), parts)

    def _binary(self, node: ast.BinOp) -> Value:
        return self.out.operation(node.op, self.value(node.left), self.value(node.right))

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.out.write_result(BOOL, f"xor {self.condition(node.operand)}, true")
        if isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant):
                return constant_value(-node.operand.value)  # type: ignore[operator]
            return self.out.negate(self.value(node.operand))
        raise TypeError(f"{type(node.op).__name__} is not supported in compiled functions")

    def _compare(self, node: ast.Compare) -> Value:
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership_test(node)
        values = [self.value(node.left)]

        def comparison_link(k: int) -> Callable[[], Value]:
            def evaluate_link() -> Value:
                values.append(self.value(node.comparators[k]))
                return self.out.comparison(node.ops[k], values[k], values[k + 1])

            return evaluate_link

        return self._all_or_any([comparison_link(k) for k in range(len(node.ops))], stop_at=False)

    def _membership_test(self, node: ast.Compare) -> Value:
        """Translate `x in (A, B)`."""
        values = node.comparators[0]
        if not isinstance(values, ast.Tuple):
            raise TypeError("`in` needs a tuple on its right")
        value, found = self.value(node.left), constant_value(False)
        for each in values.elts:
            equal = self.out.comparison(ast.Eq(), value, self.value(each))
            found = self.out.write_result(BOOL, f"or {found}, {equal.text}")
        return found if isinstance(node.ops[0], ast.In) else self.out.write_result(BOOL, f"xor {found}, true")

    def _boolean(self, node: ast.BoolOp) -> Value:
        parts = [lambda each=each: self.condition(each) for each in node.values]
        return self._all_or_any(parts, stop_at=isinstance(node.op, ast.Or))

    def _all_or_any(self, parts: Sequence[Callable[[], Value]], stop_at: bool) -> Value:
        """Translate `and`/`or`: evaluate conditions until the first whose value is `stop_at`."""
        if len(parts) == 1:
            return parts[0]()
        out = self.out
        place, behind = out.allocate_variable(BOOL), out.label("known")
        for part in parts[:-1]:
            found, following = part(), out.label("and")
            out.store(found, place)
            out.branch(found, *((behind, following) if stop_at else (following, behind)))
            out.begin(following)
        out.store(parts[-1](), place)
        out.begin(behind)
        return out.load(BOOL, place)

    def _conditional(self, node: ast.IfExp) -> Value:
        out = self.out
        then, other, behind = out.label("then"), out.label("else"), out.label("endif")
        key = f"{node.lineno}:{node.col_offset}"
        out.branch(self.condition(node.test), then, other)
        places = []
        for label, part in ((then, node.body), (other, node.orelse)):
            out.begin(label)
            value = self.value(part)
            kind = self._types[key] = common_type(self._types.get(key), value.type)
            places.append(out.allocate_variable(kind))
            out.store(out.convert(value, kind), places[0])
            out.jump(behind)
        out.begin(behind)
        return out.load(kind, places[0])

    # ---------------------------------------------------------------------------- calls

    def _call(self, node: ast.Call) -> Value:
        function = self._constant_of(node.func)
        if node.keywords:
            raise TypeError("only positional arguments are supported")
        given = [self.value(argument) for argument in node.args]
        if function in language.loaders:
            place = self.out.convert(given[0], INT)
            return self.out.write_result(RecordType(language.loaders[function]), f"inttoptr {place} to ptr")
        if function in language.marks:
            return self._call_decorated(function, given)
        meaning = _CALLS.get(function)
        if meaning is None:
            raise TypeError(f"{ast.unparse(node.func)} is not supported in compiled functions")
        return meaning(self, *given)

    def _call_decorated(self, function: Callable[..., Any], arguments: Sequence[Value]) -> Value:
        names = [argument.arg for argument in parse_function(function).args.args]
        if len(names) != len(arguments):
            raise TypeError(f"{function.__name__} takes {len(names)} arguments")
        wanted = [declared_type(function, name) or value.type for name, value in zip(names, arguments, strict=True)]
        values = [self.out.convert(value, kind) for value, kind in zip(arguments, wanted, strict=True)]
        signature = self._signature_of(function, tuple(wanted))
        self.called.append(signature)
        instruction = f'call {signature.result.llvm} @"{signature.name}"({", ".join(map(str, values))})'
        if signature.result is NOTHING:
            self.out.write(instruction)
            return Value(NOTHING, "")
        return self.out.write_result(signature.result, instruction)

    def _minimum(self, *values: Value) -> Value:
        return self._extreme(ast.Lt(), values)

    def _maximum(self, *values: Value) -> Value:
        return self._extreme(ast.Gt(), values)

    def _extreme(self, comparison: ast.cmpop, values: Sequence[Value]) -> Value:
        """Return the first of the best values, as Python's `min` and `max` do."""
        common = values[0].type
        for value in values[1:]:
            common = common_type(common, value.type)
        best, *others = [self.out.convert(value, common) for value in values]
        for other in others:
            best = self.out.select_value(self.out.comparison(comparison, other, best), other, best)
        return best

    def _complex(self, real: Value, imag: Value) -> Value:
        return self.out.build_structure(COMPLEX, [self.out.convert(part, FLOAT) for part in (real, imag)])

    def _is_finite(self, value: Value) -> Value:
        return self.out.comparison(ast.Lt(), self.out.function("fabs", value), constant_value(np.inf))

    def _address_of(self, array: Value) -> Value:
        first = self.out.part(array, 0, POINTER)
        return self.out.write_result(INT, f"ptrtoint {first} to i64")

    def _scratch(self, count: Value) -> Value:
        number = self.out.convert(count, INT)
        place = self.out.write_result(POINTER, f"alloca double, {number}")
        return self.out.view(VECTOR, place.text, [number])

    def _at(self, kind: ArrayType, address: Value, *lengths: Value) -> Value:
        place = self.out.write_result(POINTER, f"inttoptr {self.out.convert(address, INT)} to ptr")
        return self.out.view(kind, place.text, [self.out.convert(length, INT) for length in lengths])

    def _by_address(self, types: Sequence[Type], address: Value, *arguments: Value) -> Value:
        """Call a C function at an address that returns an integer."""
        function = self.out.write_result(POINTER, f"inttoptr {self.out.convert(address, INT)} to ptr")
        values = [self.out.convert(value, kind) for value, kind in zip(arguments, types, strict=True)]
        return self.out.write_result(INT, f"call i64 {function.text}({', '.join(map(str, values))})")


def _has_slice(node: ast.Subscript) -> bool:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)


_STATEMENTS: dict[type[ast.stmt], Callable[[Translation, Any], None]] = {
    ast.Expr: Translation._expression,
    ast.Pass: Translation._pass,
    ast.Assign: Translation._assignment,
    ast.AnnAssign: Translation._annotated_assignment,
    ast.AugAssign: Translation._augmented_assignment,
    ast.Return: Translation._return,
    ast.If: Translation._if,
    ast.While: Translation._while,
    ast.For: Translation._for,
    ast.Break: Translation._break,
    ast.Continue: Translation._continue,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[[Translation, Any], Value]] = {
    ast.Constant: Translation._literal,
    ast.Name: Translation._name,
    ast.Attribute: Translation._attribute,
    ast.Subscript: Translation._subscript,
    ast.Tuple: Translation._tuple,
    ast.BinOp: Translation._binary,
    ast.UnaryOp: Translation._unary,
    ast.Compare: Translation._compare,
    ast.BoolOp: Translation._boolean,
    ast.IfExp: Translation._conditional,
    ast.Call: Translation._call,
}
_CALLS: dict[Any, Callable[..., Value]] = {
    len: lambda self, value: self.out.length(value),
    abs: lambda self, value: self.out.absolute(value),
    min: Translation._minimum,
    max: Translation._maximum,
    int: lambda self, value: self.out.truncate(value),
    float: lambda self, value: self.out.convert(value, FLOAT),
    bool: lambda self, value: self.out.truth_value(value),
    complex: Translation._complex,
    np.isfinite: Translation._is_finite,
    np.sqrt: lambda self, value: self.out.function("sqrt", value),
    np.exp: lambda self, value: self.out.function("exp", value),
    np.ceil: lambda self, value: self.out.function("ceil", value),
    np.round: lambda self, value: self.out.function("rint", value),
    np.cbrt: lambda self, value: self.out.function("cbrt", value),
    np.sin: lambda self, value: self.out.function("sin", value),
    np.cos: lambda self, value: self.out.function("cos", value),
    np.arctan2: lambda self, y, x: self.out.function("atan2", y, x),
    np.copysign: lambda self, size, sign: self.out.function("copysign", size, sign),
    language.address_of: Translation._address_of,
    language.scratch: Translation._scratch,
    language.view: lambda self, address, count: self._at(VECTOR, address, count),
    language.view_rows: lambda self, address, rows, columns: self._at(ROWS, address, rows, columns),
    language.call_single: lambda self, *given: self._by_address([INT], *given),
    language.call_table: lambda self, *given: self._by_address([INT] * 6, *given),
    language.call_entry: lambda self, *given: self._by_address([INT, FLOAT, INT, INT], *given),
}
