"""The recorded sessions that benchmarks replay, and what a figure over several of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchmarks.size import data_directory
from contextmgr.replay import PolicyOutcome
from contextmgr.transcripts import Session, read_sessions

CLAUDE_CODE = ("claude-code-entire", "claude-code-packmind")
LONG = (*CLAUDE_CODE, "codex-agentv", "pi-agent")
MODEL = "claude-sonnet-5-5"

_Task = TypeVar("_Task")
_Found = TypeVar("_Found")


class Recording(NamedTuple):
    """One conversation of a recorded file."""

    file: Path
    conversation: int
    calls: int

    def read(self) -> Session:
        """The conversation."""
        return read_sessions(self.file)[self.conversation]


def recordings(data: str | None, folders: Sequence[str], *, least: int) -> list[Recording]:
    """The conversations of at least ``least`` calls in these folders of the recorded sessions, longest first."""
    root = data_directory(data) / "trajectories"
    files = [file for folder in folders for file in sorted((root / folder).glob("*.jsonl.gz"))]
    found = [Recording(f, s.index, len(s.replies)) for f in files for s in read_sessions(f)]
    return sorted((r for r in found if r.calls >= least), key=lambda r: -r.calls)


def in_processes(work: Callable[[_Task], _Found], tasks: Iterable[_Task], jobs: int) -> Iterator[_Found]:
    """What ``work`` makes of every task, in order, in ``jobs`` processes; in this one for a single job."""
    if jobs == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, tasks)


def summed(parts: Sequence[PolicyOutcome]) -> dict[str, Any]:
    """One policy over several conversations: sums, and means over all calls."""
    calls, sent = sum(p.calls for p in parts), sum(p.tokens_sent for p in parts)
    return {
        "cost": round(sum(p.cost for p in parts), 4),
        "mean_tokens": round(sent / max(1, calls), 1),
        "words_in_view": round(sum(p.words_in_view * p.calls for p in parts) / max(1, calls), 4),
        "cache_read_share": round(sum(p.cache_read_share * p.tokens_sent for p in parts) / max(1, sent), 4),
    }
