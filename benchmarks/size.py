"""How well sizes are estimated, against the usage that real sessions recorded, and against a reference count.

    python -m benchmarks.size [--json] [--data DIR] [--reference]

For each call after the 5th of every recorded Claude Code session: the estimate is the true input of the call
before it plus `Calibration.tokens` of what was added; the truth is input + cache read + cache creation as the API
reported it.  What the client added without recording it (reminders, changed files) is an error here.  Only the
calls right after a compaction are never counted: nothing anchors them.  The figures come twice: for all calls, and
without those of which the recording itself says that they are no plain extension (`Call.broken`).

``--reference`` also sizes windows of 30,000 to 60,000 tokens without any anchor, by the priors alone, and compares
with ctok, tag frames as regressed from the recorded usage (needs ``pip install ctok`` and Python 3.12).
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import itertools
import json
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contextmgr.counters import default_counter
from contextmgr.features import ZERO, Features, total
from contextmgr.tokens import Calibration, Count, block_features, blocks_features, message_frame
from contextmgr.turns import is_thinking

SKIPPED_CALLS = 5
FAMILY = "v3"
"""Tokenizer family of every model in the recordings."""
FOLDERS = ("claude-code-entire", "claude-code-packmind")
DROPS_THINKING = ("claude-sonnet-4-5", "claude-haiku-4-5")
"""Models that lose the thinking of earlier rounds when a user message comes; the others recorded keep it."""
WINDOWS = (30_000, 45_000, 60_000)
VERSIONS = {"v3": "3.0", "v4": "4.8"}

Blocks = list[Mapping[str, Any]]


@dataclass(slots=True)
class Call:
    """One API call: what was sent since the one before it, its answer, and its true input in tokens.

    ``compacted``: the client replaced the history before it.  ``broken`` says why it is no plain extension of the
    call before it: ``restart`` (the client was left and resumed: it rebuilds prompt and history) or ``image``
    (one is among what was added, and its pixels are not in the recording any more).
    """

    model: str
    true_input: int = 0
    sent: list[Blocks] = field(default_factory=list)
    answer: Blocks = field(default_factory=list)
    compacted: bool = False

    @property
    def broken(self) -> str:
        """``restart``, ``image`` or nothing."""
        text = json.dumps(self.sent)
        if "<command-name>/exit" in text:
            return "restart"
        return "image" if '"type": "image"' in text else ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One estimated call, in tokens."""

    estimate: int
    true: int
    broken: str


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
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    call.true_input = sum(message["usage"].get(name) or 0 for name in names)
    call.answer += as_blocks(message["content"])


