"""How often `should_search_history` is right: precision and recall over labelled messages, and over those of others.

    python -m benchmarks.history_trigger [--json] [--data DIR] [--wrong]

The labelled messages stand in benchmarks/history_messages.jsonl, in the order written.  ``tuned`` and ``held_out`` are
the halves of the first, told apart by the digest of each text.  They were written before the signs by the same author,
who looked at the misses in ``tuned`` only; both flatter, since one person thinks of the same phrases twice.
``second`` were written to be unlike them once the signs stood, and ``third`` after these; of both, docs/recall.md has
the figures before any sign was changed for them, which are the ones to go by.  ``kinds`` is the share of right answers
that also say the right way to look.

With recorded data: ``messages`` are what people said to coding agents and in long chats in which little points to
another chat, so that nearly all are to be no: how many are yes.  ``questions`` are test questions about long chats,
mostly without a word that says so: how many are yes.  Both were looked at while the signs were made.

``--wrong`` prints the wrong answers instead.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from benchmarks.corpora import load
from benchmarks.suggestions import human_messages
from contextmgr import jsontext
from contextmgr.trigger import should_search_history

MESSAGES = Path(__file__).with_name("history_messages.jsonl")
HALVES = ("tuned", "held_out")
PARTS = (*HALVES, "second", "third")
SETS: tuple[Literal["longmemeval", "beam"], ...] = ("longmemeval", "beam")


def labelled() -> list[dict[str, Any]]:
    """The labelled messages: ``text``, ``search``, ``kind``, ``language``, ``theme``, ``written``."""
    return [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]


def part(row: Mapping[str, Any]) -> str:
    """Which of `PARTS` a message is in."""
    written = str(row["written"])
    return HALVES[int(jsontext.sha256(row["text"])[-1], 16) % 2] if written == "first" else written


def wrong(name: str) -> Iterator[str]:
    """The messages of a part that are answered wrongly."""
    for row in labelled():
        found = should_search_history(row["text"])
        if part(row) == name and bool(found) != row["search"]:
            wanted = "yes" if row["search"] else "no"
            yield f"{name}  {row['language']}  should be {wanted} ({found.reason}): {row['text']}"


def measured(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Precision and recall over labelled messages."""
    answers = [(row, should_search_history(row["text"])) for row in rows]
    yes = [(row, answer) for row, answer in answers if answer]
    right = [(row, answer) for row, answer in yes if row["search"]]
    wanted = sum(row["search"] for row in rows)
    return {
        "messages": len(rows),
        "to_be_yes": wanted,
        "precision": round(len(right) / max(1, len(yes)), 3),
        "recall": round(len(right) / max(1, wanted), 3),
        "kinds": round(sum(answer.kind == row["kind"] for row, answer in right) / max(1, len(right)), 3),
    }


def share(texts: Sequence[str]) -> dict[str, int]:
    """How many of these are answered with yes; equal ones count once."""
    distinct = list(dict.fromkeys(texts))
    return {"yes": sum(map(bool, map(should_search_history, distinct))), "of": len(distinct)}


def others(data: Path) -> dict[str, Any]:
    """The same for messages and questions of others."""
    sets = {name: load(name, data / "conversations") for name in SETS}
    talks = [m.text for corpus in sets["beam"] for m in corpus.messages if m.role == "user"]
    return {
        "messages": {"coding": share(list(human_messages(data))), "beam": share(talks)},
        "questions": {name: share([q.text for c in found for q in c.questions]) for name, found in sets.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    default = Path(os.environ.get("CONTEXTMGR_DATA") or Path(__file__).parents[2] / "shared" / "data")
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.history_trigger", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--data", type=Path, default=default, help="where the recorded data is, if it is there")
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers")
    given = parser.parse_args(arguments)
    if given.wrong:
        print(*(line for name in PARTS for line in wrong(name)), sep="\n")
        return
    rows = labelled()
    result: dict[str, Any] = {name: measured([r for r in rows if part(r) == name]) for name in PARTS}
    if given.data.is_dir():
        result |= others(given.data)
    print(json.dumps(result, indent=2) if given.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
