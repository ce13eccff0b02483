"""Machine code does not ask whether an index is negative, so none may be."""

import ast
import inspect
import textwrap
from importlib import import_module

from core import __name__ as ROOM
from core.machine_code import language
from core.machine_code.intermediate import entry_point_names


def negative_indices(function):
    """Lines of a function with an index that counts from the end."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    indices = [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    parts = [part for index in indices for part in (index.elts if isinstance(index, ast.Tuple) else [index])]
    ends = [
        end
        for part in parts
        for end in ([part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part])
    ]
    return [ast.unparse(end) for end in ends if isinstance(end, ast.UnaryOp) and isinstance(end.op, ast.USub)]


def test_no_index_counts_from_the_end():
    for entry in entry_point_names():
        import_module(f"{ROOM}.{entry.rpartition('.')[0]}")
    assert len(language.marks) > 100
    found = {function.__qualname__: negative_indices(function) for function in language.marks}
    assert not {name: ends for name, ends in found.items() if ends}


def test_one_that_does_is_found():
    def last(x):
        return x[-1] + x[1:-1, 0][0]

    assert negative_indices(last) == ["-1", "-1"]
