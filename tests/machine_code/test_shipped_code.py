"""Object code in a wheel: for any processor of the architecture it was built on, and left alone anywhere else."""

import platform
import re
import sys

import llvmlite.binding as llvm
import pytest

from core.codegen.object_code import PLAIN
from core.machine_code import shipped_code, supply
from core.machine_code.intermediate import entry_point_names, find_stored_code

NAME = "simulation.methods.adams.forget"
X86 = platform.machine().lower() in ("x86_64", "amd64")


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder with object code of one entry, nothing in the cache, and no process that makes better code."""
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path)
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(PLAIN, raising=False)
    monkeypatch.setattr(supply.AHEAD, "start_soon", lambda: None)
    shipped_code.write_shipped_code([NAME])
    (path,) = tmp_path.glob("*.o")
    return path


def code_is_taken():
    return shipped_code.find_shipped_code(NAME, find_stored_code(NAME).bitcode) is not None


def test_it_is_loaded_without_compiling(shipped, monkeypatch):
    monkeypatch.setattr(llvm.TargetMachine, "emit_object", lambda *_: pytest.fail("compiled"))
    assert code_is_taken()
    loaded = supply.load_code(NAME)
    assert loaded.library.address("entry")
    assert not loaded.is_final


@pytest.mark.parametrize(
    ("system", "processor"),
    [("linux", "aarch64"), ("darwin", "arm64"), ("darwin", "x86_64"), ("win32", "AMD64"), ("freebsd14", "x86_64")],
)
def test_other_systems_and_processors_compile_for_themselves(system, processor, shipped, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    assert not code_is_taken()
    monkeypatch.undo()
    assert supply.load_code(NAME).library.address("entry")


def test_damaged_code_and_code_of_other_bitcode_is_left_alone(shipped):
    data = shipped.read_bytes()
    assert code_is_taken()
    assert shipped_code.find_shipped_code(NAME, find_stored_code(entry_point_names()[0]).bitcode) is None
    for wrong in (data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:], b""):
        shipped.write_bytes(wrong)
        assert not code_is_taken()


@pytest.mark.skipif(not X86, reason="looks at instructions of this architecture")
def test_it_has_no_instructions_that_a_processor_may_lack():
    """Names of AVX, FMA and later ones begin with v (apart from two of SSE's age), their registers are called ymm, zmm;
    what came with SSE3 to SSE4.2 and BMI is not there, either."""
    later = re.compile(
        r"^\s+(?!verr|verw)(v\w+|round[sp][sd]|blendv\w+|p(?:shufb|inserd|extrd|maxs[bd]|mulld)|popcnt\w*|lzcnt\w*|"
        r"tzcnt\w*|andn[lq]?|bextr\w*|mulx\w*|[sr][ah][rl]x\w*)\b|[yz]mm\d",
        re.MULTILINE,
    )
    assert later.search("\tvaddsd\t%xmm1, %xmm0, %xmm0\n")
    assert later.search("\tmovups\t%ymm0, (%rax)\n")
    target = shipped_code.target_machine()
    for name in entry_point_names():
        module = llvm.parse_bitcode(find_stored_code(name).bitcode)
        module.triple, module.data_layout = target.triple, str(target.target_data)
        found = later.search(target.emit_assembly(module))
        assert not found, f"{name}: {found}"
