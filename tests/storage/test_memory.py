"""Sizes in words, and the memory that is left, told from faked system files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcweb.storage.memory import available_memory, parse_size, show_size

LARGE = "9223372036854771712"  # how version 1 says "no limit"


def fake(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("4 g", 4 * 10**9), ("512MiB", 512 << 20), ("1.5kB", 1500), (17, 17)],
)
def test_sizes_are_read(text, size):
    """Decimal units, binary ones with an i, plain bytes."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1e9", "4 XB", "0", "nan", "1GB2"])
def test_what_is_no_size_is_refused(text):
    """With the text and a right example."""
    with pytest.raises(ValueError, match=r"4GB|larger than 0"):
        parse_size(text)
    for odd in (True, 1.5, None):
        with pytest.raises(TypeError, match="4GB"):
            parse_size(odd)


@given(st.integers(1, 10**15))
def test_sizes_shown_read_back_within_their_digits(size):
    """Two to three digits are shown, so at most a twentieth is lost."""
    shown = show_size(size)
    assert parse_size(shown.replace("bytes", "b")) == pytest.approx(size, rel=0.051)


def test_the_tightest_limit_counts(tmp_path):
    """The kernel has 8 GB, the group 3 GB of which 1 GB is in use, its parent 1.5 GB."""
    group = "sys/fs/cgroup/a"
    files = {
        "proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
        "proc/self/cgroup": "0::/a/b\n",
        f"{group}/b/memory.max": "3000000000\n",
        f"{group}/b/memory.current": "1000000000\n",
        f"{group}/b/memory.stat": "anon 5\ninactive_file 200000000\n",
        f"{group}/memory.max": "max\n",
        f"{group}/memory.current": "1000000000\n",
    }
    assert available_memory(fake(tmp_path, files)) == 2_200_000_000
    fake(tmp_path, {f"{group}/memory.max": "1500000000\n"})
    assert available_memory(tmp_path) == 500_000_000


def test_version_1_groups_count_too(tmp_path):
    """As older systems have them; the path may be one of the host's."""
    top = "sys/fs/cgroup/memory"
    files = {
        "proc/meminfo": "MemAvailable: 8000000 kB\n",
        "proc/self/cgroup": "5:devices:/\n4:memory:/docker/abc\n0::/\n",
        f"{top}/memory.limit_in_bytes": "1000000000\n",
        f"{top}/memory.usage_in_bytes": "400000000\n",
        f"{top}/memory.stat": "total_inactive_file 100000000\n",
    }
    assert available_memory(fake(tmp_path, files)) == 700_000_000
    fake(tmp_path, {f"{top}/memory.limit_in_bytes": LARGE})
    assert available_memory(tmp_path) == 8_000_000 * 1024


def test_without_system_files_pages_are_counted(tmp_path):
    """Elsewhere than on Linux; at least it is a number of bytes that a machine can have."""
    assert 1 << 26 < (available_memory(tmp_path) or 0) < 1 << 50


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_limit_on_address_space_counts():
    """``ulimit -v``: asked in a child, since a limit cannot be raised again."""
    script = (
        "import resource; from rcweb.storage.memory import available_memory;"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); print(available_memory())"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.check_output([sys.executable, "-c", script], text=True, env=environment)
    assert 1 << 29 < int(output) < 3 << 30
