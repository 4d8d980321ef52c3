"""How often pin suggestions are right: against labelled messages, and how many there are in recorded conversations.

    python -m benchmarks.suggestions [--json] [--data DIR] [--read N]

``labels``: of messages labelled as standing instructions, how many hold a suggestion (``standing``), and of messages
that only hold words such as "always" or "must", how many do (``keyword_only``).  These labels were in sight while the
signs were chosen.  ``sessions``: all messages of people in the recorded sessions of coding agents, how many hold a
suggestion, and suggestions per 100 messages.  ``chats``: the same for long chats that were not looked at until the
signs stood, with what they say about themselves: standing instructions and preferences that questions test later.

``--read N`` prints N suggestions from the chats and N from the sessions, taken evenly, for a person to judge.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from contextmgr.suggestions import Suggestion, suggest
from contextmgr.transcripts import Said, read_sessions
from contextmgr.turns import Turn, words

FOLDERS = ("claude-code-entire", "claude-code-packmind", "codex-agentv", "pi-agent")
ABILITIES = ("instruction_following", "preference_following")
_LEFTOVER = re.compile(r"\s*->->.*$", re.DOTALL)


def of_message(text: str) -> list[Suggestion]:
    """Suggestions for one message on its own."""
    return suggest([Turn(number=1, role="user", author="user", blocks=({"type": "text", "text": text},))])


def labels(data: Path) -> dict[str, Any]:
    """Figures for the labelled messages."""
    folder = data / "trajectories" / "derived-labels"
    gold = [json.loads(line) for line in (folder / "standing_instructions_gold.jsonl").open(encoding="utf-8")]
    candidates = [json.loads(line) for line in (folder / "instruction_candidates.jsonl").open(encoding="utf-8")]
    others = [c for c in candidates if c["hand_label"] == "not standing"]
    standing = {c["text"]: c for c in gold + candidates if c not in others}
    found = sum(bool(of_message(text)) for text in standing)
    wrong = sum(bool(of_message(c["text"])) for c in others)
    return {
        "standing": {"proposed": found, "of": len(standing)},
        "keyword_only": {"proposed": wrong, "of": len(others)},
        "precision": round(found / max(1, found + wrong), 3),
        "recall": round(found / len(standing), 3),
    }


def human_messages(data: Path) -> Iterator[str]:
    """What people said in the recorded sessions."""
    for folder in FOLDERS:
        for file in sorted((data / "trajectories" / folder).glob("*.jsonl.gz")):
            for session in read_sessions(file):
                yield from ("\n\n".join(words(e.blocks)) for e in session.events if isinstance(e, Said) and e.human)


def rate(found: Sequence[Sequence[Suggestion]]) -> dict[str, Any]:
    """How many messages hold suggestions, and how many those are."""
    count = sum(map(len, found))
    return {
        "messages": len(found),
        "messages_with_suggestions": sum(map(bool, found)),
        "suggestions": count,
        "suggestions_per_100_messages": round(100 * count / max(1, len(found)), 1),
    }


def chats(data: Path) -> tuple[dict[str, Any], list[list[Suggestion]]]:
    """Figures for the chats, and the suggestions of every user message."""
    tested = {ability: {"proposed": 0, "of": 0} for ability in ABILITIES}
    every: list[list[Suggestion]] = []
    for file in sorted((data / "conversations" / "beam").glob("*.json.gz")):
        chat = json.loads(gzip.decompress(file.read_bytes()))
        found = {m["id"]: of_message(_LEFTOVER.sub("", m["content"])) for m in _user_messages(chat["chat"])}
        every += found.values()
        for ability, question in ((a, q) for a in ABILITIES for q in chat["probing_questions"][a]):
            ids = [i for i in _ids(question["source_chat_ids"]) if i in found]
            tested[ability]["of"] += bool(ids)
            tested[ability]["proposed"] += any(found[i] for i in ids)
    return {**rate(every), **tested}, every


def _user_messages(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if value.get("role") == "user":
            yield value
        for inner in value.values():
            yield from _user_messages(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _user_messages(inner)


def _ids(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return [i for inner in value.values() for i in _ids(inner)]
    return list(value) if isinstance(value, list) else [value]


def sample(found: Sequence[Sequence[Suggestion]], count: int) -> Iterator[str]:
    """Up to ``count`` suggestions, taken evenly, one line each; equal quotes once."""
    distinct = list({s.quote: s for message in found for s in message}.values())
    for s in distinct[:: max(1, len(distinct) // count)][:count]:
        yield f"{s.score:.2f} {s.kind:10} {' '.join(s.quote.split())[:200]}  [{s.reason}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    default = Path(os.environ.get("CONTEXTMGR_DATA") or Path(__file__).parents[2] / "shared" / "data")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suggestions", description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", type=Path, default=default, help="where the recorded data is")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="print N suggestions of each kind to judge")
    given = parser.parse_args(arguments)
    if not given.data.is_dir():
        sys.exit(f"no data at {given.data}; give --data DIR or set CONTEXTMGR_DATA")
    sessions = [of_message(text) for text in human_messages(given.data)]
    figures, in_chats = chats(given.data)
    result = {"labels": labels(given.data), "sessions": rate(sessions), "chats": figures}
    if given.read:
        print(*sample(sessions, given.read), "", *sample(in_chats, given.read), sep="\n")
    elif given.json:
        print(json.dumps(result, indent=2))
    else:
        for name, values in result.items():
            print(name, *(f"  {key}: {value}" for key, value in values.items()), sep="\n")


if __name__ == "__main__":
    main()