def as_blocks(content: Any) -> Blocks:
    """Message content as a list of blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def is_prompt(blocks: Blocks) -> bool:
    """Whether a person (or a command) speaks, rather than a tool."""
    return not any(block["type"] == "tool_result" for block in blocks)


def anchored(calls: Sequence[Call], count: Count) -> Iterator[Sample]:
    """Estimate each call of one session from the one before it, learning on the way."""
    calibration, whole, thinking = Calibration.prior(FAMILY), ZERO, ZERO
    for number, (before, call) in enumerate(itertools.pairwise(calls), 2):
        added = total((*(blocks_features(m, count) for m in (*call.sent, before.answer)), message_frame(2)))
        thinking = thinking.plus(blocks_features(filter(is_thinking, before.answer), count))
        dropped = ZERO
        if any(map(is_prompt, call.sent)):
            dropped, thinking = (thinking if call.model.startswith(DROPS_THINKING) else ZERO), ZERO
        if call.model != before.model:
            calibration = Calibration.prior(FAMILY)
        if call.compacted or call.model != before.model or not whole.fixed:
            whole = Features(fixed=call.true_input)
            continue
        less = int(calibration.tokens(dropped) / calibration.margin)
        estimate = before.true_input + calibration.tokens(added) - less
        if number > SKIPPED_CALLS:
            yield Sample(estimate, call.true_input, call.broken)
        whole = whole.plus(added).minus(dropped)
        grown = call.true_input - before.true_input
        calibration = calibration.learn(added.minus(dropped), grown, whole, call.true_input)


def summary(samples: Sequence[Sample]) -> dict[str, float]:
    """Errors as shares of the true input."""
    errors = sorted(abs(s.estimate / s.true - 1) for s in samples)
    under = sum(s.true > 1.03 * s.estimate for s in samples)
    return {
        "calls": len(samples),
        "p50_error": round(statistics.median(errors), 5),
        "p95_error": round(errors[int(0.95 * len(errors))], 5),
        "true_above_by_3_percent": round(under / len(samples), 5),
        "mean_error": round(statistics.fmean(s.estimate / s.true - 1 for s in samples), 5),
    }


def measure_recorded(files: Sequence[Path], count: Count) -> dict[str, Any]:
    """All calls, and those that the recording does not call broken."""
    samples = [sample for file in files for sample in anchored(read_calls(file), count)]
    broken = [s.broken for s in samples if s.broken]
    return {
        "sessions": len(files),
        "all": summary(samples),
        "extensions_only": summary([s for s in samples if not s.broken]),
        "left_out": {name: broken.count(name) for name in sorted(set(broken))},
    }


def reference_size(block: Mapping[str, Any], size: Callable[[str], int]) -> float:
    """Tokens of a block by a reference count of its texts, plus the frames seen in recorded usage."""
    kind = block["type"]
    if kind == "text":
        return size(block["text"]) + 2
    if kind == "thinking":
        return size(block["thinking"]) + 17
    if kind == "tool_use":
        values = (v if isinstance(v, str) else json.dumps(v) for v in block["input"].values())
        return 23 + size(block["name"]) + 17 * len(block["input"]) + sum(map(size, (*block["input"], *values)))
    parts = as_blocks(block.get("content") or [])
    return 23 + sum(size(part.get("text", "")) for part in parts)


def windows(features: Sequence[Features], sizes: Sequence[float]) -> Iterator[tuple[Features, float]]:
    """Stretches of a session of each of the `WINDOWS` sizes, every third of a window."""
    for wanted in WINDOWS:
        start = 0
        while start < len(sizes):
            end, tokens, step = start, 0.0, start
            while end < len(sizes) and tokens < wanted:
                tokens += sizes[end]
                end += 1
                step = end if tokens < wanted / 3 else step
            if tokens < wanted:
                break
            yield total(features[start:end]), tokens
            start = max(step, start + 1)


def text_size(token_count: Callable[[str, str], int], version: str) -> Callable[[str], int]:
    """A reference count of bare texts: without the frame of the message that the reference puts around them."""
    frame = token_count("", version)
    return lambda text: token_count(text, version) - frame if text else 0


def measure_reference(files: Sequence[Path], count: Count) -> dict[str, Any]:
    """Windows of every session by the priors alone against ctok, per family."""
    token_count = importlib.import_module("ctok").token_count
    found: dict[str, list[float]] = {family: [] for family in VERSIONS}
    for file in files:
        calls = read_calls(file)
        blocks = [b for c in calls for m in (*c.sent, c.answer) for b in m if b["type"] != "image"]
        features = [block_features(b, count) for b in blocks]
        for family, version in VERSIONS.items():
            size = text_size(token_count, version)
            sizes = [reference_size(block, size) for block in blocks]
            prior = Calibration.prior(family)
            found[family] += [true / prior.tokens(f) for f, true in windows(features, sizes)]
    return {
        family: {
            "windows": len(ratios),
            "true_above_by_3_percent": round(sum(r > 1.03 for r in ratios) / len(ratios), 5),
            "highest_true_to_estimate": round(max(ratios), 4),
            "mean_slack": round(statistics.fmean(1 / r - 1 for r in ratios), 4),
        }
        for family, ratios in found.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object, nothing else")
    parser.add_argument("--data", help="directory of the recorded data (or set CONTEXTMGR_DATA)")
    parser.add_argument("--reference", action="store_true", help="also compare unanchored windows with ctok")
    options = parser.parse_args(arguments)
    files = sessions(data_directory(options.data))
    if not files:
        parser.exit(2, f"no recorded sessions in {data_directory(options.data)}; give --data DIR\n")
    counter = default_counter()
    result: dict[str, Any] = {"counter": counter.name, "recorded": measure_recorded(files, counter.count)}
    if options.reference:
        result["reference"] = measure_reference(files, counter.count)
    print(json.dumps(result, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
