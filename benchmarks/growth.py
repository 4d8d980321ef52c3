"""What a writer has to read to keep a summary of ever longer histories.

Made histories: templates of requests, tool calls with results, and answers, with names and numbers drawn from a seed.
The writer is a function that counts what it is given and answers with one short note on each prompt, so nothing but
reading is measured.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from benchmarks.recordings import MODEL
from contextmgr import Conversation, Manager, load_profile
from contextmgr.counters import default_counter
from contextmgr.episodes import source_tokens
from contextmgr.replay.timing import Clock

TURNS = (1_000, 4_000, 16_000)
BUDGET = 12_000
ASSEMBLE_EVERY = 12  # turns
TOOLS = [{"name": "run", "description": "", "input_schema": {"type": "object"}}]
_AREAS = ("parser", "scheduler", "importer", "ledger", "mailer", "index", "gateway", "cache", "planner", "archive")
_VERBS = ("load", "split", "merge", "check", "send", "count", "round", "close")
_COMMANDS = ("pytest {area} -k {name}", "grep -rn {name} {area}", "cat {area}/{name}.py")
_WISHES = (
    "Please look at the {area}: {name}.py fails for order {n} since yesterday.",
    "In the {area}, {name}() must never take longer than {n} ms. Keep that in mind for all that follows.",
    "Rename {name} to {name}_v2 in the {area} and keep reading the old key {n} as well.",
    "What does the {area} do with {name} when there are {n} of them?",
)
_FOUND = (
    "{area}/{name}.py:{n}: assert total == {m}, got {n}. The {area} adds the fee before it rounds, not after.",
    "{n} passed, {m} skipped in the {area}. The slowest one was {name} with {m} ms, the next one took half of that.",
    "{name} = {m}  # set in {area}.toml line {n}; nothing else in the repository reads it or sets it.",
)
_ANSWERS = (
    "The {area} rounds {name} too early. I moved it behind the sum in {area}/{name}.py; {n} tests pass.",
    "Done: {name} is read from {area}.toml now and falls back to {n}. Nothing else used the old name.",
    "It is not the {area}: order {n} has {m} lines, and {name} stops at the first empty one.",
)
_FIRST_SENTENCE = re.compile(r"[^.?!]+(?:[.?!](?=\S)[^.?!]*)*[.?!]?")


class ReadingWriter:
    """Counts the prompts and tokens (cl100k) it is given and answers with a sentence of every other line in them."""

    name = "reading"

    def __init__(self) -> None:
        self.prompts = 0
        self.tokens = 0

    def __call__(self, prompt: str, schema: Mapping[str, Any], /) -> Mapping[str, Any]:
        """The answer."""
        self.prompts += 1
        self.tokens += default_counter().count(prompt)
        lines = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"turn"')]
        notes = ((line["turn"], _FIRST_SENTENCE.match(line["text"])) for line in lines[::2])
        return {"items": [{"text": m.group(), "kind": "result", "turns": [turn]} for turn, m in notes if m]}


def made_turns(chat: Conversation, turns: int, clock: Clock) -> Iterator[int]:
    """Say that many turns in rounds of three: a wish, a call with its result, an answer.  Gives their numbers."""
    draw = random.Random(turns)
    number = 0

    def line(templates: tuple[str, ...]) -> str:
        name = f"{draw.choice(_VERBS)}_{draw.choice(_AREAS)}"
        values = {"area": draw.choice(_AREAS), "name": name, "n": draw.randint(10, 9_999), "m": draw.randint(10, 999)}
        return draw.choice(templates).format(**values)

    while number < turns:
        chat.add_user(line(_WISHES))
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "run", "input": {"command": line(_COMMANDS)}}
        chat.add_reply({"content": [call], "stop_reason": "tool_use", "model": MODEL})
        result = " ".join(line(_FOUND) for _ in range(3))
        chat.add_tool_results([{"type": "tool_result", "tool_use_id": call["id"], "content": result}])
        yield number + 2
        chat.add_reply(
            {"content": [{"type": "text", "text": line(_ANSWERS)}], "stop_reason": "end_turn", "model": MODEL}
        )
        number += 3
        clock.now += timedelta(seconds=30)


def reading(turns: int) -> dict[str, Any]:
    """Unweighted tokens said, read in prompts and gone through in merging, for a history of so many turns; the last two
    also per turn, and what is read by the logarithm of the turns.
    """
    writer, clock = ReadingWriter(), Clock()
    rollovers = 0
    with Manager(
        "sqlite://", profile=load_profile(BUDGET), clock=clock, summarizer=writer, background=False
    ) as manager:
        chat = manager.conversation("c", tenant="bench")
        for number in made_turns(chat, turns, clock):
            if number % ASSEMBLE_EVERY < 3:
                manager.flush()
                rollovers += (
                    chat.assemble(model=MODEL, max_tokens=1_000, system="Be exact.", tools=TOOLS).report.why == "full"
                )
        segments = {s.id: s for s in chat.compactions()}
        said = sum(source_tokens(t) for t in chat.history.turns())
    merged = sum(segments[p].tokens for s in segments.values() for p in s.parts if p in segments)
    covered = sum(len(s.coverage) for s in segments.values() if s.level == 0)
    return {
        "rollovers": rollovers,
        "prompts": writer.prompts,
        "turns_summarised": covered,
        "said": said,
        "read": writer.tokens,
        "merged": merged,
        "read_per_turn": round(writer.tokens / turns, 2),
        "read_per_turn_by_log2": round(writer.tokens / turns / math.log2(turns), 3),
        "merged_per_turn": round(merged / turns, 2),
    }
