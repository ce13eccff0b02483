"""Object code on disk: only whole files are taken, only from folders of one's own, and no trouble there is one."""

import errno
import os
import shutil
import stat
import tempfile
import threading

import pytest

from core.codegen import object_cache
from core.codegen.object_code import LoadedLibrary

IR = "define i64 @single(ptr %b) {\n ret i64 41\n}\ndefine i64 @batch(ptr %b) {\n ret i64 0\n}"


@pytest.fixture(autouse=True)
def nothing_stored_by_other_threads(monkeypatch):
    """A compiler that an earlier test left at work writes nothing to the folders looked at here."""
    this, folder = threading.get_ident(), object_cache.cache_folder
    monkeypatch.setattr(object_cache, "cache_folder", lambda: folder() if threading.get_ident() == this else None)


def test_object_code_is_cached_and_damage_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path))
    LoadedLibrary(IR)
    (file,) = tmp_path.glob("*.o")
    whole = file.read_bytes()
    for broken in (b"", whole[:40], whole[:-1] + bytes([whole[-1] ^ 1]), b"x" * len(whole)):
        file.write_bytes(broken)
        assert object_cache.load(file.stem) is None
        assert LoadedLibrary(IR).address("single")
        assert file.read_bytes() == whole
    assert not list(tmp_path.glob("*.part"))
    monkeypatch.setenv("KINETOSTAT_CACHE", "")
    assert object_cache.cache_folder() is None
    assert LoadedLibrary(IR).address("single")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files."""
    place = tmp_path / "temporary"
    place.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def test_a_cache_that_cannot_be_written_is_elsewhere_or_nowhere(tmp_path, temporary, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("KINETOSTAT_CACHE", str(blocked / "code"))
    assert object_cache.cache_folder().parent == temporary
    assert LoadedLibrary(IR).address("single")
    assert list(object_cache.cache_folder().glob("*.o"))
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    assert object_cache.cache_folder() is None
    assert LoadedLibrary(IR).address("single")


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
def test_code_is_only_kept_where_nobody_else_can_put_any(tmp_path, temporary, monkeypatch):
    """Code that is found is run: a folder in which others may write, or which they may replace, is left alone."""
    place = tmp_path / "shared" / "code"
    monkeypatch.setenv("KINETOSTAT_CACHE", str(place))
    assert object_cache.cache_folder() == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    object_cache.store_object_code("a", b"planted")
    for folder, mode in ((place, 0o777), (place, 0o757), (place.parent, 0o777)):
        before = folder.stat().st_mode
        folder.chmod(mode)
        assert object_cache.cache_folder().parent == temporary
        assert object_cache.load("a") is None
        folder.chmod(before)
    assert object_cache.load("a") == b"planted"
    place.parent.chmod(0o1777)  # others may write there, but not rename what is ours
    assert object_cache.cache_folder() == place
    link = tmp_path / "link"
    link.symlink_to(place)
    monkeypatch.setenv("KINETOSTAT_CACHE", str(link))
    assert object_cache.cache_folder() == place
    monkeypatch.setattr(object_cache.os, "geteuid", lambda: 12345)
    assert object_cache.cache_folder() is None


def test_a_folder_that_vanishes_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "code"))
    object_cache.store_object_code("a", b"first")
    shutil.rmtree(tmp_path / "code")
    assert object_cache.load("a") is None
    object_cache.store_object_code("a", b"second")
    assert object_cache.load("a") == b"second"


def test_a_full_disk_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "code"))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(object_cache.os, "replace", full)
    object_cache.store_object_code("a", b"code")
    assert object_cache.load("a") is None
    assert not list((tmp_path / "code").iterdir())


def test_the_folder_is_not_looked_through_for_every_file(tmp_path, monkeypatch):
    """It may hold thousands: once at first, then when as much was written as it may be too large. The oldest go."""
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path))
    monkeypatch.setattr(object_cache, "_LARGEST", 20_000)
    monkeypatch.setattr(object_cache, "_TOO_LARGE", 1000)
    looks, prune = [], object_cache._prune
    monkeypatch.setattr(object_cache, "_prune", lambda place: looks.append(1) or prune(place))
    (tmp_path / "loops-1").mkdir()
    for k in range(100):
        object_cache.store_object_code(f"{k:02}", b"x" * 400)
        os.utime(tmp_path / f"{k:02}.o", (k, k))
        assert sum(file.stat().st_size for file in tmp_path.glob("*.o")) < 20_000 + 1000 + 3 * 432
    assert not (tmp_path / "loops-1").exists()
    assert 30 <= len(looks) <= 36
    assert object_cache.load("99")
    assert object_cache.load("00") is None
