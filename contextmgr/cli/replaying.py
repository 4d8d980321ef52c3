"""What ``contextmgr replay`` does with its options."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from contextmgr.assembly import AssembledRequest
from contextmgr.cli.console import output, progress_output
from contextmgr.cli.dumping import Dump
from contextmgr.cli.recordings import sessions_in
from contextmgr.cli.tables import footnotes, outcome_table
from contextmgr.errors import InputError
from contextmgr.profiles import Profile, load_profile
from contextmgr.replay import Outcome, replay_session
from contextmgr.replay.driving import PinWish
from contextmgr.transcripts import Session
from contextmgr.transcripts.recorded_file import stem

Summarizer = Literal["extractive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of ``contextmgr replay``, checked."""

    files: tuple[Path, ...]
    profile: Profile
    model: str
    pin: PinWish = None
    summarizer: Summarizer | None = None
    as_json: bool = False
    dump: Path | None = None


@dataclass(slots=True)
class _Seen:
    """What is kept of the requests: their files, and the last one."""

    dump: Dump | None
    last: AssembledRequest | None = None
    outcomes: list[Outcome] = field(default_factory=list)

    def take(self, session: Session, request: AssembledRequest) -> None:
        self.last = request
        if self.dump is not None:
            self.dump.write(session, request)


def chosen_profile(name: str | None, budget: int | None) -> Profile:
    """The profile of ``--profile`` and ``--budget``.  Raises `ProfileError`."""
    profile = load_profile(name)
    return profile if budget is None else profile.with_budget(budget)


def pin_wish(text: str | None) -> PinWish:
    """The value of ``--pin``.  Raises `InputError` for anything but a turn number or ``first``."""
    if text is None or text == "first":
        return "first" if text else None
    if text.isascii() and text.isdigit():
        return int(text)
    raise InputError(f"--pin {text!r} is neither the number of a user turn nor 'first'")


def summarizer_wish(text: str | None) -> Summarizer | None:
    """The value of ``--summarizer``.  Raises `InputError` for anything but ``extractive``: others need a model."""
    if text is None or text == "extractive":
        return "extractive" if text else None
    raise InputError(f"--summarizer {text!r} is unknown; use 'extractive', or leave it out for none")


def run(options: Options) -> bool:
    """Replay, print, and say whether everything was valid, inside the budget and proven.

    Where a folder was given, a conversation that cannot be replayed to its end is told as such and the others follow.
    Raises what reading and replaying raise otherwise, and `OSError` where the dump cannot be written.
    """
    keep_going = any(path.is_dir() for path in options.files)
    seen = _Seen(Dump(options.dump) if options.dump is not None else None)
    with _progress(hidden=options.as_json) as begin:
        for session in sessions_in(options.files):
            advance = begin(session)

            def on_request(request: AssembledRequest, session: Session = session, advance: _Step = advance) -> None:
                seen.take(session, request)
                advance()

            outcome = replay_session(
                session,
                profile=options.profile,
                model=options.model,
                pin=options.pin,
                summarizer=options.summarizer,
                on_request=on_request,
                keep_going=keep_going,
            )
            seen.outcomes.append(outcome)
            if options.as_json:
                typer.echo(json.dumps(outcome.to_json(), ensure_ascii=False))
    if not options.as_json:
        _print(seen)
    return all(outcome.is_clean for outcome in seen.outcomes)


_Step = Callable[[], None]


@contextmanager
def _progress(*, hidden: bool) -> Iterator[Callable[[Session], _Step]]:
    """A bar on standard error for the calls of the conversation at hand; none where that is no terminal."""
    console = progress_output()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("calls"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=hidden or not console.is_terminal, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def begin(session: Session) -> _Step:
            bar.reset(task, total=len(session.replies), description=f"{stem(session.file)} [{session.index}]")
            return lambda: bar.advance(task)

        yield begin


def _print(seen: _Seen) -> None:
    console = output()
    console.print(outcome_table(seen.outcomes))
    for line in footnotes(seen.outcomes):
        console.print(line, markup=False)
    if seen.last is not None:
        console.print()
        console.print(str(seen.last.report), markup=False, soft_wrap=True)
