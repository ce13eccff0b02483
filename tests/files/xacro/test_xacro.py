"""Xacro: a stranger's file runs nothing, an ordinary one is expanded as ever."""

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.errors import CodeRefused, FileError, KinetostatError
from core.files import TrustedFile, read
from core.files.source import source_from_file

pytest.importorskip("xacrodoc")

HEAD = '<?xml version="1.0"?>\n<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'


def written(folder, body, name="robot.xacro"):
    file = folder / name
    file.write_text(f"{HEAD}{body}\n</robot>\n", encoding="utf-8")
    return file


def links(file, **options):
    return [body.name for body in read(file, **options).model.bodies]


SUBCLASSES = (
    "(lambda words: [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['spawnvp'](0, words[0], words) or 1)(['touch', 'MARK'])"
)
FRAMES = (
    "(lambda l: l.append((l[0].gi_frame.f_back.f_back.f_back.f_globals for _ in [1])) or "
    "[*l[0]][0]['__builtins__']['__import__']('os').system('touch MARK'))([])"
)


@pytest.mark.parametrize("expression", [SUBCLASSES, FRAMES], ids=["subclasses", "frames"])
@pytest.mark.parametrize("opened", ["robot.xacro", "robot.txt", "machine.kst"])
def test_opening_runs_no_code_of_the_file(tmp_path, expression, opened):
    mark = tmp_path / "mark"
    body = f'<xacro:property name="a" value="${{{expression.replace("MARK", str(mark))}}}"/><link name="l${{a}}"/>'
    written(tmp_path, body)
    written(tmp_path, body, "robot.txt")
    (tmp_path / "machine.kst").write_text("kinetostat: 1\nname: E\nassemblies:\n  leg: {file: robot.xacro}\n")
    with pytest.raises(KinetostatError):
        read(tmp_path / opened)
    assert not mark.exists()


def test_macros_and_properties_are_expanded(tmp_path):
    body = """<xacro:property name="n" value="${2 + 3}"/>
      <xacro:macro name="m" params="i"><link name="l${i}"/></xacro:macro><xacro:m i="${n * 2}"/>"""
    assert "l10" in links(written(tmp_path, body))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<xacro:property name="a" valu="1"/><link name="a"/>', "unknown attribute(s): valu"),
        ('<if value="0"><link name="b"/></if><link name="a"/>', "<if> in <robot> is not known"),
        ('<xacro:include filename="no*.xacro"/><link name="a"/>', "matched no files"),
    ],
)
def test_what_xacro_warns_of_is_a_warning(tmp_path, body, words):
    found = read(written(tmp_path, body)).findings
    assert [each.severity for each in found if words in each.text] == ["warning"]
    assert not read(written(tmp_path, '<xacro:property name="a" value="1"/><link name="l${a}"/>')).findings


