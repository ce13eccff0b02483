"""The program registered with the desktop: files of Linux in a data home of the test, keys of a registry in memory."""

import os
import shutil
import subprocess
import sys
import types
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kinetostat
from app.cli import desktop_entry, windows_association
from app.cli.main import cli
from app.cli.register import start_command
from core.files import NATIVE

FILES = {
    "applications/kinetostat.desktop",
    "icons/hicolor/scalable/apps/kinetostat.svg",
    "mime/packages/kinetostat.xml",
}
UPDATER = """#!{python}
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "a.cache").write_text("made of " + " ".join(sorted(each.name for each in folder.rglob("*"))))
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A data home that is not there yet, on a Linux without programs that update caches."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    return tmp_path / "data"


@pytest.fixture
def updaters(home):
    """Programs that make a cache in the folder that they are given."""
    folder = home.parent / "programs"
    folder.mkdir()
    for each in desktop_entry.UPDATERS:
        (folder / each.program).write_text(UPDATER.format(python=sys.executable))
        (folder / each.program).chmod(0o755)


def tree(folder):
    """Files with their content, and folders."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def desktop(home):
    """The keys of the desktop entry."""
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(home / "applications" / "kinetostat.desktop", encoding="utf-8")
    return dict(parser["Desktop Entry"])


def words_of(value):
    """The words of a key Exec as the specification has them: escapes of a string, then quotation marks of a shell."""
    text = value.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\")
    done = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' {text}"], capture_output=True, text=True, check=True)
    return [word.replace("%%", "%") for word in done.stdout.split("\0")[:-1]]


