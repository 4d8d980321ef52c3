"""Conversations of others with questions of which it is known which messages answer them: LoCoMo, BEAM, LongMemEval.

Each loader reads a folder in the format of the README.md that lies in it and gives `Corpus` values: messages numbered
from 1 in time order, and questions with the numbers of their evidence.  Evidence that names no message is skipped, and
so are questions that are left with none.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from contextmgr.episodes import episodes
from contextmgr.turns import Role, Turn

SetName = Literal["locomo", "beam", "longmemeval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; ``episode`` is the number of the message its episode begins with."""

    number: int
    role: Role
    text: str
    speaker: str | None = None
    at: datetime | None = None
    episode: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, and the numbers of the messages that hold the evidence, at least one."""

    text: str
    category: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One conversation with its questions."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


def load(name: SetName, directory: Path) -> list[Corpus]:
    """The corpora of a set, from its folder or from the folder that holds the folders of all sets."""
    inner = directory / name
    return _LOADERS[name](inner if inner.is_dir() else directory)


def _with_episodes(messages: list[Message]) -> tuple[Message, ...]:
    """Episodes as the package itself finds them in turns of this text and time."""
    turns = [
        Turn(
            number=m.number,
            role=m.role,
            author="user" if m.role == "user" else "model",
            blocks=({"type": "text", "text": m.text},),
            said_at=m.at,
        )
        for m in messages
    ]
    first = {n: e.first for e in episodes(turns) for n in range(e.first, e.last + 1)}
    return tuple(_moved(m, episode=first[m.number]) for m in messages)


def _moved(m: Message, *, episode: int) -> Message:
    return Message(number=m.number, role=m.role, text=m.text, speaker=m.speaker, at=m.at, episode=episode)


# LoCoMo: two people talk over months; sessions are days apart.

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D\d+:\d+")


def _locomo(directory: Path) -> list[Corpus]:
    entries = [e for f in sorted(directory.glob("*.json")) for e in json.loads(f.read_text(encoding="utf-8"))]
    return [_locomo_entry(entry) for entry in entries]


def _locomo_entry(entry: Mapping[str, Any]) -> Corpus:
    spoken = entry["conversation"]
    messages: list[Message] = []
    numbers: dict[str, int] = {}
    count = sum(1 for key in spoken if re.fullmatch(r"session_\d+", key))
    for session in range(1, max(count, 1) + 1):
        said = spoken.get(f"session_{session}", [])
        start = _locomo_time(spoken.get(f"session_{session}_date_time"))
        for place, raw in enumerate(said):
            numbers[raw["dia_id"]] = number = len(messages) + 1
            at = start + timedelta(minutes=place) if start else None
            messages.append(
                Message(number=number, role="user", text=_locomo_text(raw), speaker=raw["speaker"], at=at)
            )  # both are people: nobody here is the assistant
    return Corpus(entry["sample_id"], _with_episodes(messages), tuple(_locomo_questions(entry["qa"], numbers)))


def _locomo_time(text: str | None) -> datetime | None:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y") if text else None  # noqa: DTZ007 the data names no zone


def _locomo_text(raw: Mapping[str, Any]) -> str:
    caption = raw.get("blip_caption")
    return f"{raw['text']} [shares a picture: {caption}]" if caption else str(raw["text"])


def _locomo_questions(asked: Iterable[Mapping[str, Any]], numbers: Mapping[str, int]) -> Iterator[Question]:
    for raw in asked:
        named = _EVIDENCE.findall(" ".join(raw.get("evidence") or []))
        evidence = frozenset(numbers[name] for name in named if name in numbers)
        if evidence:
            yield Question(str(raw["question"]), _CATEGORIES[raw["category"]], evidence)


# BEAM: long chats between a user and an assistant, in batches that are weeks apart.

_MARKER = re.compile(r"\s*->->\s*[\d,\s]*\Z")


def _beam(directory: Path) -> list[Corpus]:
    return [_beam_chat(_gzipped(file)) for file in sorted(directory.glob("100K-*.json.gz"))]


def _beam_chat(chat: Mapping[str, Any]) -> Corpus:
    messages: list[Message] = []
    numbers: dict[int, int] = {}
    for batch in chat["chat"]:
        said = [message for group in batch["turns"] for message in group]
        anchor = next((m["time_anchor"] for m in said if m.get("time_anchor")), None)
        start = datetime.strptime(anchor, "%B-%d-%Y") if anchor else None  # noqa: DTZ007 the data names no zone
        for place, raw in enumerate(said):
            numbers[raw["id"]] = number = len(messages) + 1
            at = start + timedelta(minutes=place) if start else None
            messages.append(Message(number=number, role=raw["role"], text=_MARKER.sub("", raw["content"]), at=at))
    questions = tuple(_beam_questions(chat["probing_questions"], numbers))
    return Corpus(str(chat["conversation_id"]), _with_episodes(messages), questions)


def _beam_questions(probes: Mapping[str, list[Mapping[str, Any]]], numbers: Mapping[int, int]) -> Iterator[Question]:
    for ability, asked in probes.items():
        for raw in asked:
            evidence = frozenset(numbers[i] for i in _ids(raw.get("source_chat_ids")) if i in numbers)
            if evidence:
                yield Question(raw["question"], ability, evidence)


def _ids(source: object) -> Iterator[int]:
    """Every number in a list or a dict of lists, however nested."""
    if isinstance(source, int):
        yield source
    elif isinstance(source, Mapping):
        yield from (i for value in source.values() for i in _ids(value))
    elif isinstance(source, list):
        yield from (i for value in source for i in _ids(value))


# LongMemEval: the evidence turns of all questions and the whole history of two, as one pool in the order of time.

_DATES = ("%Y/%m/%d (%a) %H:%M", "%Y-%m-%dT%H:%M:%S")
_Session = tuple[datetime, str]


@dataclass(slots=True)
class _Pool:
    """Distinct texts with where and when each was said first."""

    said: dict[str, tuple[_Session, Role, str]]

    def add(self, session: _Session, role: Role, text: str) -> str:
        """Take a message; returns the key its text is known by."""
        key = " ".join(text.split())
        if key not in self.said or session < self.said[key][0]:
            self.said[key] = (session, role, text)
        return key


def _longmemeval(directory: Path) -> list[Corpus]:
    pool = _Pool({})
    asked = []
    for line in gzip.decompress((directory / "evidence_turns_dev.jsonl.gz").read_bytes()).splitlines():
        raw = json.loads(line)
        turns = raw["evidence_turns"]
        keys = [pool.add(_session(t["date"], raw, t["session_no"]), t["role"], t["content"]) for t in turns]
        asked.append((raw, keys))
    for file in sorted(directory.glob("haystack_*.json.gz")):
        history = _gzipped(file)
        for session in history["sessions"]:
            for message in session["messages"]:
                when = _date(session["messages"][0]["created_at"])
                pool.add((when, session["session_id"]), message["role"], message["content"])
    return [_pooled(pool, asked)]


def _session(date: str, raw: Mapping[str, Any], number: int) -> _Session:
    return _date(date), f"{raw['question_id']}/{number}"


def _date(text: str) -> datetime:
    for form in _DATES:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 the data names no zone
        except ValueError:
            continue
    raise ValueError(f"no date that this reads: {text!r}; the forms are {_DATES}")


def _pooled(pool: _Pool, asked: Iterable[tuple[Mapping[str, Any], list[str]]]) -> Corpus:
    ordered = sorted(pool.said.items(), key=lambda item: item[1][0])  # stable: a session keeps its order
    numbers = {key: number for number, (key, _) in enumerate(ordered, 1)}
    starts = [1] + [n for n, (a, b) in enumerate(pairwise(ordered), 2) if a[1][0] != b[1][0]]
    begins = dict.fromkeys(starts)
    messages, episode = [], 1
    for key, ((at, _), role, text) in ordered:
        number = numbers[key]
        episode = number if number in begins else episode
        messages.append(Message(number=number, role=role, text=text, at=at, episode=episode))
    questions = [
        Question(raw["question"], raw["question_type"] or "type not given", frozenset(numbers[k] for k in keys))
        for raw, keys in asked
        if keys
    ]
    return Corpus("evidence pool", tuple(messages), tuple(questions))


def _gzipped(file: Path) -> Any:
    return json.loads(gzip.decompress(file.read_bytes()))


_LOADERS: dict[SetName, Callable[[Path], list[Corpus]]] = {
    "locomo": _locomo,
    "beam": _beam,
    "longmemeval": _longmemeval,
}