def test_what_xacro_knows_is_expanded(tmp_path):
    """The names of the links are what Xacro's manual says of each construct."""
    (tmp_path / "sizes.yaml").write_text(
        "arm: {length: 2, joints: [{name: elbow, at: !degrees 180}]}\nbore: !millimeters 5 * 2\n", encoding="utf-8"
    )
    inner = '<xacro:property name="p" value="7"/><xacro:macro name="m"><link name="inner${p}"/></xacro:macro>'
    written(tmp_path, inner, "inner.xacro")
    body = """<xacro:arg name="side" default="left"/>
      <xacro:property name="c" value="${xacro.load_yaml('sizes.yaml')}"/>
      <xacro:property name="double" value="${lambda n: 2 * n}"/>
      <xacro:property name="late" value="${early + 1}"/><xacro:property name="early" value="1"/>
      <xacro:include filename="inn*.xacro" ns="other"/><xacro:include filename="missing.xacro" optional="true"/>
      <xacro:macro name="block" params="name:=${early} *inside **more"><link name="b${name}">
        <xacro:insert_block name="inside"/><xacro:insert_block name="more"/></link></xacro:macro>
      <link name="${c.arm.length * 2}_${c['arm']['joints'][0].name}_${round(c.arm.joints[0].at, 2)}_${c.bore}"/>
      <link name="$(arg side)_$(optenv NOT_SET_ANYWHERE none)_$(eval side == 'left')"/>
      <link name="d${double(4)}_${late}"/><xacro:other.m/>
      <xacro:block><inertial><mass value="3"/></inertial><x><visual><geometry><sphere radius="1"/></geometry>
      </visual></x></xacro:block>
      <xacro:if value="${xacro.arg('side') == 'left' and not python.any([0, 0])}"><link name="kept"/></xacro:if>
      <xacro:unless value="${early}"><link name="dropped"/></xacro:unless>
      <xacro:macro name="chain" params="names">
        <xacro:if value="${len(names) > 1}">
          <joint name="${names[1]}" type="fixed"><parent link="${names[0]}"/><child link="${names[1]}"/></joint>
          <xacro:chain names="${names[1:]}"/>
        </xacro:if>
      </xacro:macro>
      <xacro:chain names="${EXPECTED}"/>"""
    expected = ["4_elbow_3.14_0.01", "left_none_True", "d8_2", "inner7", "b1", "kept"]
    body = body.replace("EXPECTED", str(expected))
    model = read(written(tmp_path, body)).model
    assert [body.name for body in model.bodies] == expected
    assert model.body("b1").mass == 3.0
    assert model.body("b1").shapes[0].radius == 1.0


# ------------------------------------------------------------------------------------- strangers' files

LAUGHS = "".join(
    f'<xacro:macro name="m{i}"><a><xacro:m{i - 1}/><xacro:m{i - 1}/></a></xacro:macro>' for i in range(1, 31)
)
DOUBLED = "".join(f'<xacro:property name="p{i}" value="${{p{i - 1}}}${{p{i - 1}}}"/>' for i in range(1, 41))
HOSTILE = {
    "macros that multiply": (
        '<xacro:macro name="m0"><link/></xacro:macro>' + LAUGHS + "<xacro:m30/>",
        "elements",
    ),
    "macro that calls itself": ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "call themselves"),
    "texts that double": (
        '<xacro:property name="p0" value="abc"/>' + DOUBLED + '<link name="${p40}"/>',
        "becomes too long",
    ),
    "file that includes itself": ('<xacro:include filename="robot.xacro"/>', "includes itself"),
    "device": ('<xacro:include filename="/dev/zero"/>', "regular file"),
    "pipe": ('<xacro:include filename="pipe"/>', "regular file"),
    "pipe of yaml": ("<link name=\"${xacro.load_yaml('pipe')}\"/>", "regular file"),
    "device of yaml": ("<link name=\"${xacro.load_yaml('/dev/zero')}\"/>", "regular file"),
    "folder": ('<xacro:include filename="/"/>', "folder"),
    "entities in an include": ('<xacro:include filename="entities.xml"/>', "entities"),
    "objects of yaml": ("<link name=\"${xacro.load_yaml('objects.yaml')}\"/>", "python/object"),
    "laughs of yaml": ("<link name=\"${xacro.load_yaml('laughs.yaml')}\"/>", "items or characters"),
    "circle of yaml": ("<link name=\"${xacro.load_yaml('circle.yaml')}\"/>", "nested"),
    "code as a unit of yaml": ("<link name=\"${xacro.load_yaml('unit.yaml')}\"/>", "__class__"),
    "command within a command": ('<link name="$(find $(touch mark))"/>', "touch"),
    "command of the shell": ('<link name="$(touch mark)"/>', "touch"),
    "python in eval": ('<link name="$(eval __import__)"/>', "double underscore"),
    "functions of python in eval": ('<link name="$(eval open)"/>', "open"),
    "function of an argument": ('<xacro:arg name="a" default="${[].__class__}"/><link name="$(arg a)"/>', "__class__"),
    "condition": ('<xacro:if value="${().__class__}"><link name="a"/></xacro:if>', "__class__"),
    "parameter of a macro": (
        '<xacro:macro name="m" params="a:=${().__class__}"><link name="${a}"/></xacro:macro><xacro:m/>',
        "__class__",
    ),
    "name space as a value": ('<link name="${python}"/>', "namespace"),
    "entries of a name space": ("<link name=\"${python['len']}\"/>", "namespace"),
    "name of a package": ('<link name="$(find ../../../../../../nothing)"/>', "not found"),
}
EXTRA = {
    "entities.xml": '<!DOCTYPE robot [<!ENTITY a "aaaa">]><robot>&a;</robot>',
    "objects.yaml": "!!python/object/apply:os.system ['touch mark']",
    "laughs.yaml": "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
    "circle.yaml": "&a [*a]",
    "unit.yaml": "!degrees ().__class__",
}


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes among files")
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_file_is_a_message_in_seconds(tmp_path, case):
    body, words = HOSTILE[case]
    for name, text in EXTRA.items():
        (tmp_path / name).write_text(text)
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()
    with pytest.raises(FileError, match=re.escape(words)):
        read(written(tmp_path, body))
    assert time.monotonic() - began < 45.0
    assert not (tmp_path / "mark").exists()


