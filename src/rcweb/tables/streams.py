"""Bytes of a file, unpacked; lines of text from them, decoded."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rcweb.storage.errors import TableError, place, reason
from rcweb.storage.limits import text_limit
from rcweb.storage.memory import show_size

# A row of ten million numbers fits; a file without line ends is refused before it fills memory.
MAX_LINE = 1 << 28
_CHUNK = 1 << 20
_PIECE = 1 << 10  # packed bytes at a time: a thousand can hold 32 MB
_ESCAPED = re.compile("[\udc80-\udcff]")


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked if they are gzip or zstd; the content decides, not the name."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == b"\x1f\x8b":
            stream: IO[bytes] = _Limited.around(gzip.GzipFile(fileobj=file))
        elif magic == b"\x28\xb5\x2f\xfd":
            stream = _Limited.around(_ZstdReader(file))
        else:
            stream = file
        try:
            yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(
                f"{path.name}: damaged or truncated gzip file ({reason(error)})."
            ) from None


def text_lines(stream: IO[bytes], encoding: str | None = None) -> Iterator[str]:
    """Decoded lines with any kind of line end; an error names the line and column.

    Without an `encoding`: UTF-16 if the file starts with its mark, else UTF-8.
    """
    start = stream.peek(2)[:2] if hasattr(stream, "peek") else b""
    if encoding is None:
        encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    if encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"  # the same, and a mark at the start is no part of the first name
    # surrogateescape keeps a bad byte as a marker, so that the check below can name its place.
    try:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape")
    except LookupError:
        raise TableError(f"Unknown encoding {encoding!r}; try utf-8 or latin-1.") from None
    number = 0
    try:
        # Limited: a file without line ends would be read as one line.
        while line := text.readline(MAX_LINE):
            number += 1
            _check_line(line, number)
            yield line
    except UnicodeError as error:
        raise TableError(f"Not {encoding} text, after line {number}: {reason(error)}.") from None
    finally:
        if not stream.closed:  # the caller opened it, the caller closes it
            text.detach()


def _check_line(line: str, number: int) -> None:
    if len(line) >= MAX_LINE:
        raise TableError(f"line {number} is longer than {MAX_LINE:,} characters.")
    if "\0" in line:
        raise TableError(
            f"{place(number)}: a zero byte; this is not a text table. "
            "Give it the ending of its format (.parquet, .xlsx, .npz, .h5ad)."
        )
    if not line.isascii() and (bad := _ESCAPED.search(line)):
        byte = ord(bad.group()) - 0xDC00
        raise TableError(
            f"line {number}, character {bad.start() + 1}: byte 0x{byte:02x} is not UTF-8; "
            "say which encoding it is (--encoding latin-1) or convert the file."
        )


class _Limited(io.RawIOBase):
    """A stream that raises once it is longer than any table that fits in memory."""

    def __init__(self, source: Any, limit: int | None) -> None:
        self._source, self._limit, self._length = source, limit, 0

    @classmethod
    def around(cls, source: Any) -> IO[bytes]:
        return io.BufferedReader(cls(source, text_limit()), _CHUNK)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n: int = self._source.readinto(buffer)
        self._length += n
        if self._limit is not None and self._length > self._limit:
            raise TableError(
                f"It unpacks to more than {show_size(self._limit)}; no table of that size fits "
                "in the memory that is free."
            )
        return n


class _ZstdReader(io.RawIOBase):
    """Decompresses zstd frames. The library's own reader does not notice a truncated last frame."""

    def __init__(self, source: IO[bytes]) -> None:
        try:
            import zstandard
        except ImportError:
            raise ImportError(
                "Reading .zst files needs zstandard: pip install 'rcweb[tables]'"
            ) from None
        self._source = source
        self._zstd: Any = zstandard
        self._frame: Any = None
        self._packed = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Ends: every turn uses up input, and at the end of the input 0 is returned or an error
        # raised.
        while not self._ready:
            if not self._packed:
                self._packed = self._source.read(_PIECE)
            if not self._packed:
                # Input ended inside a frame.
                if self._frame is not None:
                    raise TableError("The zstd file is truncated.")
                return 0
            self._unpack()
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def _unpack(self) -> None:
        if self._frame is None:
            # The window is memory that the file asks for; 128 MB is the limit of the zstd tool
            # itself.
            self._frame = self._zstd.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        try:
            self._ready = self._frame.decompress(self._packed)
        except self._zstd.ZstdError as error:
            raise TableError(f"Damaged zstd file ({reason(error)}).") from None
        # A file may hold several frames, one after the other.
        self._packed = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
