"""Encoders of film files: MP4 (H.264, otherwise MPEG-4), GIF, or numbered PNG files.

Each encoder takes (height, width, 4) pictures by `add` and writes the file whole at the end by `finish`, or nothing
after `drop`.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Protocol

import numpy as np

from core.errors import FileError, KinetostatError
from viz.pictures.picture_files import Pixels, png_data

QUALITY = "18"
"""Constant rate factor of H.264: visually lossless for drawings."""
BIT_RATE = 12_000_000
"""Bit rate of MPEG-4, used if H.264 is not available, bit/s."""
MOST_WAITING = 4
"""Largest number of frames that wait for their encoder."""
GIF_TICKS = 100
"""Time resolution of GIF: hundredths of a second."""
GIF_FASTEST = 50
"""Highest frame rate that viewers play correctly (they ignore delays below 2/100 s)."""


class Encoder(Protocol):
    """Interface of all encoders."""

    def add_frame(self, picture: Pixels) -> None:
        """Encode the next frame."""
        ...

    def finish(self) -> None:
        """Complete the film file. Raises FileError."""
        ...

    def discard(self) -> None:
        """Discard the film, leaving no files."""
        ...


def create_encoder(path: str | os.PathLike[str], fps: Fraction, size: tuple[int, int]) -> Encoder:
    """Return the encoder for the suffix of a path. Raises KinetostatError for settings that the format does not
    support."""
    target = Path(path)
    make = FORMATS.get(target.suffix.lower())
    if make is None:
        raise FileError(
            "The file's suffix is not a film format.",
            file=str(target),
            remedy=f"Use {', '.join(FORMATS)} (PNG: one numbered picture per frame).",
        )
    if not target.parent.is_dir():
        raise FileError("The folder does not exist.", file=str(target), remedy="Choose a folder that exists.")
    return make(target, fps, size)


@contextmanager
def _file_errors_as_messages(path: Path) -> Iterator[None]:
    """Convert file errors into messages for the user."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"The film cannot be written: {error.strerror or error}.",
            file=str(path),
            remedy="Choose a writable folder with enough disk space.",
        ) from None


class EncoderInBackground:
    """Encoder that encodes frames in a thread of its own, while the next ones are drawn.

    Errors of the encoder are raised by the next call.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._error: BaseException | None = None
        self._waiting: Queue[Pixels | None] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._encode_frames, name="kinetostat-film", daemon=True)
        self._thread.start()

    def _encode_frames(self) -> None:
        """Encode what comes; after an error frames are only taken."""
        while (picture := self._waiting.get()) is not None:
            if self._error is None:
                try:
                    self._encoder.add_frame(picture)
                except BaseException as error:  # raised where the next frame comes from
                    self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _join(self) -> None:
        """Wait until all frames are encoded."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()

    def add_frame(self, picture: Pixels) -> None:
        """Pass on the next frame, which must not change any more."""
        self._raise_error()
        self._waiting.put(picture)

    def finish(self) -> None:
        """Complete the film file. Raises FileError."""
        self._join()
        self._raise_error()
        self._encoder.finish()

    def discard(self) -> None:
        """Discard the film, leaving no files."""
        self._error = self._error or KinetostatError("The film is discarded.")  # for frames that still wait
        self._join()
        self._encoder.discard()