def test_modules_beside_a_hostile_file_are_not_imported(tmp_path, monkeypatch):
    for name in ("yaml", "xacro", "rospkg", "sitecustomize", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "."]))
    monkeypatch.chdir(tmp_path)
    assert links(written(tmp_path, '<link name="a"/>')) == ["a"]
    assert not (tmp_path / "mark").exists()


def test_sealed_process_can_only_read(tmp_path):
    """What an expression could do, should it ever reach Python."""
    script = f"""
import os, socket, subprocess, ctypes
from core.files.xacro.process import restrict_to_reading
restrict_to_reading()
mark = {str(tmp_path / "mark")!r}
done = []
for name, act in dict(
    evaluate=lambda: eval("1"), execute=lambda: exec("a = 1"), imports=lambda: __import__("antigravity"),
    shell=lambda: os.system("touch " + mark), program=lambda: subprocess.run(["touch", mark]),
    write=lambda: open(mark, "w"), append=lambda: os.open(mark, os.O_CREAT | os.O_WRONLY),
    folder=lambda: os.mkdir(mark), remove=lambda: os.remove(__file__), link=lambda: os.symlink("a", mark), fork=os.fork,
    net=lambda: socket.create_server(("", 0)), c=lambda: ctypes.CDLL(None), kill=lambda: os.kill(1, 0),
).items():
    try:
        act()
        done.append(name)
    except PermissionError as error:
        if "file is expanded" not in str(error):
            done.append(name)
print(done, len(open(__file__).read(5)), flush=True)
os._exit(0)
"""
    file = tmp_path / "script.py"
    file.write_text(script)
    path = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    said = subprocess.run([sys.executable, file], capture_output=True, text=True, env=path, timeout=60)
    assert said.stdout.strip() == "[] 5", said.stderr
    assert not (tmp_path / "mark").exists()


def test_a_process_that_is_late_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("core.files.xacro.reader.TIME_LIMIT", 0.05)
    with pytest.raises(FileError, match="takes longer than 0"):
        read(written(tmp_path, '<link name="a"/>'))


@pytest.mark.skipif(sys.platform == "win32", reason="has no groups of processes")
def test_what_a_late_file_started_is_ended_too(tmp_path, monkeypatch):
    monkeypatch.setattr("core.files.xacro.reader.TIME_LIMIT", 6.0)
    script, lifeline = tmp_path / "script.sh", tmp_path / "lifeline"
    os.mkfifo(lifeline)
    held = os.open(lifeline, os.O_RDONLY | os.O_NONBLOCK)
    script.write_text(f"exec > {lifeline}; echo started; sleep 600")
    code = SUBCLASSES.replace("['touch', 'MARK']", f"['sh', '{script}']")
    with pytest.raises(FileError, match="longer than 6 s"):
        read(written(tmp_path, f'<link name="${{{code}}}"/>'), trust=True)
    assert os.read(held, 100) == b"started\n"
    assert select.select([held], [], [], 5.0)[0], "nobody holds its other end any more"
    assert os.read(held, 1) == b""
    os.close(held)


