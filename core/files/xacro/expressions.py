"""Evaluation of Xacro expressions node by node: a closed subset of Python without access to the interpreter.

`ast` reads the text; of the nodes it can make, those of the tables below are known, with Python's meaning. Names are
looked up in what Xacro has defined, functions and methods in closed lists, and every value stays within bounds.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from core.files.xacro.bounds import BarredError, EvaluationBudget, TooLargeError, charge_value, check_size
from core.files.xacro.callables import TYPES
from core.files.xacro.operators import BINARY, COMPARISON, UNARY, find_operator
from core.files.xacro.values import LOOKING, AllowedFunction, AllowedMethod, Namespace, format_value, read_attribute

_TYPES = frozenset(TYPES.values())
_CONSTANTS = (int, float, complex, str, type(None))
_STRANGE = {"NamedExpr": "an assignment", "Await": "await", "Yield": "yield", "YieldFrom": "yield"}


class NameMapping(Protocol):
    """Mapping of names to values; raises KeyError for unknown names."""

    def __getitem__(self, name: str, /) -> Any: ...


def evaluate(text: str, names: NameMapping, budget: EvaluationBudget) -> Any:
    """Return the value that Python's eval(text) would give. Raises the same errors, BarredError and TooLargeError."""
    try:
        tree = ast.parse(text.strip(), "<expression>", mode="eval")
        return Scope(names, budget).value(tree.body)
    except (RecursionError, MemoryError):
        raise TooLargeError("the expression is nested too deeply, or calls itself without end") from None


class Lambda:
    """Function defined by a lambda expression, evaluated in the scope of its definition."""

    def __init__(self, scope: Scope, node: ast.Lambda) -> None:
        self._scope, self._body = scope, node.body
        self._signature = inspect.Signature(list(_signature_parameters(scope, node.args)))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        bound = self._signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        return self._scope.nested_scope(bound.arguments).value(self._body)


def _signature_parameters(scope: Scope, declared: ast.arguments) -> Iterator[inspect.Parameter]:
    kinds = inspect.Parameter
    plain: list[tuple[ast.arg, Any]] = [(each, kinds.POSITIONAL_ONLY) for each in declared.posonlyargs]
    plain += [(each, kinds.POSITIONAL_OR_KEYWORD) for each in declared.args]
    missing = len(plain) - len(declared.defaults)
    defaults = [kinds.empty] * missing + [scope.value(node) for node in declared.defaults]
    for (each, kind), default in zip(plain, defaults, strict=True):
        yield kinds(each.arg, kind, default=default)
    if declared.vararg is not None:
        yield kinds(declared.vararg.arg, kinds.VAR_POSITIONAL)
    for each, node in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
        default = kinds.empty if node is None else scope.value(node)
        yield kinds(each.arg, kinds.KEYWORD_ONLY, default=default)
    if declared.kwarg is not None:
        yield kinds(declared.kwarg.arg, kinds.VAR_KEYWORD)


