"""How well sizes are estimated, against the usage that real sessions recorded.

    python -m benchmarks.size --json [--data DIR]

For each call after the 5th of every recorded Claude Code session: the estimate is the true input of the call
before it plus `Calibration.tokens` of what was added; the truth is input + cache read + cache creation as the API
reported it.  Sizes of what the client added without recording it (reminders, changed files) are errors here.
Reported with all calls but those right after a compaction, and again without those that the recording shows to
be no extension of the call before (`Call.broken`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contextmgr.counters import default_counter
from contextmgr.features import ZERO, Features
from contextmgr.tokens import Calibration, Count, block_features, blocks_features, message_frame
from contextmgr.turns import is_thinking

SKIPPED_CALLS = 5
FOLDERS = ("claude-code-entire", "claude-code-packmind")
DROPS_THINKING = ("claude-sonnet-4-5", "claude-haiku-4-5")
"""Models that lose the thinking of earlier rounds when a user message comes; the others recorded keep it."""

Blocks = list[Mapping[str, Any]]


@dataclass(slots=True)
class Call:
    """One API call: what was sent since the one before it, its answer, and its true input in tokens.

    ``compacted``: the client replaced the history before it.  ``broken`` says why the recording shows it to be no
    extension of the call before it, if so.
    """

    model: str
    true_input: int = 0
    sent: list[Blocks] = field(default_factory=list)
    answer: Blocks = field(default_factory=list)
    compacted: bool = False
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One estimated call."""

    estimate: int
    true: int
    broken: str

    @property
    def error(self) -> float:
        """Estimate too high (+) or too low (-), as a share of the true input."""
        return self.estimate / self.true - 1


def data_directory(given: str | None) -> Path:
    """Where the recorded sessions are."""
    return Path(given or os.environ.get("CONTEXTMGR_DATA") or Path(__file__).parents[1] / "../shared/data").resolve()


def sessions(data: Path) -> list[Path]:
    """The recorded Claude Code sessions."""
    return [file for folder in FOLDERS for file in sorted((data / "trajectories" / folder).glob("*.jsonl.gz"))]


def read_calls(file: Path) -> list[Call]:
    """The calls of a session's main chain, in order."""
    calls: dict[str, Call] = {}
    pending: list[Blocks] = []
    compacted = False
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            message = event.get("message") or {}
            compacted = compacted or bool(event.get("isCompactSummary")) or event.get("subtype") == "compact_boundary"
            if event.get("isSidechain") or message.get("model") == "<synthetic>":
                continue
            if event["type"] == "user":
                pending.append(as_blocks(message["content"]))
            elif event["type"] == "assistant":
                if message["id"] not in calls:
                    calls[message["id"]] = Call(message["model"], sent=pending, compacted=compacted)
                    pending, compacted = [], False
                take(calls[message["id"]], message)
    return list(calls.values())


def take(call: Call, message: Mapping[str, Any]) -> None:
    """Add one line of an answer that is spread over several; the last one's usage counts."""
    usage = message["usage"]
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    call.true_input = sum(usage.get(name) or 0 for name in names)
    call.answer += as_blocks(message["content"])


def as_blocks(content: Any) -> Blocks:
    """Message content as a list of blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def is_prompt(blocks: Blocks) -> bool:
    """Whether a person (or a command) speaks, rather than a tool."""
    return not any(block["type"] == "tool_result" for block in blocks)
