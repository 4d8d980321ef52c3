"""From the paths that were given to the sessions in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from contextmgr.errors import TranscriptError
from contextmgr.transcripts import Session, read_sessions


def sessions_in(paths: Iterable[Path]) -> Iterator[Session]:
    """The sessions of files, and of every readable file below folders, in order, read one file at a time.

    Raises `TranscriptError` before anything is read for a path that is not there; for a file that was named and
    holds no session; for a folder that holds none at all.
    """
    given = list(paths)
    for path in given:
        if not path.exists():
            raise TranscriptError(f"{path}: there is no such file or folder; give recorded sessions")
    for path in given:
        yield from _below(path) if path.is_dir() else read_sessions(path)


def _below(folder: Path) -> Iterator[Session]:
    is_empty = True
    for file in sorted(f for f in folder.rglob("*") if f.is_file()):
        try:
            sessions = read_sessions(file)
        except TranscriptError:
            continue  # a folder may hold anything; only named files must be readable
        is_empty = False
        yield from sessions
    if is_empty:
        raise TranscriptError(f"{folder}: no file in this folder is a recorded session; name one to see why")
