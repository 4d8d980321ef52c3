"""How often search finds the turn in which a coding agent had read a file before, at the moment it reads it again.

    python -m benchmarks.coding_gold [--data DIR] [--session FILE] [--json]

The labels are pairs of calls in recorded sessions that read one file, at least 20 turns apart.  A session is stored and
indexed up to the turn that reads again, that turn left out, and searched there with the package's defaults.  Right are
all earlier turns that read this file.  Each pair asks in five ways, from the easiest to the hardest:

- ``path``: the tool and the path it is about to be given.  The earlier call holds the same words, so this only tells
  whether the read is found among everything else that names the path.
- ``name``: the file's name alone, which edits, listings, diffs and imports hold as well.
- ``words``: what the assistant said last before it reads again, within the exchange.
- ``unnamed``: the same without the file's name and the parts of its path; pairs that say too little then are left out.
- ``request``: the newest user message, which is what a request made then searches for; pairs whose earlier read comes
  after that message are left out: it is not old enough to be missed.

docs/retrieval.md says what this shows and what it does not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.size import data_directory
from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.evaluation import RECALL_AT, as_json, measures, scores
from contextmgr.ranking import query_terms, standalone
from contextmgr.replay.storing import add_event
from contextmgr.replay.timing import moments
from contextmgr.transcripts import Replied, Returned, Said, Session, read_sessions

KINDS = ("path", "name", "words", "unnamed", "request")
DEPTH = 40
LEAST_TERMS = 3  # of a question from which the name was taken out
LABELS = Path("trajectories") / "derived-labels" / "reread_pairs.jsonl"
_PREVIOUS = 4  # messages before a user message that may say what it points back to
_SAID = 2_000  # characters of what was said last
_READS = frozenset({"Read", "read", "read_file", "View", "view"})

Measured = tuple[str, str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A file that was read again: the ids of both calls, and whether it was edited or the history compacted between."""

    path: str
    first: str
    again: str
    edited: bool
    compacted: bool

    @property
    def state(self) -> str:
        """Whether the old result was still good."""
        return "edited since" if self.edited else "unchanged"


@dataclass(slots=True)
class Heard:
    """What was said in a session so far; ``reads`` are the turns that read a path."""

    turn: int = 0
    asked: int = 0
    words: str = ""
    users: list[str] = field(default_factory=list)
    reads: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def take(self, event: Said | Replied) -> None:
        """Take the next turn."""
        self.turn += 1
        said = "\n".join(str(b["text"]) for b in event.blocks if b["type"] == "text").strip()
        if isinstance(event, Said):
            self.asked, self.words = self.turn, ""
            self.users.append(said)
            return
        self.words = said or self.words
        for path in {path_of(call) for call in event.calls} - {None}:
            self.reads[str(path)].append(self.turn)