def test_library_of_another_kind_is_refused(monkeypatch):
    import xacro

    from core.files.xacro.library import SafeLibrary

    before = xacro.safe_eval
    monkeypatch.delattr(xacro, "_global_symbols")
    with pytest.raises(FileError, match="xacro .* has no _global_symbols"):
        SafeLibrary("a.xacro", str).install()
    assert xacro.safe_eval is before


# ------------------------------------------------------------------------------------- trusted files

CODE = "<link name=\"l${'a'.encode().hex()}\"/>"


def test_what_only_python_can_answer_names_expression_file_and_line(tmp_path):
    written(tmp_path, f"<link name='one'/>\n\n{CODE}", "inner.xacro")
    file = written(tmp_path, '<xacro:include filename="inner.xacro"/>')
    with pytest.raises(CodeRefused, match=re.escape("'a'.encode().hex()")) as caught:
        read(file)
    assert (Path(caught.value.file).name, caught.value.line) == ("inner.xacro", 5)
    assert caught.value.allow == TrustedFile.of(source_from_file(file))
    assert "--trust-code" in caught.value.remedy


def test_trusted_file_runs_its_code_until_it_changes(tmp_path):
    file = written(tmp_path, CODE)
    assert links(file, trust=True) == ["l61"]
    with pytest.raises(CodeRefused) as caught:
        read(file)
    assert links(file, trust=[caught.value.allow]) == ["l61"]
    twin = written(tmp_path, CODE, "twin.xacro")
    with pytest.raises(CodeRefused):
        read(twin, trust=[caught.value.allow])
    written(tmp_path, CODE + "<!-- changed -->")
    with pytest.raises(CodeRefused):
        read(file, trust=[caught.value.allow])


def test_trust_in_a_machine_is_no_trust_in_what_it_imports(tmp_path):
    written(tmp_path, CODE, "leg.xacro")
    machine = tmp_path / "machine.kst"
    machine.write_text("kinetostat: 1\nname: E\nassemblies:\n  leg: {file: leg.xacro}\n")
    with pytest.raises(CodeRefused, match=re.escape("imported as 'leg'")) as caught:
        read(machine, trust=True)
    model = read(machine, trust=[caught.value.allow]).model
    assert "leg.l61" in [body.name for body in model.expanded.bodies]


def test_command_line_lets_a_file_run_its_code(tmp_path, capsys):
    from app.cli.main import cli

    file = str(written(tmp_path, CODE))
    assert cli(["info", file]) == 1
    assert "is not evaluated" in capsys.readouterr().err
    assert cli(["info", file, "--json", "--trust-code"]) == 0
    assert json.loads(capsys.readouterr().out)["body_masses"].keys() == {"l61"}
    (tmp_path / "machine.kst").write_text("kinetostat: 1\nname: E\nassemblies:\n  leg: {file: robot.xacro}\n")
    machine = str(tmp_path / "machine.kst")
    assert cli(["info", machine, "--trust-code"]) == 1
    assert cli(["info", machine, "--trust-code-of", file]) == 0


def test_sets_have_the_same_order_each_time_and_both_ways(tmp_path):
    file = written(tmp_path, "<link name=\"${'_'.join(python.set('lf rf mf ff th wr pa el'.split()))}\"/>")
    assert links(file) == links(file) == links(file, trust=True)


@pytest.mark.parametrize("trust", [False, True])
def test_escaped_dollars_stay_text(tmp_path, trust):
    body = '<xacro:property name="p" value="$${q}"/><link name="a"/><gazebo>${p} $$(arg x) $$${z}</gazebo>'
    model = read(written(tmp_path, body), trust=trust).model
    assert "${q} $(arg x) $${z}" in model.annotations[0].content