@pytest.mark.usefixtures("updaters")
@pytest.mark.parametrize("lived_in", [False, True])
def test_what_is_registered_is_removed_and_nothing_else(home, lived_in, capsys):
    if lived_in:
        for name in ("applications/other.desktop", "mime/packages/other.xml", "icons/hicolor/index.theme"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("of another program")
        for each in desktop_entry.UPDATERS:
            subprocess.run([shutil.which(each.program), home / each.folder], check=True)
    before = tree(home.parent)
    assert cli(["--register"]) == 0
    told = capsys.readouterr().out
    assert all(str(home / file) in told for file in FILES)
    assert tree(home).keys() >= FILES
    assert cli(["--register"]) == 0  # of an environment that moved, say
    assert cli(["--unregister"]) == 0
    if lived_in:
        after = tree(home.parent)
        assert after.keys() == before.keys()
        caches = {f"data/{each.folder}/a.cache" for each in desktop_entry.UPDATERS}
        assert {name for name in before if after[name] != before[name]} <= caches
        assert all(b"kinetostat" not in after[name] for name in caches)
    else:
        assert tree(home.parent) == before
    capsys.readouterr()
    assert cli(["--unregister"]) == 0
    assert f"Nothing is registered in {home}" in capsys.readouterr().out


def test_the_entry_starts_this_installation_and_the_type_is_that_of_our_files(home, tmp_path, capsys):
    assert cli(["--register"]) == 0
    assert "update-mime-database is not installed: until it has run" in capsys.readouterr().out
    entry = desktop(home)
    *words, file = words_of(entry["Exec"])
    assert file == "%f"
    assert entry["TryExec"] == words[0] == sys.executable
    done = subprocess.run([*words, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"Kinetostat {kinetostat.__version__}\n"
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    kind = ElementTree.parse(home / "mime/packages/kinetostat.xml").getroot().find("m:mime-type", space)
    assert entry["MimeType"] == kind.get("type") + ";"
    assert [each.get("pattern") for each in kind.findall("m:glob", space)] == [f"*{each}" for each in NATIVE.suffixes]
    (match,) = kind.findall("m:magic/m:match", space)
    assert kinetostat.dumps(kinetostat.Model()).startswith(match.get("value"))
    icon = home / f"icons/hicolor/scalable/apps/{kind.find('m:icon', space).get('name')}.svg"
    assert ElementTree.parse(icon).getroot().get("viewBox")
    assert entry["Icon"] == icon.stem


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils are not installed")
def test_the_entry_is_valid(tmp_path):
    file = tmp_path / "kinetostat.desktop"
    file.write_text(desktop_entry.entry_text(("/opt/my python/python", "-P", "-m", "kinetostat"), ("applications",)))
    done = subprocess.run(["desktop-file-validate", file], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("folder", ["my files", 'a "b"', "$HOME `id` \\n", "100 %f", "tab\there", "line\nbreak"])
def test_paths_with_any_characters_stay_one_word(folder, home):
    command = (f"/{folder}/python", f"/{folder}/kinetostat.py")
    desktop_entry.write_entry(command)
    by = ["/usr/bin/env"] if "%" in folder else []  # GLib seeks the first word with its %% as they are
    assert words_of(desktop(home)["Exec"]) == [*by, *command, "%f"]


def test_of_an_installed_package_modules_where_it_is_started_hide_nothing(monkeypatch):
    monkeypatch.setattr(kinetostat, "__file__", "/environment/kinetostat/__init__.py")
    assert start_command() == (sys.executable, "-P", "-m", "kinetostat")


@pytest.mark.parametrize("file", sorted(FILES))
def test_a_file_of_somebody_else_is_not_touched(file, home, capsys):
    (home / file).parent.mkdir(parents=True)
    (home / file).write_text("mine")
    before = tree(home)
    assert cli(["--register"]) == 1
    assert f"{home / file}: The file exists already" in capsys.readouterr().err
    assert tree(home) == before
    assert cli(["--unregister"]) == 0
    assert f"{home / file} was not written by kinetostat --register" in capsys.readouterr().out
    assert tree(home) == before


@pytest.mark.parametrize("obstacle", ["applications", "mime", "icons"])
def test_where_one_file_cannot_be_written_none_is(obstacle, home, capsys):
    home.mkdir()
    (home / obstacle).write_text("a file where a folder should be")
    before = tree(home)
    assert cli(["--register"]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert tree(home) == before


def test_a_failed_renewal_leaves_what_was_registered(home, monkeypatch):
    assert cli(["--register"]) == 0
    before = tree(home)
    replace = os.replace

    def refuse(source, target):
        if str(target).endswith(".desktop"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(desktop_entry, "icon", lambda: f"<svg/><!-- {desktop_entry.SIGN} -->")
    assert cli(["--register"]) == 1
    assert tree(home) == before


def test_a_data_home_that_is_no_full_path_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert desktop_entry.data_home() == tmp_path / ".local" / "share"


def test_macos_says_what_it_cannot_do(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    for option in ("--register", "--unregister"):
        assert cli([option]) == 1
        message = capsys.readouterr().err
        assert "only with application bundles" in message
        assert sys.executable in message


# ------------------------------------------------------------------------------------------ Windows


class Registry(types.ModuleType):
    """What the module winreg does, below one root: keys without regard to case, each with its values."""

    HKEY_CURRENT_USER, REG_SZ, KEY_WRITE = object(), 1, 0x20006

    def __init__(self):
        super().__init__("winreg")
        self.keys = {}
        self.refused = ""

    def _fold(self, key):
        return key.lower().strip("\\")

    def CreateKeyEx(self, root, key, reserved=0, access=0):
        assert root is self.HKEY_CURRENT_USER
        if self.refused and self.refused in key:
            raise PermissionError(13, "Access is denied")
        parts = self._fold(key).split("\\")
        for count in range(1, len(parts) + 1):
            self.keys.setdefault("\\".join(parts[:count]), {})
        return Handle(self._fold(key))

    def OpenKey(self, root, key, reserved=0, access=0):
        if self._fold(key) not in self.keys:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        return Handle(self._fold(key))

    def SetValueEx(self, handle, name, reserved, kind, value):
        assert kind == self.REG_SZ
        self.keys[handle.key][name] = value

    def QueryValueEx(self, handle, name):
        if name not in self.keys[handle.key]:
            raise FileNotFoundError(2, "The system cannot find the file specified")
        return self.keys[handle.key][name], self.REG_SZ

    def DeleteValue(self, handle, name):
        if self.keys[handle.key].pop(name, None) is None:
            raise FileNotFoundError(2, "The system cannot find the file specified")

    def QueryInfoKey(self, handle):
        inside = [key for key in self.keys if key.rpartition("\\")[0] == handle.key]
        return len(inside), len(self.keys[handle.key]), 0

    def DeleteKey(self, root, key):
        assert not self.QueryInfoKey(Handle(self._fold(key)))[0], "keys with keys in them are not deleted"
        del self.keys[self._fold(key)]


class Handle:
    """An open key."""

    def __init__(self, key):
        self.key = key

    def Close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture
def registry(monkeypatch):
    """A registry that knows other programs, on what looks like Windows to the command."""
    found = Registry()
    for key in ("Software\\Classes\\.txt", "Software\\Classes\\Other.Program"):
        found.CreateKeyEx(found.HKEY_CURRENT_USER, key)
    monkeypatch.setitem(sys.modules, "winreg", found)
    monkeypatch.setattr(sys, "platform", "win32")
    return found


def test_windows_opens_our_files_and_forgets_them(registry, capsys):
    before = {key: dict(values) for key, values in registry.keys.items()}
    assert cli(["--register"]) == 0
    assert windows_association.UNTRIED in capsys.readouterr().out
    kind = registry.keys["software\\classes\\.kst"][""]
    command = registry.keys[f"software\\classes\\{kind}\\shell\\open\\command".lower()][""]
    assert command == f'"{sys.executable}" {Path(kinetostat.__file__)} "%1"'
    assert cli(["--register"]) == 0
    assert cli(["--unregister"]) == 0
    assert registry.keys == before
    capsys.readouterr()
    assert cli(["--unregister"]) == 0
    assert "Nothing is registered" in capsys.readouterr().out


def test_windows_keeps_the_program_that_opens_such_files(registry, capsys):
    with registry.CreateKeyEx(registry.HKEY_CURRENT_USER, "Software\\Classes\\.kst") as handle:
        registry.SetValueEx(handle, "", 0, registry.REG_SZ, "Other.Program")
    before = {key: dict(values) for key, values in registry.keys.items()}
    assert cli(["--register"]) == 0
    assert "Other.Program still opens such files" in capsys.readouterr().out
    assert registry.keys["software\\classes\\.kst"][""] == "Other.Program"
    assert cli(["--unregister"]) == 0
    assert registry.keys == before


def test_windows_registers_all_or_nothing(registry, capsys):
    before = {key: dict(values) for key, values in registry.keys.items()}
    registry.refused = ".kst"
    assert cli(["--register"]) == 1
    assert "Access is denied; nothing was changed" in capsys.readouterr().err
    assert registry.keys == before


def test_windows_starts_it_without_a_console(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python.exe"))
    assert start_command(windowed=True)[0] == str(tmp_path / "python.exe")
    (tmp_path / "pythonw.exe").touch()
    assert start_command(windowed=True)[0] == str(tmp_path / "pythonw.exe")
