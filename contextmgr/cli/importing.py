"""``contextmgr import``: recorded sessions become conversations of a store, where they can be searched."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from contextmgr.cli.console import output, progress_output
from contextmgr.errors import TranscriptError
from contextmgr.importing import Found, Import, Imported, Outcome, files_in, read_file
from contextmgr.scope import Scope
from contextmgr.store import open_store

INDEXING = 60.0  # seconds at a time


class Tally:
    """What an import came to, for the line at its end."""

    def __init__(self) -> None:
        self.done: list[Imported] = []
        self.sidechains = 0
        self.strange = 0
        self.unindexed = 0

    @property
    def is_well(self) -> bool:
        """Whether all that was recorded is stored and can be found."""
        return all(one.is_well for one in self.done) and not self.unindexed

    def line(self) -> str:
        """The summary."""
        turns, counts = sum(one.turns for one in self.done), Counter(one.outcome for one in self.done)
        came = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome])
        parts = [f"{len(self.done)} sessions{f': {came}' if came else ''}", f"{turns:,} turns added"]
        parts += [f"left out: {self.sidechains} of sub-agents"] if self.sidechains else []
        parts += [f"{self.strange} files that are no recordings"] if self.strange else []
        parts += [f"{self.unindexed:,} turns not indexed yet: import again"] if self.unindexed else []
        return "; ".join(parts)


def run(paths: Sequence[Path], store: str, scope: Scope, *, as_json: bool) -> bool:
    """Import and print what came of it; whether all is well.

    Raises `TranscriptError` for a path that is not there, a named file that is no recording, and folders without any;
    `StoreError` for a store that cannot be used.
    """
    files, tally = files_in(paths), Tally()
    importing = Import(open_store(store), scope)
    try:
        with _progress() as progress:
            task = progress.add_task("importing", total=len(files))
            for file in files:
                found = read_file(file)
                tally.strange += not found
                tally.sidechains += sum(f.session.sidechain for f in found)
                for one in _imported(importing, found):
                    tally.done.append(one)
                    _print(one, progress, as_json=as_json)
                progress.advance(task)
            tally.unindexed = importing.index(INDEXING)
    finally:
        importing.close()
    if not tally.done and not tally.sidechains:
        raise TranscriptError("none of the files in these folders is a recorded session; name one to see why")
    typer.echo(tally.line(), err=as_json)
    return tally.is_well


def _imported(importing: Import, found: Sequence[Found]) -> Iterator[Imported]:
    for one in found:
        if not one.session.sidechain:
            yield importing.add(one)
            importing.index(INDEXING)


def _print(one: Imported, progress: Progress, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_json(one), ensure_ascii=False))
    elif one.outcome is not Outcome.UNCHANGED:
        reason = f": {one.reason}" if one.reason else ""
        line = f"{one.conversation}  {one.outcome}, {one.turns:,} turns added{reason}"
        (progress.console if reason else output()).print(line, markup=False, soft_wrap=True)


def _json(one: Imported) -> dict[str, object]:
    return {
        "conversation": one.conversation,
        "file": one.file,
        "outcome": one.outcome.value,
        "turns": one.turns,
        "reason": one.reason,
    }


def _progress() -> Progress:
    """Files so far, on standard error while it is a terminal."""
    console = progress_output()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
