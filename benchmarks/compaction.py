"""What compaction saves and what it keeps, over recorded sessions, with the summariser that needs no model.

    python -m benchmarks.compaction [--json] [--data DIR] [--budget N,N,...] [--jobs N] [--quick]

Three parts.  ``budgets``: every recorded session of at least 50 calls (Claude Code, Codex, pi) replayed at 30k, 60k and
150k tokens, beside itself without summaries and beside other policies: cost, words in view, and the share of the facts
users stated that requests still have.  ``standing``: the labelled standing instructions, pinned where they were said,
after 1, 2, 3, 5 and 10 rollovers.  ``growth``: what a writer has to read for histories of 1,000 to 16,000 turns.  Keys
are explained in README.md beside this file.  Facts are looked for in every fifth call only, which is most of the time
all of this takes.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal, NamedTuple

from benchmarks.facts import Kept, UserTurn, calls_at, user_turns
from benchmarks.growth import TURNS, reading
from benchmarks.recordings import LONG, MODEL, Job, Recording, in_processes, recordings, summed
from benchmarks.standing import followed, standing, tasks_of
from contextmgr import AssembledRequest, PinShareWarning
from contextmgr.profiles import load_profile
from contextmgr.replay import POLICIES, Outcome, PolicyOutcome, replay_session
from contextmgr.transcripts import Session

BUDGETS = (30_000, 60_000, 150_000)
LEAST_CALLS = 50
EVERY = 5
"""Facts are looked for in one call of so many."""
EVERYTHING, SLIDE = POLICIES


class Task(NamedTuple):
    """One conversation to be replayed at several budgets."""

    recording: Recording
    budgets: Sequence[int]


class Found(NamedTuple):
    """What a replay found; ``people`` and ``users`` hold the facts kept, by policy, of people and of all user turns."""

    outcome: Outcome
    people: Mapping[str, Kept]
    users: Mapping[str, Kept]


class Pair(NamedTuple):
    """One conversation at one budget: with summaries, without, and what sending everything would have been."""

    budget: int
    ours: Found
    plain: Found
    everything: PolicyOutcome


@dataclass(slots=True)
class _Looking:
    """Looks at requests as they are made, from the first rollover on."""

    turns: Sequence[UserTurn]
    calls: Mapping[int, int]
    people: dict[str, Kept] = field(default_factory=dict)
    users: dict[str, Kept] = field(default_factory=dict)
    tail: int = 0

    def ours(self, request: AssembledRequest) -> None:
        tail = request.report.turns[-1].last
        self.tail = tail if request.report.epoch > 1 and self.calls[tail] % EVERY == 0 else 0
        self._look("contextmgr", request.params)

    def policy(self, name: str, params: Mapping[str, Any]) -> None:
        if name == SLIDE:
            self._look(name, params)

    def _look(self, name: str, params: Mapping[str, Any]) -> None:
        if self.tail:
            so_far = [t for t in self.turns if t.number <= self.tail]
            self.users.setdefault(name, Kept()).add(so_far, params)
            self.people.setdefault(name, Kept()).add([t for t in so_far if t.human], params)


def replayed(task: Task) -> list[Pair]:
    """Replay one conversation; what sending everything costs is reckoned once for all budgets that refuse no call."""
    warnings.simplefilter("ignore", PinShareWarning)
    session = task.recording.read()
    everything: PolicyOutcome | None = None
    pairs = []
    for budget in sorted(task.budgets, reverse=True):
        plain = _replay(session, budget, None, (SLIDE,) if everything else (EVERYTHING, SLIDE))
        if everything and plain.outcome.refused:
            plain = _replay(session, budget, None, (EVERYTHING, SLIDE))
        same_calls = plain.outcome.policies.get(EVERYTHING, everything)
        assert same_calls is not None
        pairs.append(Pair(budget, _replay(session, budget, "extractive", ()), plain, same_calls))
        everything = None if plain.outcome.refused else same_calls
    return pairs


def _replay(session: Session, budget: int, summarizer: Literal["extractive"] | None, policies: Sequence[str]) -> Found:
    looking = _Looking(user_turns(session), calls_at(session))
    outcome = replay_session(
        session,
        profile=load_profile(budget),
        model=MODEL,
        summarizer=summarizer,
        on_request=looking.ours,
        on_policy=looking.policy,
        policies=policies,
    )
    return Found(outcome, looking.people, looking.users)


def budget_figures(pairs: Sequence[Pair]) -> dict[str, Any]:
    """The figures of one budget."""
    ours, plain = [p.ours for p in pairs], [p.plain for p in pairs]
    everything = summed([p.everything for p in pairs])
    policies = {
        "contextmgr": _policy([f.outcome.sent for f in ours], ours, "contextmgr"),
        "without_summaries": _policy([f.outcome.sent for f in plain], plain, "contextmgr"),
        SLIDE: _policy([f.outcome.policies[SLIDE] for f in plain], plain, SLIDE),
        EVERYTHING: everything,
    }
    for one in policies.values():
        one["cost_to_send_everything"] = round(one["cost"] / everything["cost"], 4)
    outcomes = [f.outcome for f in ours]
    return {
        "sessions": len(pairs),
        "calls": sum(o.calls for o in outcomes),
        "clean": all(f.outcome.is_clean for f in (*ours, *plain)),
        "refused": sum(o.refused for o in outcomes),
        "refused_without_summaries": sum(f.outcome.refused for f in plain),
        "rollovers": _rollovers(outcomes),
        "rollovers_without_summaries": _rollovers([f.outcome for f in plain]),
        "compactions": _compactions(outcomes),
        **policies,
    }


def _policy(parts: Sequence[Any], found: Sequence[Found], name: str) -> dict[str, Any]:
    people, users = ([kept[name] for f in found if name in (kept := side(f))] for side in (_people, _users))
    return {
        **summed(parts),
        "facts_of_gone_turns": _mean(share for k in people for share in k.gone),
        "facts_of_gone_turns_injected_too": _mean(share for k in users for share in k.gone),
        "facts_of_all_turns": _mean(share for k in people for share in k.said),
        "calls_with_gone_turns": sum(len(k.gone) for k in people),
    }


def _people(found: Found) -> Mapping[str, Kept]:
    return found.people


def _users(found: Found) -> Mapping[str, Kept]:
    return found.users


def _mean(shares: Iterable[float]) -> float | None:
    found = list(shares)
    return round(fmean(found), 4) if found else None


def _rollovers(outcomes: Iterable[Outcome]) -> int:
    return sum(sum(o.rollovers.values()) - o.rollovers.get("first", 0) for o in outcomes)


def _compactions(outcomes: Sequence[Outcome]) -> dict[str, int]:
    names = ("summaries", "items_kept", "items_replaced", "items_dropped", "items_given_up", "masked", "cut")
    sums = {name: sum(getattr(o.compactions, name) for o in outcomes) for name in names}
    largest = max((o.compactions.summary_tokens_max for o in outcomes), default=0)
    cap = load_profile(outcomes[0].budget).summary.cap if outcomes else 0
    return sums | {"summary_tokens_max": largest, "summary_cap": cap}


def measured(
    data: str | None, found: Sequence[Recording], budgets: Sequence[int], processes: int, *, quick: bool
) -> dict[str, Any]:
    """All three parts, in one pool of processes, what takes longest first."""
    sizes = sorted(TURNS[:1] if quick else TURNS, reverse=True)
    followings = tasks_of(data, quick=quick)
    jobs = [
        *(Job(reading, size) for size in sizes),
        *(Job(replayed, Task(recording, budgets)) for recording in found),
        *(Job(followed, task) for task in followings),
    ]
    done = in_processes(jobs, processes)
    pairs = [pair for of_recording in done[len(sizes) : len(sizes) + len(found)] for pair in of_recording]
    return {
        "model": MODEL,
        "looked_at_every": EVERY,
        "budgets": {str(b): budget_figures([p for p in pairs if p.budget == b]) for b in budgets},
        "standing": standing(list(zip(followings, done[len(sizes) + len(found) :], strict=True))),
        "growth": {str(size): one for size, one in sorted(zip(sizes, done, strict=False))},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    parser.add_argument("--data", help="directory of the recorded data (or set CONTEXTMGR_DATA)")
    parser.add_argument("--budget", default=",".join(map(str, BUDGETS)), help="input budgets (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two sessions, one budget, short histories")
    given = parser.parse_args(arguments)
    found = recordings(given.data, LONG, least=LEAST_CALLS)
    if not found:
        print("no recorded sessions: give --data DIR", file=sys.stderr)
        return 1
    budgets = [int(part) for part in given.budget.split(",")]
    if given.quick:
        found, budgets = found[-2:], budgets[:1]
    result = measured(given.data, found, budgets, given.jobs, quick=given.quick)
    print(json.dumps(result, indent=None if given.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
