"""Waiting for a cluster: what ends while nobody looks is not lost."""

from __future__ import annotations

import pytest

from rcweb.blocks import chunked


class EndsWhileLookedAt:
    """A future that is done right after the wait for it has timed out."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def result(self, timeout: float | None = None):
        if timeout is not None:
            raise TimeoutError("timed out")
        if self.error is not None:
            raise self.error
        return [1, 2]

    def done(self) -> bool:
        return True


class Client:
    def __init__(self, future: EndsWhileLookedAt) -> None:
        self.future = future

    def compute(self, part):
        return self.future


def test_a_result_that_comes_at_the_last_moment_counts(monkeypatch):
    client = Client(EndsWhileLookedAt())
    monkeypatch.setattr(chunked, "_current_client", lambda part: client)
    assert chunked._compute(None) == (1, 2)


def test_a_timeout_in_the_work_itself_is_told(monkeypatch):
    client = Client(EndsWhileLookedAt(TimeoutError("of the disk")))
    monkeypatch.setattr(chunked, "_current_client", lambda part: client)
    with pytest.raises(TimeoutError, match="of the disk"):
        chunked._compute(None)