def labelled(data: Path) -> dict[str, list[Pair]]:
    """The labelled pairs by the file of their session; {} where there are none."""
    file = data / LABELS
    found: dict[str, list[Pair]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        row = json.loads(line)
        pair = Pair(
            path=row["path"],
            first=row["first_tool_use_id"],
            again=row["again_tool_use_id"],
            edited=row["edited_between"],
            compacted=row["compaction_between"],
        )
        found[row["file"]].append(pair)
    return found


def path_of(call: Mapping[str, Any]) -> str | None:
    """The path that a call reads, None for any other call."""
    given = call.get("input")
    if call.get("name") not in _READS or not isinstance(given, Mapping):
        return None
    path = given.get("file_path") or given.get("path")
    return path if isinstance(path, str) else None


def unnamed(text: str, path: str) -> str:
    """A text without the name of a file: its path, and each part of that, with or without the ending."""
    parts = [p for p in PurePosixPath(path).parts if len(p) > 2]
    names = {path, *parts, PurePosixPath(path).stem}
    pattern = "|".join(re.escape(name) for name in sorted(names, key=lambda name: -len(name)))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", " ", text, flags=re.IGNORECASE)


def questions(pair: Pair, reply: Replied, heard: Heard) -> Iterator[tuple[str, str]]:
    """Kind and text of what a pair asks, at the turn ``reply`` that reads again."""
    call = next(c for c in reply.calls if c["id"] == pair.again)
    yield "path", f"{call['name']} {pair.path}"
    yield "name", PurePosixPath(pair.path).name
    words = (_before(reply, pair.again) or heard.words)[-_SAID:]
    if query_terms(words):
        yield "words", words
    hidden = unnamed(words, pair.path)
    if len(query_terms(hidden).terms) >= LEAST_TERMS:
        yield "unnamed", hidden
    if heard.users and heard.reads[pair.path][0] < heard.asked:
        asked = standalone(heard.users[-1], heard.users[:-1][-_PREVIOUS:])
        if asked:
            yield "request", asked


def _before(reply: Replied, call: str) -> str:
    """What a reply says before it makes a call."""
    said = []
    for block in reply.blocks:
        if block.get("id") == call:
            break
        said += [str(block["text"])] if block["type"] == "text" else []
    return "\n".join(said).strip()


def asked(session: Session, pairs: Sequence[Pair]) -> Iterator[Measured]:
    """Kind, state and measures of every question of a session, each asked when its turn comes."""
    waiting = {pair.again: pair for pair in pairs}
    heard = Heard()
    with Manager("sqlite://", background=False) as manager:
        chat = manager.conversation("session", tenant="t")
        for event, at in zip(session.events, moments(session.events), strict=True):
            if isinstance(event, Replied):
                for call in event.calls:
                    if (pair := waiting.get(call["id"])) is not None and heard.reads[pair.path]:
                        manager.flush()
                        yield from _answers(chat, pair, event, heard)
            if not isinstance(event, Returned):
                heard.take(event)
            add_event(event, chat, at)


def _answers(chat: Conversation, pair: Pair, reply: Replied, heard: Heard) -> Iterator[Measured]:
    right = frozenset(heard.reads[pair.path])
    for kind, text in questions(pair, reply, heard):
        hits = chat.search(text, k=DEPTH)
        ranked = list(dict.fromkeys(n for hit in hits for n in (hit.turn, *hit.also)))
        measured = measures(ranked, right)
        yield kind, pair.state, {**measured, "any_hit@5": float(not right.isdisjoint(ranked[:5]))}


def run(data: Path, only: str | None = None) -> dict[str, Any]:
    """Figures over all labelled sessions, or ``only`` one: by kind of question, and whether the file was edited."""
    found: dict[str, list[tuple[str, Mapping[str, float]]]] = {kind: [] for kind in KINDS}
    labels = labelled(data)
    sessions = 0
    for file, pairs in labels.items():
        path = data / "trajectories" / file
        if (only is not None and Path(file).name != Path(only).name) or not path.is_file():
            continue
        ids = {pair.again for pair in pairs}
        for session in read_sessions(path):
            if ids.isdisjoint(call["id"] for reply in session.replies for call in reply.calls):
                continue
            sessions += 1
            for kind, state, measured in asked(session, pairs):
                found[kind].append((state, measured))
    return {
        "sessions": sessions,
        "pairs": len(found["path"]),
        "scores": {kind: as_json(scores(rows)) for kind, rows in found.items() if rows},
    }


def table(figures: Mapping[str, Any]) -> str:
    """The figures for people: means, and the bounds of recall@10 and any hit@10."""
    names = [*(f"recall@{k}" for k in RECALL_AT), "any_hit@5", "any_hit@10", "ndcg@10", "mrr"]
    lines = [f"{figures['pairs']} files read again in {figures['sessions']} sessions"]
    lines.append(" ".join([f"{'':24s}{'n':>4s}", *(f"{name:>10s}" for name in names), "  any_hit@10, 95 %"]))
    for kind, states in figures["scores"].items():
        for state, score in states.items():
            cells = [f"{score[name][0]:10.3f}" for name in names]
            low, high = score["any_hit@10"][1:]
            name = kind if state == "all" else f"  {state}"
            lines.append(" ".join([f"{name:24s}{score['questions']:4d}", *cells, f"  {low:.3f} to {high:.3f}"]))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask everything and print the figures; without the recordings say so and stop."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", help="the directory that holds trajectories/ (default: CONTEXTMGR_DATA)")
    parser.add_argument("--session", metavar="FILE", help="only this recorded file, by its name")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    data = data_directory(given.data)
    if not (data / LABELS).is_file():
        print(f"skipped: there are no labels at {LABELS} in {data}; give --data DIR", file=sys.stderr)
        return
    figures = run(data, given.session)
    print(json.dumps(figures, indent=1) if given.json else table(figures))


if __name__ == "__main__":
    main()
