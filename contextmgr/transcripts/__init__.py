"""Recorded agent sessions of six formats, read into values a conversation can be replayed from."""

from __future__ import annotations

from pathlib import Path

from contextmgr.errors import TranscriptError
from contextmgr.transcripts.detect import FORMATS, detect
from contextmgr.transcripts.fields import mapping
from contextmgr.transcripts.recorded_file import RecordedFile, open_recorded
from contextmgr.transcripts.session import Event, Replied, Returned, Said, Session

__all__ = ["FORMATS", "Event", "Replied", "Returned", "Said", "Session", "read_recorded", "read_sessions"]


def read_sessions(path: str | Path) -> list[Session]:
    """Read every conversation of a recorded file, plain or gzipped, in file order; at least one.

    The format is told by content, not by name.  Raises `TranscriptError` when nothing can be read.
    """
    return read_recorded(open_recorded(Path(path)))


def read_recorded(recorded: RecordedFile) -> list[Session]:
    """The same from values in memory.  Raises `TranscriptError` when they hold no conversation."""
    found = detect(recorded)
    if found is None:
        kind = "one JSON document" if recorded.is_document else f"{len(recorded.records)} JSON Lines"
        keys = sorted(map(str, mapping(recorded.records[0].value)))[:12]
        raise TranscriptError(
            f"{recorded.file}: {kind}, the first with keys {keys}, is none of the formats tried "
            f"({', '.join(FORMATS)}); convert it to one of them, e.g. {{'messages': [...]}}"
        )
    sessions = found.read(recorded)
    if not sessions:
        raise TranscriptError(
            f"{recorded.file}: looks like {found.name} but holds no message that can be replayed "
            f"({len(recorded.records)} values read, {recorded.broken} broken); it needs at least one user message"
        )
    return sessions
