"""How well the checks of summary items tell true items from false ones, on items made from recorded sessions.

    python -m benchmarks.checks [--json] [--data DIR] [--missed N] [--refused N]

``mutations``: per kind of false item how many there are (``n``) and how many were refused (``caught``).  ``true``: per
form of true item how many there are and how many were wrongly refused.  ``overall``: precision and recall, where a
positive is a false item that is refused, and the share of true items refused.  All of it three times: for the
sessions that the checks were tuned on (``dev``), for the others (``test``), and for both.  ``milliseconds_per_item``:
the time for an item once its range of 60 turns is indexed, and with the indexing spread over the items.

``--missed N`` and ``--refused N`` print items of the dev half that were judged wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.labelled_items import Labelled, labelled
from contextmgr.checks import Sources, Verdict, check_item

RANGE = 60
"""Turns of the ranges that are timed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An item and what the checks said of it."""

    item: Labelled
    verdict: Verdict

    @property
    def refused(self) -> bool:
        """Whether the checks refused it."""
        return not self.verdict.ok


def data_directory(given: str | None) -> Path:
    """Where the recorded sessions are."""
    return Path(given or os.environ.get("CONTEXTMGR_DATA") or Path(__file__).parents[1] / "../shared/data").resolve()


def judge(items: Iterable[Labelled]) -> list[Judged]:
    """Check every item; turns that items share are indexed once."""
    known: dict[int, Sources] = {}
    judged = []
    for item in items:
        sources = known.setdefault(id(item.turns), Sources(item.turns))
        judged.append(Judged(item, check_item(item.item, sources)))
    return judged


def figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """Counts and shares of one set of items."""
    false = [j for j in judged if not j.item.true]
    true = [j for j in judged if j.item.true]
    caught, wrong = sum(j.refused for j in false), sum(j.refused for j in true)
    return {
        "mutations": {k: _share(v, "caught") for k, v in _grouped(false).items()},
        "true": {k.removeprefix("true: "): _share(v, "refused") for k, v in _grouped(true).items()},
        "overall": {
            "items": len(judged),
            "false": len(false),
            "true": len(true),
            "precision": _ratio(caught, caught + wrong),
            "recall": _ratio(caught, len(false)),
            "true_refused": _ratio(wrong, len(true)),
        },
    }


def _grouped(judged: Iterable[Judged]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(one.item.made, []).append(one)
    return dict(sorted(groups.items()))


def _share(judged: Sequence[Judged], name: str) -> dict[str, Any]:
    refused = sum(j.refused for j in judged)
    return {"n": len(judged), name: refused, "share": _ratio(refused, len(judged))}


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def timing(items: Sequence[Labelled]) -> dict[str, float]:
    """Milliseconds per item for ranges of 60 turns: without and with the indexing of the turns."""
    warm, cold = [], []
    for turns in {id(i.turns): i.turns for i in items}.values():
        own = [i.item for i in items if i.turns is turns]
        first = own[0].turns[0] if own else 0
        within = [i for i in own if first <= i.turns[0] and i.turns[-1] < first + RANGE]
        sources = Sources({n: t for n, t in turns.items() if first <= n < first + RANGE})
        if len(within) >= 5:
            cold.append(_timed(within, sources))
            warm.append(_timed(within, sources))
    return {"indexed": round(statistics.median(warm), 3), "with_indexing": round(statistics.median(cold), 3)}


def _timed(items: Sequence[Any], sources: Sources) -> float:
    start = time.perf_counter()
    for item in items:
        check_item(item, sources)
    return (time.perf_counter() - start) * 1e3 / len(items)


def report(judged: Sequence[Judged]) -> dict[str, Any]:
    """All figures."""
    halves = {half: figures([j for j in judged if j.item.half == half]) for half in ("dev", "test")}
    return {**halves, "all": figures(judged), "milliseconds_per_item": timing([j.item for j in judged])}


def show(found: dict[str, Any]) -> None:
    """Print the figures for a person."""
    for half in ("dev", "test", "all"):
        print(half, *(f"{k} {v}" for k, v in found[half]["overall"].items()), sep="  ")
        for kind in ("mutations", "true"):
            for name, row in found[half][kind].items():
                print(f"    {name:<40}", *(f"{k} {v}" for k, v in row.items()))
    print("ms per item", found["milliseconds_per_item"])


def examples(judged: Sequence[Judged], most: int, *, true: bool) -> None:
    """Print items of the dev half that were judged wrongly."""
    wrong = [j for j in judged if j.item.half == "dev" and j.item.true == true and j.refused == true]
    for one in wrong[:: max(1, len(wrong) // max(1, most))][:most]:
        print(f"[{one.item.made}] {one.item.source} turns {one.item.item.turns} {one.item.item.kind}")
        print("   ", one.item.item.text.replace("\n", " "))
        print("   ", "; ".join(one.verdict.reasons))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--missed", type=int, default=0, metavar="N")
    parser.add_argument("--refused", type=int, default=0, metavar="N")
    given = parser.parse_args(arguments)
    judged = judge(list(labelled(data_directory(given.data))))
    if not judged:
        print("no recorded sessions: give --data DIR", file=sys.stderr)
        return 1
    examples(judged, given.missed, true=False)
    examples(judged, given.refused, true=True)
    if given.json:
        print(json.dumps(report(judged), indent=2))
    elif not (given.missed or given.refused):
        show(report(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
