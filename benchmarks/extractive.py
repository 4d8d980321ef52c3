"""What is left of users' paths, numbers and identifiers when turns are summarised without a model.

    python -m benchmarks.extractive [--json] [--data DIR] [--piece TOKENS]

Every recorded Claude Code session is cut into pieces as it is for summarising, and each piece is extracted within a
tenth, a twentieth and a fortieth of its source tokens (tool results included).  ``kept`` is the share of the distinct
facts in user turns that stand in any item of the session:

    all      whatever stands in user turns, also what the recorded client put there by itself, and pasted code
    human    what people sent, pasted logs and code included (never quoted: a fact only there counts as lost)
    typed    what people wrote in sentences

Beside it the same for two plainer ways with the same budget per piece: ``users first`` (users' sentences in order,
then the others') and ``in order`` (sentences in order, whoever said them).  ``ms_per_200`` is CPU time, in
milliseconds, of extracting 200 different sentences.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from contextmgr.counters import default_counter
from contextmgr.episodes import segments, source_tokens
from contextmgr.extractive import extract, item_tokens, sentences
from contextmgr.features import Features
from contextmgr.summaries import Item, ItemKind
from contextmgr.terms import facts
from contextmgr.tokens import blocks_features
from contextmgr.transcripts import read_sessions
from contextmgr.transcripts.session import Replied, Returned, Said, Session
from contextmgr.turns import ToolResult, Turn, is_thinking, pair

FOLDERS = ("claude-code-entire", "claude-code-packmind")
RATIOS = (10, 20, 40)
PIECE = 8_000

count = default_counter().count
Piece = tuple[list[Turn], int]
Way = Callable[[Sequence[Turn], int], list[Item]]


def turns_of(session: Session) -> list[Turn]:
    """The session's turns, numbered and weighed as the store would."""
    turns: list[Turn] = []
    for event in session.events:
        if isinstance(event, Returned):
            turns[-1] = _with_results(turns[-1], event)
        else:
            own = [b for b in event.blocks if not is_thinking(b)]
            turns.append(
                Turn(
                    number=len(turns) + 1,
                    role="user" if isinstance(event, Said) else "assistant",
                    author="user" if isinstance(event, Said) else "model",
                    blocks=event.blocks,
                    stop_reason=event.stop_reason if isinstance(event, Replied) else None,
                    said_at=event.at,
                    metadata={"human": isinstance(event, Said) and event.human},
                    features=blocks_features(own, count),
                )
            )
    return turns


def _with_results(turn: Turn, event: Returned) -> Turn:
    results = list(turn.results)
    for block in event.blocks:
        call = pair(turn.calls, [r.call for r in results], block["tool_use_id"])
        if call is not None:
            results.append(
                ToolResult(call=call, body=block, features=blocks_features([block], count), said_at=event.at)
            )
    return replace(turn, results=tuple(sorted(results, key=lambda r: r.call)))


def sessions(data: Path) -> Iterator[list[Turn]]:
    """The turns of every main conversation of the recorded Claude Code sessions."""
    for folder in FOLDERS:
        for file in sorted((data / "trajectories" / folder).glob("*.jsonl.gz")):
            yield from (turns_of(s) for s in read_sessions(file) if not s.sidechain)


def wanted(turns: Sequence[Turn]) -> dict[str, set[str]]:
    """The facts of user turns, by what is counted."""
    users = [t for t in turns if t.role == "user"]
    human = [t for t in users if t.metadata["human"]]
    return {
        "all": {f for t in users for f in facts(t.text)},
        "human": {f for t in human for f in facts(t.text)},
        "typed": {f for t in human for s in sentences(t) for f in facts(s.text)},
    }


def ours(turns: Sequence[Turn], budget: int) -> list[Item]:
    """The extractive summary."""
    return extract(turns, budget=budget, count=count)


def users_first(turns: Sequence[Turn], budget: int) -> list[Item]:
    """Users' sentences in order, then the others', while they fit."""
    return in_order(sorted(turns, key=lambda t: t.role != "user"), budget)


def in_order(turns: Sequence[Turn], budget: int) -> list[Item]:
    """Sentences in order, while they fit."""
    found: list[Item] = []
    for turn in turns:
        for sentence in sentences(turn):
            item = Item(text=sentence.text, kind=ItemKind.RESULT, turns=(turn.number,), verbatim=True)
            cost = item_tokens(item, count)
            if cost <= budget:
                budget -= cost
                found.append(item)
    return found


WAYS: dict[str, Way] = {"ours": ours, "users first": users_first, "in order": in_order}


def kept(pieces: Sequence[list[Piece]], wants: Sequence[dict[str, set[str]]], ratio: int, way: Way) -> dict[str, float]:
    """Share of the facts kept, by what is counted, and the tokens the items take per source token."""
    have = dict.fromkeys(wants[0], 0)
    used = 0
    for session, want in zip(pieces, wants, strict=True):
        items = [item for turns, source in session for item in way(turns, source // ratio)]
        used += sum(item_tokens(item, count) for item in items)
        there = {f for item in items for f in facts(item.text)}
        for key, each in want.items():
            have[key] += len(each & there)
    shares = {key: round(found / sum(len(w[key]) for w in wants), 3) for key, found in have.items()}
    return shares | {"used": round(used / sum(source for s in pieces for _, source in s), 4)}


def ms_per_200(turns: Sequence[Turn]) -> float:
    """CPU milliseconds to extract 200 different sentences of recorded turns, the best of five."""
    texts = list(dict.fromkeys(s.text for t in turns for s in sentences(t) if not s.weak))[:200]
    made = [
        Turn(number=n, role="assistant", author="model", blocks=({"type": "text", "text": text},), features=Features())
        for n, text in enumerate(texts, 1)
    ]
    times = []
    for _ in range(5):
        start = time.process_time()
        extract(made, budget=800, count=count)
        times.append(time.process_time() - start)
    return round(min(times) * 1000, 1)


def measured(data: Path, piece: int) -> dict[str, Any]:
    """All figures; raises `SystemExit` where there is no recorded data."""
    recorded = list(sessions(data))
    if not recorded:
        raise SystemExit(f"no recorded sessions under {data}: give --data or set CONTEXTMGR_DATA")
    pieces = [
        [(part := turns[a - 1 : b], sum(map(source_tokens, part))) for a, b in segments(turns, tokens=piece)]
        for turns in recorded
    ]
    wants = [wanted(turns) for turns in recorded]
    return {
        "sessions": len(recorded),
        "pieces": sum(map(len, pieces)),
        "facts": {key: sum(len(w[key]) for w in wants) for key in wants[0]},
        "kept": {
            f"{ratio}:1": {name: kept(pieces, wants, ratio, way) for name, way in WAYS.items()} for ratio in RATIOS
        },
        "ms_per_200": ms_per_200([t for turns in recorded for t in turns]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("CONTEXTMGR_DATA") or Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--piece", type=int, default=PIECE, help="source tokens of a piece")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.data, given.piece)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['sessions']} sessions in {found['pieces']} pieces; facts of users: {found['facts']}")
    for ratio, ways in found["kept"].items():
        for name, shares in ways.items():
            print(f"{ratio}  {name:12} " + "  ".join(f"{key} {value:.3f}" for key, value in shares.items()))
    print(f"200 sentences: {found['ms_per_200']} ms")


if __name__ == "__main__":
    main()
