"""NumPy's own files, read so that a hostile one can neither run code nor fill memory."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rcweb.storage.errors import reason

AnyArray = NDArray[Any]

_HEADER_READERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
ARRAY_KINDS = "biufUS"


class ArrayError(ValueError):
    """Bytes that are not an array of numbers or of text, or not one to trust."""


def array_from_bytes(content: bytes) -> AnyArray:
    """The array in the bytes of an ``.npy`` file; numbers, truth values and text only.

    The size that the header claims is compared with the bytes that are there before anything is
    allocated; objects (pickles) are refused.
    """
    stream = io.BytesIO(content)
    try:
        version = npy.read_magic(stream)
        with warnings.catch_warnings():  # the header is a Python literal: odd ones warn
            warnings.simplefilter("ignore")
            shape, fortran, dtype = _HEADER_READERS[version](stream)
    except KeyError:
        raise ArrayError("unknown version of the npy format") from None
    # The header goes through Python's own parser, which has many ways to say no.
    except Exception as error:
        raise ArrayError(f"not an npy array ({reason(error)})") from None
    if dtype.kind not in ARRAY_KINDS or dtype.itemsize == 0:
        raise ArrayError(f"arrays of type {dtype} are not read, only numbers and text")
    # Python integers: a product in int64 could overflow and pass the check below.
    count = 1
    for size in shape:
        if size < 0:
            raise ArrayError(f"the shape {shape} is negative")
        count *= int(size)
    start = stream.tell()
    if count * dtype.itemsize != len(content) - start:
        raise ArrayError(
            f"the header claims {count * dtype.itemsize:,} bytes, "
            f"the file has {len(content) - start:,}"
        )
    try:
        flat = np.frombuffer(content, dtype, offset=start) if count else np.empty(0, dtype)
        array = flat.reshape(shape, order="F" if fortran else "C")
        # A copy: frombuffer gives a read-only view that keeps all bytes alive.
        return array.copy(order="K")
    except ValueError as error:  # more dimensions than numpy knows
        raise ArrayError(str(error)) from None


def array_to_bytes(array: AnyArray) -> bytes:
    """The bytes of an ``.npy`` file of the array; no pickle.

    The order in memory is kept: a product with an array of another order has other last bits.
    """
    stream = io.BytesIO()
    ordered = array if array.flags.f_contiguous else np.ascontiguousarray(array)
    npy.write_array(stream, ordered, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def read_zip(
    path: Path,
    *,
    max_bytes: int,
    allowed: Callable[[str], bool] = lambda name: True,
) -> dict[str, bytes]:
    """All members of a small zip, in memory: nothing is ever written to a path named inside it.

    Refused: damaged archives, repeated names or ones that are not `allowed`, encryption, unusual
    compression, and more than `max_bytes` when unpacked.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(members, max_bytes, allowed)
            return {member.filename: _unpack(archive, member) for member in members}
    # Our own messages are already clear.
    except ArrayError:
        raise
    # zipfile raises these, and more kinds than it documents, on damaged archives.
    except Exception as error:
        raise ArrayError(f"damaged zip file ({reason(error)})") from None


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """As many bytes as the directory claims, and never more, even if the stream holds more."""
    with archive.open(member) as stream:
        content = stream.read(member.file_size)
    if len(content) != member.file_size:
        raise ArrayError(f"{member.filename[:80]!r} is shorter than the archive says")
    return content


def _check_members(
    members: list[zipfile.ZipInfo], max_bytes: int, allowed: Callable[[str], bool]
) -> None:
    names = [member.filename for member in members]
    if len(set(names)) != len(names):
        raise ArrayError("a name occurs twice in the archive")
    if strange := [name for name in names if not allowed(name)]:
        raise ArrayError(f"unexpected member {strange[0][:80]!r}")
    if any(member.flag_bits & 1 for member in members):
        raise ArrayError("the archive is encrypted")
    # Our writers use only these two; a stranger's file reaches no other decoder.
    if any(m.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for m in members):
        raise ArrayError("unusual compression")
    total = sum(member.file_size for member in members)
    if total > max_bytes:
        raise ArrayError(f"it would unpack to {total:,} bytes; the limit is {max_bytes:,}")
