"""Compiled loops give the same bits in the process that compiles them and in later ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import hashlib
import numpy as np
from rcweb.engine.posterior.kernels import draw_edges, draw_shaped_edges, expect_shaped_edges
from rcweb.engine.posterior.slab import PRIOR_MIX, SPREAD, STEP

rng = np.random.default_rng(0)
P, N, M = 6, 300, 40
R = rng.standard_normal((M, P))
C = rng.standard_normal((P, N)) * (rng.random((P, N)) < 0.4)
Q, Z = R.T @ R, R.T @ (R @ C + rng.standard_normal((M, N)))
weight, log_odds, scale = rng.uniform(0.5, 2, N), np.full(P, -0.4), rng.uniform(0.5, 2, P)
digest = hashlib.sha256()
for kernel in (draw_edges, draw_shaped_edges, expect_shaped_edges):
    c, probability, last, used = C.copy(), np.empty_like(C), np.empty_like(C), np.zeros(13)
    drawn, expected = kernel is not expect_shaped_edges, np.zeros((2, P, N))
    slab = () if kernel is draw_edges else (np.full(P, 0.5), STEP, SPREAD, PRIOR_MIX)
    beside = (np.full(P, 0.1),) if drawn else (np.full(P, 0.1), 9.0, 0.1)
    edges = np.zeros((P, N), bool)
    more = (edges, np.zeros((P, 2))) if drawn else (*expected, np.zeros((P, 3)))
    out = (probability, last, *more) if kernel is draw_edges else (probability, last, *more, used)
    kernel(*((rng,) * drawn), Q, Z, c, weight, log_odds, scale, *beside, *slab, *out)
    for array in (c, probability, last, used, *more):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_first_and_later_processes_agree(tmp_path: Path) -> None:
    """An empty cache, then a filled one: a helper that was not written into its caller was compiled
    to other sums, and the first fit on a machine differed from all others."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT]
    digests = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert list(tmp_path.rglob("*.nbc"))
    assert digests[0] == digests[1]
