"""The compiler: marked functions become LLVM's intermediate code, once, where the program is built.

Numba compiles them, and is needed here only. What it gives for an entry is cut down to what the entry calls, optimised,
and freed of what belongs to this machine: it fits any processor with addresses of eight bytes, and any later LLVM
(`docs/decisions/integrators_machine_code.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import (
    AttributeTemplate,
    infer,
    infer_getattr,
    infer_global,
    make_intrinsic_template,
)
from numba.extending import register_model
from numba.np import arrayobj

from core.simulation.machine_code import language
from core.simulation.machine_code.entry import Entry
from core.simulation.machine_code.records import Field, Record

config.CPU_NAME, config.CPU_FEATURES = "generic", ""
config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
"""Loops here are a few rounds long: prepared for many they take three times as long, and longer to compile."""
arrayobj.fix_integer_index = lambda context, builder, kind, index, _: context.cast(builder, index, kind, types.intp)
"""Indices count from the beginning: whether one is negative, and counts from the end, is not asked at each access."""
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
NUMBERS = {"int": (types.int64, "i64"), "float": (types.float64, "double")}
FAILED = 2
"""What an entry gives where Python would raise an error, as by a complex division by zero: not finite."""
_WORD, _POINTER = ir.IntType(64), ir.IntType(8).as_pointer()


# ------------------------------------------------------------------------------- records


class RecordType(types.Type):
    """The Numba type of a record: its address, and what is read of it once."""

    def __init__(self, kind: type[Record]) -> None:
        self.fields = {field.name: field for field in kind.fields}
        super().__init__(f"{kind.__module__}.{kind.__qualname__}")

    def type_of(self, name: str) -> Any:
        """That of a field; None: it is not declared."""
        field = self.fields.get(name)
        return None if field is None else _type_of(field)


def _type_of(field: Field) -> Any:
    number = numba.from_dtype(field.number)
    return types.Array(number, field.dimensions, "C") if field.dimensions else number


@register_model(RecordType)
class RecordModel(models.StructModel):
    """The address, whole numbers that are fixed, arrays."""

    def __init__(self, manager: Any, kind: RecordType) -> None:
        fixed = [(field.name, _type_of(field)) for field in kind.fields.values() if field.fixed]
        super().__init__(manager, kind, [("place", types.int64), *fixed])


@infer_getattr
class RecordAttributes(AttributeTemplate):
    """Names of fields."""

    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> Any:
        """The type of a field."""
        return kind.type_of(name)


def _address(builder: Any, place: Any, offset: int, form: Any) -> Any:
    return builder.inttoptr(builder.add(place, _WORD(8 * offset)), form.as_pointer())


@lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: RecordType, value: Any, name: str) -> Any:
    record, field = cgutils.create_struct_proxy(kind)(context, builder, value), kind.fields[name]
    if field.fixed:
        return getattr(record, name)
    return builder.load(_address(builder, record.place, field.offset, context.get_value_type(_type_of(field))))


@lower_setattr_generic(RecordType)
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    kind = signature.args[0]
    record, field = cgutils.create_struct_proxy(kind)(context, builder, arguments[0]), kind.fields[name]
    if field.fixed:
        raise TypeError(f"{name} of {kind} is fixed.")
    builder.store(arguments[1], _address(builder, record.place, field.offset, arguments[1].type))


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """A view of memory that somebody else owns."""
    made = context.make_array(kind)(context, builder)
    size = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, made.data.type)
    arrayobj.populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return made._getvalue()


def _reading(kind: RecordType) -> Any:
    """What a function of `loader` means."""

    def load(_context: Any, _place: Any) -> Any:
        def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            record = cgutils.create_struct_proxy(kind)(context, builder)
            record.place = arguments[0]
            for name, field in kind.fields.items():
                if field.fixed:
                    first, *shape = (
                        builder.load(_address(builder, record.place, field.offset + k, _WORD))
                        for k in range(1 + field.dimensions)
                    )
                    value = _array(context, builder, _type_of(field), first, shape) if shape else first
                    setattr(record, name, value)
            return record._getvalue()

        return kind(types.int64), code

    return load


# ------------------------------------------------------------------------------- words of the language


_taught: dict[Callable[..., Any], Any] = {}
"""Functions, and what Numba made of them, of which its types hold no more than a weak reference."""
_VECTOR, _ROWS = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")


def _means(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The decorator of what a function of the language means: of types of arguments the signature, and how to lower
    a call."""

    def taught(meaning: Any) -> Any:
        if function not in _taught:
            _taught[function] = template = make_intrinsic_template(function, meaning, function.__name__)
            infer(template)
            infer_global(function, types.Function(template))
        return meaning

    return taught


