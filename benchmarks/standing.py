"""Standing instructions of real people, pinned where they were said: are they there after many rollovers?

The instructions are those that were picked by hand from the recorded sessions.  Beside ours stands what the recorded
client kept of its users' messages after 1, 2 and 3 compactions, as counted in these recordings.
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.facts import UserTurn
from benchmarks.recordings import MODEL
from benchmarks.size import data_directory
from contextmgr import AssembledRequest, PinShareWarning
from contextmgr.errors import ProofError
from contextmgr.profiles import load_profile
from contextmgr.proof import text_at
from contextmgr.replay import POLICIES, replay_session
from contextmgr.transcripts import Returned, Said, Session, read_sessions

BUDGETS = (30_000, 60_000)
ROLLOVERS = (1, 2, 3, 5, 10)
CLIENT = {1: 0.78, 2: 0.007, 3: 0.0}
"""Share of user messages that the recorded client kept word for word after so many compactions."""
SLIDE = POLICIES[1]


class Task(NamedTuple):
    """The instructions of one recorded file, by the places they stand at, and a budget."""

    file: Path
    sources: tuple[str, ...]
    budget: int


@dataclass(slots=True)
class Instruction:
    """One instruction on its way: the rollovers since it was said, and by their number how requests had it.

    ``ours`` counts requests and those in which it was proved, ``slide`` those in which a sliding window showed it.
    """

    turn: UserTurn
    rollovers: int = 0
    requests: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    ours: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    slide: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def kept(self, counts: Mapping[int, int], rollovers: int) -> bool:
        """Whether every request had it that came after so many rollovers."""
        return all(counts.get(k, 0) == n for k, n in self.requests.items() if k >= rollovers)


class _Watching:
    """Looks for the instructions in every request."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.all = instructions
        self.said: list[Instruction] = []

    def ours(self, request: AssembledRequest) -> None:
        tail = request.report.turns[-1].last
        before, self.said = self.said, [i for i in self.all if i.turn.number <= tail]
        shown = proved_texts(request)
        for one in self.said:
            one.rollovers += request.report.why != "extended" and one in before
            one.requests[one.rollovers] += 1
            one.ours[one.rollovers] += all(text in shown for text in one.turn.texts)

    def policy(self, name: str, params: Mapping[str, Any]) -> None:
        if name == SLIDE:
            texts = {b["text"] for m in params["messages"] for b in m["content"] if b["type"] == "text"}
            for one in self.said:
                one.slide[one.rollovers] += all(text in texts for text in one.turn.texts)


def proved_texts(request: AssembledRequest) -> set[str]:
    """The texts at the places that a request's proof names, none where the proof is wrong."""
    params: Any = request.params
    try:
        request.proof.check(params)
    except ProofError:
        return set()
    return {text for entry in request.proof.pins if (text := text_at(params, entry.place)) is not None}


def followed(task: Task) -> list[Instruction]:
    """Replay one file with its instructions pinned."""
    warnings.simplefilter("ignore", PinShareWarning)
    (session,) = read_sessions(task.file)
    instructions = [Instruction(turn) for turn in _turns(session, task.sources)]
    watching = _Watching(instructions)
    outcome = replay_session(
        session,
        profile=load_profile(task.budget),
        model=MODEL,
        pin=tuple(i.turn.number for i in instructions),
        summarizer="extractive",
        on_request=watching.ours,
        on_policy=watching.policy,
        policies=(SLIDE,),
    )
    if outcome.pin_refused:
        raise SystemExit(f"{task.file}: {outcome.pin_refused}")
    for one in instructions:
        one.requests, one.ours, one.slide = dict(one.requests), dict(one.ours), dict(one.slide)
    return instructions


def _turns(session: Session, sources: Sequence[str]) -> list[UserTurn]:
    turns = [e for e in session.events if not isinstance(e, Returned)]
    found = [UserTurn(n, e) for n, e in enumerate(turns, 1) if isinstance(e, Said) and e.source in sources]
    if len(found) != len(sources):
        raise SystemExit(f"{session.file}: {len(found)} of {len(sources)} labelled messages were found")
    return found


def labelled(data: str | None) -> dict[Path, tuple[str, ...]]:
    """The places of the labelled instructions, by file."""
    root = data_directory(data) / "trajectories"
    found: dict[Path, tuple[str, ...]] = {}
    with (root / "derived-labels" / "standing_instructions_gold.jsonl").open(encoding="utf-8") as lines:
        for label in map(json.loads, lines):
            where = label["locator"]
            source = where["uuid"] if "uuid" in where else f"line:{where['line_index0']}"
            found[root / label["file"]] = (*found.get(root / label["file"], ()), source)
    return found


def tasks_of(data: str | None, *, quick: bool = False) -> list[Task]:
    """What has to be replayed."""
    places = labelled(data)
    files = list(places)[:1] if quick else list(places)
    return [Task(file, places[file], budget) for budget in (BUDGETS[1:] if quick else BUDGETS) for file in files]


def standing(found: Sequence[tuple[Task, Sequence[Instruction]]]) -> dict[str, Any]:
    """By budget and number of rollovers: instructions that live to see so many, and how many of them were kept."""
    budgets = {task.budget: {t.file: ones for t, ones in found if t.budget == task.budget} for task, _ in found}
    one = next(iter(budgets.values()))
    return {
        "instructions": sum(map(len, one.values())),
        "sessions": len(one),
        "client_kept": CLIENT,
        **{str(budget): after_rollovers(by_file) for budget, by_file in budgets.items()},
    }


def after_rollovers(found: Mapping[Path, Sequence[Instruction]]) -> dict[str, Any]:
    """What one budget's replays show."""
    table = {}
    for k in ROLLOVERS:
        reached = {file: [i for i in ones if i.rollovers >= k] for file, ones in found.items()}
        ones = [i for of_file in reached.values() for i in of_file]
        table[str(k)] = {
            "sessions": sum(bool(of_file) for of_file in reached.values()),
            "instructions": len(ones),
            "proved": sum(i.kept(i.ours, k) for i in ones),
            "in_sliding_window": sum(i.kept(i.slide, k) for i in ones),
        }
    return table
