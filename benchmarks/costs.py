"""What recorded Claude Code sessions would have cost, beside the two policies everyone knows.

    python -m benchmarks.costs [--json] [--data DIR] [--budget N] [--summarizer extractive] [--jobs N] [--quick]

Over all sessions of at least 20 calls, in sum: cost of the input in dollars, by the rules of docs/accounting.md, and
with it always ``words_in_view`` and ``mean_tokens``: sending less is cheaper, and sending nothing is free.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from benchmarks.recordings import CLAUDE_CODE, MODEL, Job, Recording, in_processes, recordings, summed
from contextmgr import PinShareWarning
from contextmgr.profiles import load_profile
from contextmgr.replay import POLICIES, Outcome, replay_session

BUDGET = 60_000
LEAST_CALLS = 20


class Task(NamedTuple):
    """One conversation to be replayed."""

    recording: Recording
    budget: int
    summarizer: Literal["extractive"] | None


def replayed(task: Task) -> Outcome:
    """Replay one conversation."""
    warnings.simplefilter("ignore", PinShareWarning)
    profile = load_profile(task.budget)
    return replay_session(task.recording.read(), profile=profile, model=MODEL, summarizer=task.summarizer)


def figures(outcomes: Sequence[Outcome], budget: int) -> dict[str, Any]:
    """The sums, and our cost as a share of the others'."""
    ours = summed([o.sent for o in outcomes])
    others = {name: summed([o.policies[name] for o in outcomes]) for name in POLICIES}
    return {
        "model": MODEL,
        "budget": budget,
        "sessions": len(outcomes),
        "calls": sum(o.calls for o in outcomes),
        "refused": sum(o.refused for o in outcomes),
        "clean": all(o.is_clean for o in outcomes),
        "contextmgr": ours,
        **others,
        "cost_to": {name: round(ours["cost"] / other["cost"], 4) for name, other in others.items()},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    parser.add_argument("--data", help="directory of the recorded data (or set CONTEXTMGR_DATA)")
    parser.add_argument("--budget", type=int, default=BUDGET, help="input budget in tokens (default %(default)s)")
    parser.add_argument("--summarizer", choices=["extractive"], help="summarise what leaves the view")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="the two shortest sessions alone")
    given = parser.parse_args(arguments)
    found = recordings(given.data, CLAUDE_CODE, least=LEAST_CALLS)
    if not found:
        print("no recorded sessions: give --data DIR", file=sys.stderr)
        return 1
    tasks = [Task(r, given.budget, given.summarizer) for r in (found[-2:] if given.quick else found)]
    outcomes = in_processes([Job(replayed, task) for task in tasks], given.jobs)
    print(json.dumps(figures(outcomes, given.budget), indent=None if given.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