class Scope:
    """Evaluator of syntax-tree nodes, with `names` and the local names of enclosing lambdas and comprehensions."""

    def __init__(
        self,
        names: NameMapping,
        budget: EvaluationBudget,
        local: Mapping[str, Any] | None = None,
        outer: Scope | None = None,
    ) -> None:
        self._names, self._budget, self._outer = names, budget, outer
        self._local: dict[str, Any] = dict(local or {})

    def nested_scope(self, local: Mapping[str, Any] | None = None) -> Scope:
        """Return a scope nested in this one."""
        return Scope(self._names, self._budget, local, self)

    def value(self, node: ast.expr) -> Any:
        """Return the value of a node."""
        found = self._evaluate_node(node)
        if isinstance(found, Namespace):
            raise BarredError("the expression uses a namespace as a value")
        return found

    def _evaluate_node(self, node: ast.expr) -> Any:
        self._budget.spend()
        rule = _RULES.get(type(node))
        if rule is None:
            kind = type(node).__name__
            raise BarredError(f"the expression contains {_STRANGE.get(kind, kind)}")
        return rule(self, node)

    def _evaluate_operand(self, node: ast.expr) -> Any:
        """Return the value of an operand, which must not be a function or a type."""
        value = self.value(node)
        if callable(value):
            raise BarredError("the expression calculates with a function")
        return value

    def _check_bounds(self, value: Any) -> Any:
        return charge_value(value, self._budget)

    # ------------------------------------------------------------------------------- names and parts

    def literal(self, node: ast.Constant) -> Any:
        """Return the value of a literal: number, string, True, False or None."""
        if not isinstance(node.value, _CONSTANTS):
            raise BarredError(f"the expression contains a value of type {type(node.value).__name__}")
        return self._check_bounds(node.value)

    def name(self, node: ast.Name) -> Any:
        """Return the value of a name in the innermost scope that defines it."""
        if node.id.startswith("__"):
            raise BarredError(f"the expression uses the name '{node.id}'")
        scope: Scope | None = self
        while scope is not None:
            if node.id in scope._local:
                return scope._local[node.id]
            scope = scope._outer
        try:
            return self._names[node.id]
        except KeyError:
            raise NameError(f"name '{node.id}' is not defined") from None

    def attribute(self, node: ast.Attribute) -> Any:
        """Return a name of a namespace, an entry of a YAML dictionary, or a method of a plain value."""
        owner = self._evaluate_node(node.value)
        if node.attr.startswith("__"):
            raise BarredError(f"the expression accesses '{node.attr}'")
        if not isinstance(owner, Namespace):
            return read_attribute(owner, node.attr, self._budget)
        try:
            return owner[node.attr]  # type: ignore[index]
        except KeyError:
            raise NameError(f"name '{node.attr}' is not defined") from None

    def subscript(self, node: ast.Subscript) -> Any:
        """Return an item or a slice."""
        owner = self.value(node.value)
        if callable(owner):
            raise BarredError("the expression indexes a function")
        part = owner[self.value(node.slice)]
        return self._check_bounds(part) if isinstance(node.slice, ast.Slice) else part

    def slice_value(self, node: ast.Slice) -> slice:
        """Return the slice start:stop:step."""
        lower, upper, step = (part and self.value(part) for part in (node.lower, node.upper, node.step))
        return slice(lower, upper, step)

    # ------------------------------------------------------------------------------- operators

    def binary(self, node: ast.BinOp) -> Any:
        """Return the value of a + b and other binary operations."""
        combine = find_operator(BINARY, node.op)
        return self._check_bounds(combine(self._evaluate_operand(node.left), self._evaluate_operand(node.right)))

    def unary(self, node: ast.UnaryOp) -> Any:
        """Return the value of -a and other unary operations."""
        value = self.value(node.operand) if isinstance(node.op, ast.Not) else self._evaluate_operand(node.operand)
        return self._check_bounds(find_operator(UNARY, node.op)(value))

    def boolean(self, node: ast.BoolOp) -> Any:
        """Return the value of `and` or `or`: the first operand that decides."""
        decisive = isinstance(node.op, ast.Or)
        for each in node.values[:-1]:
            value = self.value(each)
            if bool(value) is decisive:
                return value
        return self.value(node.values[-1])

    def comparison(self, node: ast.Compare) -> Any:
        """Return the value of a comparison such as a < b < c."""
        left, result = self.value(node.left), True
        for sign, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each)
            result = find_operator(COMPARISON, sign)(left, right)
            if not result:
                return result
            left = right
        return result

    def conditional(self, node: ast.IfExp) -> Any:
        """Return the value of a if b else c."""
        return self.value(node.body if self.value(node.test) else node.orelse)

    # ------------------------------------------------------------------------------- lists and texts

    def list_value(self, node: ast.List) -> list[Any]:
        """Return the list [a, *b]."""
        made: list[Any] = []
        for each in node.elts:
            made += self._evaluate_list_item(each)
        self._check_bounds(made)
        return made

    def tuple_value(self, node: ast.Tuple) -> tuple[Any, ...]:
        """Return the tuple (a, *b)."""
        return tuple(self.list_value(ast.List(node.elts)))

    def set_value(self, node: ast.Set) -> set[Any]:
        """Return the set {a, *b}."""
        return set(self.list_value(ast.List(node.elts)))

    def dictionary(self, node: ast.Dict) -> dict[Any, Any]:
        """Return the dictionary {a: b, **c}."""
        made: dict[Any, Any] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            made.update(self._evaluate_operand(each) if key is None else {self.value(key): self.value(each)})
        self._check_bounds(made)
        return made

    def _evaluate_list_item(self, node: ast.expr) -> list[Any]:
        return list(self.items(self.value(node.value))) if isinstance(node, ast.Starred) else [self.value(node)]

    def text(self, node: ast.JoinedStr) -> str:
        """Return the string of f"…"."""
        pieces = []
        for each in node.values:
            pieces.append(self._format_field(each) if isinstance(each, ast.FormattedValue) else self.value(each))
            check_size(sum(map(len, pieces)))
        return "".join(pieces)

    def _format_field(self, node: ast.FormattedValue) -> str:
        form = "" if node.format_spec is None else self.value(node.format_spec)
        return format_value(self.value(node.value), form, chr(node.conversion) if node.conversion > 0 else None)

    def items(self, value: Any) -> Iterator[Any]:
        """Iterate over the items of a value, counting each as a step."""
        for item in value:
            self._budget.spend()
            yield item

    # ------------------------------------------------------------------------------- functions

    def call(self, node: ast.Call) -> Any:
        """Return the value of a call f(a, *b, c=d, **e)."""
        function = self.value(node.func)
        arguments: list[Any] = []
        for each in node.args:
            arguments += self._evaluate_list_item(each)
        keywords: dict[str, Any] = {}
        for word in node.keywords:
            value = self.value(word.value)
            new = dict(value) if word.arg is None else {word.arg: value}
            if again := keywords.keys() & new.keys():
                raise TypeError(f"got multiple values for keyword argument '{again.pop()}'")
            keywords.update(new)
        if not callable(function):
            raise TypeError(f"'{type(function).__name__}' object is not callable")
        if not isinstance(function, AllowedFunction | AllowedMethod | Lambda) and function not in _TYPES:
            raise BarredError(f"the expression calls '{ast.unparse(node.func)}'")
        result = function(*arguments, **keywords)
        return (
            result if isinstance(function, AllowedMethod) and function.name in LOOKING else self._check_bounds(result)
        )

    def function(self, node: ast.Lambda) -> Lambda:
        """Return the function lambda a: b."""
        return Lambda(self, node)

    # ------------------------------------------------------------------------------- comprehensions

    def list_comprehension(self, node: ast.ListComp | ast.SetComp) -> Any:
        """Return a list or set comprehension: [a for b in c], {a for b in c}."""
        made = list(self._comprehension_values(node.generators, node.elt))
        self._check_bounds(made)
        return set(made) if isinstance(node, ast.SetComp) else made

    def dict_comprehension(self, node: ast.DictComp) -> dict[Any, Any]:
        """Return a dictionary comprehension {a: b for c in d}."""
        made = dict(self._comprehension_values(node.generators, ast.Tuple([node.key, node.value])))
        self._check_bounds(made)
        return made

    def generator_expression(self, node: ast.GeneratorExp) -> Iterator[Any]:
        """Return a generator (a for b in c)."""
        return self._comprehension_values(node.generators, node.elt)

    def _comprehension_values(self, clauses: list[ast.comprehension], element: ast.expr) -> Iterator[Any]:
        first = iter(self.items(self.value(clauses[0].iter)))
        return self.nested_scope()._clause_values(clauses, element, first)

    def _clause_values(
        self, clauses: list[ast.comprehension], element: ast.expr, items: Iterator[Any]
    ) -> Iterator[Any]:
        clause, *others = clauses
        if clause.is_async:
            raise BarredError("the expression contains await")
        for item in items:
            self._assign(clause.target, item)
            if not all(self.value(condition) for condition in clause.ifs):
                continue
            if others:
                yield from self._clause_values(others, element, self.items(self.value(others[0].iter)))
            else:
                yield self.value(element)

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._local[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, list(self.items(value)))
        else:
            raise BarredError("the expression assigns to a part of a value")

    def _unpack(self, targets: list[ast.expr], values: list[Any]) -> None:
        starred = next((i for i, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
        missing = len(values) - len(targets) + (starred is not None)
        if missing < 0 or (starred is None and missing > 0):
            words = "too many" if missing > 0 else "not enough"
            raise ValueError(f"{words} values to unpack (expected {len(targets)})")
        if starred is not None:
            values[starred : starred + missing] = [values[starred : starred + missing]]
        for each, value in zip(targets, values, strict=True):
            self._assign(each.value if isinstance(each, ast.Starred) else each, value)


_RULES: dict[type[ast.expr], Callable[[Scope, Any], Any]] = {
    ast.Constant: Scope.literal,
    ast.Name: Scope.name,
    ast.Attribute: Scope.attribute,
    ast.Subscript: Scope.subscript,
    ast.Slice: Scope.slice_value,
    ast.BinOp: Scope.binary,
    ast.UnaryOp: Scope.unary,
    ast.BoolOp: Scope.boolean,
    ast.Compare: Scope.comparison,
    ast.IfExp: Scope.conditional,
    ast.List: Scope.list_value,
    ast.Tuple: Scope.tuple_value,
    ast.Set: Scope.set_value,
    ast.Dict: Scope.dictionary,
    ast.JoinedStr: Scope.text,
    ast.Call: Scope.call,
    ast.Lambda: Scope.function,
    ast.ListComp: Scope.list_comprehension,
    ast.SetComp: Scope.list_comprehension,
    ast.DictComp: Scope.dict_comprehension,
    ast.GeneratorExp: Scope.generator_expression,
}
