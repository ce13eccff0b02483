"""Files are written whole or not at all, on full disks, in folders that vanish, through links, with and without an
older version beside them."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import FileError
from core.files import source
from core.files.source import append_atomically, write_atomically

only_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of another kind")


def failing(number):
    def call(*_, **__):
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("backup", [False, True])
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, number, backup):
    file = tmp_path / "a.kst"
    file.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr(source.os, step, failing(number))
        with pytest.raises(FileError) as caught:
            write_atomically(file, b"new", backup=backup)
    assert caught.value.what == f"The file cannot be written: {os.strerror(number)}."
    assert caught.value.remedy
    assert file.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} <= {"a.kst", "a.kst~"}


def test_a_folder_that_vanished_is_told(tmp_path):
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        write_atomically(tmp_path / "gone" / "a.kst", b"new")


@only_posix
def test_the_folder_is_flushed_after_the_file_has_its_name(tmp_path, monkeypatch):
    """Else the name may be lost when the power fails, though the content is on disk."""
    file, steps = tmp_path / "a.kst", []
    flush, rename = os.fsync, os.replace
    monkeypatch.setattr(source.os, "fsync", lambda fd: (steps.append(stat.S_ISDIR(os.fstat(fd).st_mode)), flush(fd)))
    monkeypatch.setattr(source.os, "replace", lambda *names: (steps.append("renamed"), rename(*names)))
    write_atomically(file, b"new")
    assert steps == [False, "renamed", True]


@only_posix
def test_links_and_permissions_stay(tmp_path):
    file, link = tmp_path / "a.kst", tmp_path / "link.kst"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(link, b"new", backup=True)
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (tmp_path / "a.kst~").read_bytes() == b"old"


def test_one_older_version_is_kept_if_wished(tmp_path):
    file = tmp_path / "a.kst"
    for text in (b"first", b"second", b"third"):
        write_atomically(file, text, backup=True)
    assert file.read_bytes() == b"third"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.kst", "a.kst~"]
    assert (tmp_path / "a.kst~").read_bytes() == b"second"


def test_an_older_version_is_kept_where_files_have_one_name_only(tmp_path, monkeypatch):
    file = tmp_path / "a.kst"
    file.write_bytes(b"old")
    monkeypatch.setattr(source.os, "link", failing(errno.EPERM))
    write_atomically(file, b"new", backup=True)
    assert (file.read_bytes(), (tmp_path / "a.kst~").read_bytes()) == (b"new", b"old")


def test_text_is_added_at_the_end(tmp_path):
    file = tmp_path / "a.txt"
    append_atomically(file, "α\n")
    append_atomically(file, "β\n")
    assert file.read_text(encoding="utf-8") == "α\nβ\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits on files")
def test_a_file_larger_than_allowed_is_not_begun(tmp_path):
    """The system itself says no in the middle of a write."""
    file = tmp_path / "a.kst"
    file.write_bytes(b"old")
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000));"
        "from core.files.source import write_atomically; write_atomically(sys.argv[1], bytes(5000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "The file cannot be written: File too large." in done.stderr
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.kst"]
