"""From paths to the sessions that are recorded there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contextmgr.errors import TranscriptError
from contextmgr.importing.naming import conversation_name
from contextmgr.transcripts import Session, read_recorded
from contextmgr.transcripts.recorded_file import open_recorded

_ENDINGS = frozenset({".gz", ".jsonl", ".ndjson", ".json", ".traj"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A recorded session: the name of its conversation, and when its file was last written to."""

    name: str
    session: Session
    written: datetime


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that may be a recording; one that was ``named`` must be."""

    path: Path
    named: bool


def files_in(paths: Sequence[Path]) -> list[Recording]:
    """The files of ``paths``, and below folders those whose endings recordings have, in order.

    Raises `TranscriptError` for a path that is not there and for a folder without any such file.
    """
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise TranscriptError(f"{missing}: there is no such file or folder; give recorded sessions")
    return [recording for path in paths for recording in _below(path)]


def _below(path: Path) -> list[Recording]:
    if not path.is_dir():
        return [Recording(path, named=True)]
    found = [Recording(f, named=False) for f in sorted(path.rglob("*")) if f.suffix in _ENDINGS and f.is_file()]
    if not found:
        raise TranscriptError(f"{path}: no file in this folder ends like a recording ({', '.join(sorted(_ENDINGS))})")
    return found


def read_file(recording: Recording) -> list[Found]:
    """The conversations of a file, those of sub-agents included; [] for one in a folder that is no recording.

    Raises `TranscriptError` for a file that was named and is none.
    """
    try:
        recorded = open_recorded(recording.path)
        sessions = read_recorded(recorded)
    except TranscriptError:
        if recording.named:
            raise
        return []  # a folder may hold anything
    written = datetime.fromtimestamp(recording.path.stat().st_mtime, UTC)
    return [Found(name=conversation_name(recorded, s), session=s, written=written) for s in sessions]
