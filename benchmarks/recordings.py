"""The recorded sessions that benchmarks replay, and what a figure over several of them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.size import data_directory
from contextmgr.replay import PolicyOutcome
from contextmgr.transcripts import Session, read_sessions

CLAUDE_CODE = ("claude-code-entire", "claude-code-packmind")
LONG = (*CLAUDE_CODE, "codex-agentv", "pi-agent")
MODEL = "claude-sonnet-5-5"


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


class Job(NamedTuple):
    """A function at the top of a module, and what to call it with."""

    work: Callable[[Any], Any]
    argument: Any

    def done(self) -> Any:
        """What the function makes of it."""
        return self.work(self.argument)


def in_processes(jobs: Sequence[Job], processes: int) -> list[Any]:
    """What the jobs come to, in their order, done in so many processes; in this one for a single process."""
    if processes == 1:
        return [job.done() for job in jobs]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(Job.done, jobs))


def summed(parts: Sequence[PolicyOutcome]) -> dict[str, Any]:
    """One policy over several conversations: sums, and means over all calls."""
    calls, sent = sum(p.calls for p in parts), sum(p.tokens_sent for p in parts)
    return {
        "cost": round(sum(p.cost for p in parts), 4),
        "mean_tokens": round(sent / max(1, calls), 1),
        "words_in_view": round(sum(p.words_in_view * p.calls for p in parts) / max(1, calls), 4),
        "cache_read_share": round(sum(p.cache_read_share * p.tokens_sent for p in parts) / max(1, sent), 4),
    }
