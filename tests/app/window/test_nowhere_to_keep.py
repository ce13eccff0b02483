"""A system on which nothing can be kept: the window and the command line work all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.background import guard
from app.preferences.settings import Settings, unwritable_folders_message

CODE = {"KINETOSTAT_CACHE": os.environ.get("KINETOSTAT_CACHE", "")}
"""Where machine code is kept between tests."""
ROOT = Path(__file__).parents[3]
START = """
import os
from app.window.start import create_application
app = create_application(["x"])
from app.window.window import Window
window = Window()
window.show()
app.processEvents()
print("stands", flush=True)
os._exit(0)
"""


def homeless(place: str) -> dict[str, str]:
    """The environment of a person whose home is there."""
    kept = {name: f"{place}/{name}" for name in ("CACHE", "CONFIG", "STATE", "DATA")}
    found = {**os.environ, "HOME": place, **{f"XDG_{name}_HOME": folder for name, folder in kept.items()}}
    found.pop("KINETOSTAT_CACHE", None)
    return found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can write")
def test_the_window_stands_without_a_home():
    done = subprocess.run(
        [sys.executable, "-c", START],
        env=homeless("/proc/nowhere"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == ["stands"], done.stderr[-500:]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can write")
def test_the_command_line_works_without_a_home():
    example = ROOT / "resources" / "examples" / "pendulum.kst"
    for words in (["info", str(example)], ["run", str(example), "--duration", "0.01", "-o", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "app", *words],
            env={**homeless("/proc/nowhere"), **CODE},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-500:]
        assert done.stdout
        assert "rror" not in done.stderr
        assert "Traceback" not in done.stderr


def test_what_cannot_be_kept_is_said_in_one_message(tmp_path):
    file = tmp_path / "file"
    file.touch()
    kept = {"settings": file / "a", "recovery copies": file / "b", "runs": tmp_path / "new" / "runs"}
    text = unwritable_folders_message(kept)
    assert text.startswith(f"Settings and recovery copies cannot be saved: Not a directory ({file / 'a'}).")
    assert (tmp_path / "new" / "runs").is_dir()
    assert unwritable_folders_message({"runs": tmp_path / "new" / "runs"}) == ""


def test_settings_last_for_the_session_where_they_cannot_be_written(tmp_path):
    file = tmp_path / "file"
    file.touch()
    settings = Settings(file / "settings.ini")
    settings.degrees = False
    settings.flush()
    assert not settings.degrees


def test_details_go_to_the_terminal_where_there_is_no_log(tmp_path, monkeypatch, capsys):
    file = tmp_path / "file"
    file.touch()
    told = []
    monkeypatch.setattr(guard, "log_path", lambda: file / "log" / "kinetostat.log")
    monkeypatch.setattr(guard._log, "handlers", [])
    guard.Guard(lambda *words: told.append(words)).report(ValueError("odd"))
    ((severity, text),) = told
    assert severity == "error"
    assert text.endswith("Details are in the terminal.")
    assert "ValueError: odd" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_log_on_a_full_disk_is_no_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(guard, "log_path", lambda: tmp_path / "kinetostat.log")
    (tmp_path / "kinetostat.log").symlink_to("/dev/full")
    monkeypatch.setattr(guard._log, "handlers", [])
    told = []
    guard.Guard(lambda *words: told.append(words)).report(ValueError("odd"))
    assert len(told) == 1
    assert capsys.readouterr().err == ""