def _called(*arguments: Any) -> Any:
    """How a call of C code by its address is lowered; it gives a whole number."""
    kind = ir.FunctionType(_WORD, arguments)

    def code(_: Any, builder: Any, __: Any, given: Any) -> Any:
        function = builder.inttoptr(given[0], kind.as_pointer())
        values = [
            builder.inttoptr(value, _POINTER) if form == _POINTER else value
            for value, form in zip(given[1:], arguments, strict=True)
        ]
        return builder.call(function, values)

    return code


@_means(language.call_single)
def _call_single(_context: Any, _address: Any, _base: Any) -> Any:
    return types.int64(types.int64, types.int64), _called(_POINTER)


@_means(language.call_table)
def _call_table(_context: Any, _address: Any, _ws: Any, _table: Any, _rows: Any, _places: Any, _n: Any, _y: Any) -> Any:
    return types.int64(*[types.int64] * 7), _called(_POINTER, _POINTER, _WORD, _POINTER, _WORD, _POINTER)


@_means(language.call_entry)
def _call_entry(_context: Any, _address: Any, _handle: Any, _t: Any, _first: Any, _second: Any) -> Any:
    signature = types.int64(types.int64, types.int64, types.float64, types.int64, types.int64)
    return signature, _called(_WORD, ir.DoubleType(), _WORD, _WORD)


@_means(language.address_of)
def _address_of(_context: Any, array: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(made.data, _WORD)

    return types.int64(array), code


@_means(language.scratch)
def _scratch(_context: Any, _count: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        room = builder.alloca(ir.DoubleType(), size=arguments[0])
        return _array(context, builder, _VECTOR, builder.ptrtoint(room, _WORD), [arguments[0]])

    return _VECTOR(types.int64), code


@_means(language.view)
def _view(_context: Any, _address: Any, _count: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return _array(context, builder, _VECTOR, arguments[0], [arguments[1]])

    return _VECTOR(types.int64, types.int64), code


@_means(language.view_rows)
def _view_rows(_context: Any, _address: Any, _rows: Any, _columns: Any) -> Any:
    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return _array(context, builder, _ROWS, arguments[0], list(arguments[1:]))

    return _ROWS(types.int64, types.int64, types.int64), code


def _teach() -> None:
    """Let Numba know what each function means that was marked since."""
    for load, kind in language.loaders.items():
        _means(load)(_reading(RecordType(kind)))
    function: Any
    for function, mark in language.marks.items():
        if function in _taught:
            continue
        _taught[function] = numba.njit(**OPTIONS, forceinline=mark == "merged")(function)
        infer_global(function, types.Dispatcher(_taught[function]))
        if mark == "inserted":  # Numba looks for these before it types a call
            function.targetoptions, function.py_func = {"inline": "always"}, function


# ------------------------------------------------------------------------------- entries


def compiled(entry: Entry) -> tuple[bytes, list[str]]:
    """(bitcode, functions of the C library that it calls) of an entry; the function in it is called `entry`."""
    _teach()
    kinds = [NUMBERS[each] for each in entry.arguments]
    made = numba.njit(types.int64(*(kind for kind, _ in kinds)), **OPTIONS)(entry.function)
    (result,) = made.overloads.values()
    module = llvm.parse_assembly(result.library.get_llvm_str())
    module.link_in(llvm.parse_assembly(_around(result.fndesc.mangled_name, [form for _, form in kinds])))
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != "entry":
            each.linkage = "internal"
    _optimise(module)
    for k, each in enumerate(module.functions):
        if not each.is_declaration and each.name != "entry":
            each.name = f"f{k}"
    needed = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    return module.as_bitcode(), needed


def _around(name: str, forms: list[str]) -> str:
    """The text of a function `entry` for C code around one of Numba's, which gives its result by a pointer."""
    arguments = ", ".join(f"{form} %a{k}" for k, form in enumerate(forms))
    return f"""declare i32 @"{name}"(ptr, ptr, {", ".join(forms)})
define i64 @entry({arguments}) {{
  %result = alloca i64
  %error = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @"{name}"(ptr %result, ptr %error, {arguments})
  %given = load i64, ptr %result
  %well = icmp eq i32 %status, 0
  %said = select i1 %well, i64 %given, i64 {FAILED}
  ret i64 %said
}}"""


def _optimise(module: llvm.ModuleRef) -> None:
    target = llvm.Target.from_default_triple().create_target_machine(cpu="generic", opt=3)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