class VideoEncoder:
    """Encoder of an MP4 file with one H.264 stream; frame k is shown at exactly k / fps."""

    def __init__(self, path: Path, fps: Fraction, size: tuple[int, int]) -> None:
        if size[0] % 2 or size[1] % 2:
            raise KinetostatError(
                f"MP4 films need an even width and height, not {size[0]} × {size[1]} pixels.",
                remedy=f"Choose {size[0] // 2 * 2} × {size[1] // 2 * 2}, or GIF or PNG.",
            )
        import av

        self.path, self.fps, self.count = path, fps, 0
        with _file_errors_as_messages(path):
            handle, self._temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=".mp4")
            os.close(handle)
        self._file = av.open(self._temporary, "w", options={"movflags": "+faststart"})
        self._stream = self._create_stream(size)

    def _create_stream(self, size: tuple[int, int]) -> Any:
        import av

        h264 = "libx264" in av.codecs_available
        stream: Any = self._file.add_stream("libx264" if h264 else "mpeg4", rate=self.fps)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.time_base = 1 / self.fps
        if h264:
            stream.options = {"crf": QUALITY, "preset": "veryfast"}
        else:
            stream.bit_rate = BIT_RATE
        return stream

    def add_frame(self, picture: Pixels) -> None:
        """Encode the next frame."""
        import av

        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgba")
        frame.pts, frame.time_base = self.count, 1 / self.fps
        self.count += 1
        with _file_errors_as_messages(self.path):
            self._file.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Close the film and move it to its final name."""
        with _file_errors_as_messages(self.path):
            self._file.mux(self._stream.encode(None))
            self._file.close()
            _rename_finished(Path(self._temporary), self.path)

    def discard(self) -> None:
        """Discard the film, leaving no files."""
        self._file.close()
        Path(self._temporary).unlink(missing_ok=True)


class GifEncoder:
    """Encoder of a GIF that loops endlessly, with 256 colours chosen from all of its frames. Delays are whole
    hundredths of a second that add up to the exact time."""

    def __init__(self, path: Path, fps: Fraction, size: tuple[int, int]) -> None:
        if fps > GIF_FASTEST:
            raise KinetostatError(
                f"GIF films can have at most {GIF_FASTEST} frames per second, not {float(fps):g}.",
                remedy="Choose fewer frames per second, or MP4.",
            )
        import av

        self.path, self.fps, self.count = path, fps, 0
        self._graph = av.filter.Graph()
        buffer: Any = self._graph.add_buffer  # its stub refuses names of formats
        source = buffer(width=size[0], height=size[1], format="rgb24", time_base=Fraction(1, GIF_TICKS))
        parts = [self._graph.add(name) for name in ("split", "palettegen", "paletteuse", "buffersink")]
        split, palette, use, sink = parts
        source.link_to(split)
        split.link_to(palette, 0, 0)
        split.link_to(use, 1, 0)
        palette.link_to(use, 0, 1)
        use.link_to(sink)
        self._graph.configure()
        self._size = size

    def add_frame(self, picture: Pixels) -> None:
        """Store the next frame."""
        import av

        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[:, :, :3]), format="rgb24")
        frame.pts, frame.time_base = round(self.count * GIF_TICKS / self.fps), Fraction(1, GIF_TICKS)
        self.count += 1
        self._graph.vpush(frame)

    def finish(self) -> None:
        """Choose the colours and write the film."""
        import av

        self._graph.vpush(None)
        memory = io.BytesIO()
        with av.open(memory, "w", format="gif", options={"loop": "0"}) as file:
            stream: Any = file.add_stream("gif", rate=self.fps)
            stream.width, stream.height = self._size
            stream.pix_fmt = "pal8"
            stream.time_base = stream.codec_context.time_base = Fraction(1, GIF_TICKS)
            for _ in range(self.count):
                file.mux(stream.encode(self._graph.vpull()))
            file.mux(stream.encode(None))
        from core.files.source import write_atomically

        write_atomically(str(self.path), memory.getvalue())

    def discard(self) -> None:
        """Do nothing, because no file has been written."""


class PictureSeries:
    """Encoder of numbered pictures: film.png becomes film_0001.png, film_0002.png … . All of them appear together at
    the end."""

    def __init__(self, path: Path, fps: Fraction, size: tuple[int, int]) -> None:
        self.path, self.count = path, 0
        with _file_errors_as_messages(path):
            self._folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}.")

    def _numbered_path(self, number: int) -> str:
        return f"{self.path.stem}_{number:04d}.png"

    def add_frame(self, picture: Pixels) -> None:
        """Write the next frame."""
        self.count += 1
        with _file_errors_as_messages(self.path):
            (Path(self._folder.name) / self._numbered_path(self.count)).write_bytes(png_data(picture))

    def finish(self) -> None:
        """Move the pictures to their final names, and delete surplus pictures of an earlier, longer film."""
        with _file_errors_as_messages(self.path):
            for number in range(1, self.count + 1):
                _rename_finished(
                    Path(self._folder.name) / self._numbered_path(number),
                    self.path.parent / self._numbered_path(number),
                )
            self._folder.cleanup()
            number = self.count + 1
            while (old := self.path.parent / self._numbered_path(number)).is_file():
                old.unlink()
                number += 1

    def discard(self) -> None:
        """Discard the pictures, leaving no files."""
        self._folder.cleanup()


def _rename_finished(temporary: Path, path: Path) -> None:
    """Move a finished file to its final name, with ordinary access permissions."""
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(temporary, 0o666 & ~umask)
    os.replace(temporary, path)


FORMATS: Mapping[str, Callable[[Path, Fraction, tuple[int, int]], Encoder]] = {
    ".mp4": VideoEncoder,
    ".gif": GifEncoder,
    ".png": PictureSeries,
}
"""Encoders by file suffix."""
