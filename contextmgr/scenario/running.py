"""Every request of every policy in a scenario, measured with one meter and held against what is expected of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contextmgr.baselines import Baseline, PlainHistory, baselines
from contextmgr.counters import default_counter
from contextmgr.features import Features, total
from contextmgr.models import model_entry
from contextmgr.scenario.checking import is_quoted, is_whole, kept, proved_once, verbatim_share
from contextmgr.scenario.files import Expect, Scenario
from contextmgr.scenario.outcome import OURS, Check, Made, ScenarioOutcome
from contextmgr.scenario.playing import Step, blocks_of
from contextmgr.tokens import Calibration, block_features, head_features, message_frame
from contextmgr.turns import Turn
from contextmgr.validity import validate


@dataclass(slots=True)
class Sizes:
    """One meter for all policies: the estimate that contextmgr starts from, before a model's true counts."""

    scenario: Scenario
    calibration: Calibration = field(init=False)
    weights: dict[str, Features] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.calibration = Calibration.prior(model_entry(self.scenario.model).family)

    def messages(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of a list of messages."""
        blocks = total(self._block(block) for message in messages for block in message["content"])
        return self.calibration.tokens(blocks.plus(message_frame(len(messages))))

    def head(self, system: object) -> int:
        """Tokens of system prompt and tools."""
        tools = [tool.schema_block for tool in self.scenario.tools]
        return self.calibration.tokens(head_features(system, tools, default_counter().count))

    def _block(self, block: Mapping[str, Any]) -> Features:
        key = json.dumps({k: v for k, v in block.items() if k != "cache_control"})
        if key not in self.weights:
            self.weights[key] = block_features(block, default_counter().count)
        return self.weights[key]


class Run:
    """The requests so far, of all policies, and what was expected of ours."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._sizes = Sizes(scenario)
        self._made: dict[str, list[Made]] = {OURS: []}
        self._history = PlainHistory()
        self._baselines: tuple[Baseline, ...] = baselines()
        self._checks: dict[str, list[str]] = {}
        self._checked: dict[str, int] = {}
        self._turns = 0

    def ours(self, step: Step) -> None:
        """Take down our request, and hold against it what is expected of it."""
        params, report = step.request.params, step.request.report
        tokens = self._sizes.head(params.get("system")) + self._sizes.messages(params["messages"])
        made = self._made_from(step, params, tokens)
        proof = step.request.proof
        proved = all(proved_once(params, proof, text) for text in self._scenario.compare.texts)
        self._made[OURS].append(replace(made, proved=proved, pins=len(proof), epoch=report.epoch, why=report.why))
        for expect in self._scenario.expect:
            if step.exchange in expect.exchanges:
                self._expect(step, expect)
        self._turns = step.chat.history.count() + 1

    def theirs(self, step: Step) -> None:
        """Let each baseline make its request of the same history, then go on to the scripted answer."""
        scenario = self._scenario
        if step.call == 1:
            self._history.user(scenario.exchanges[step.exchange - 1].user)
        changes = [e.system for e in scenario.exchanges[: step.exchange] if e.system is not None]
        system = changes[-1] if changes else scenario.system
        head = self._sizes.head(system)
        for baseline in self._baselines:
            messages = baseline.messages(self._history, scenario.budget - head, self._sizes.messages)
            params = {
                "model": scenario.model,
                "max_tokens": scenario.max_tokens,
                "messages": messages,
                "tools": [tool.schema_block for tool in scenario.tools],
            } | ({"system": system} if system else {})
            made = self._made_from(step, params, head + self._sizes.messages(messages))
            self._made.setdefault(baseline.name, []).append(made)
        blocks, results = blocks_of(step.answer, f"toolu_{step.exchange:02}_{step.call:02}")
        self._history.assistant(blocks)
        if results:
            self._history.results(results)

    def outcome(self) -> ScenarioOutcome:
        """Everything so far."""
        scenario = self._scenario
        checks = [Check(what=w, requests=self._checked[w], failures=tuple(f)) for w, f in self._checks.items()]
        return ScenarioOutcome(
            name=scenario.name,
            title=scenario.title,
            budget=scenario.budget,
            model=scenario.model,
            exchanges=len(scenario.exchanges),
            turns=self._turns,
            texts=tuple(scenario.compare.texts),
            at=tuple(scenario.compare.at),
            policies=self._made,
            checks=checks,
        )

    def _made_from(self, step: Step, params: Mapping[str, Any], tokens: int) -> Made:
        return Made(
            exchange=step.exchange,
            call=step.call,
            tokens=tokens,
            within=tokens <= self._scenario.budget,
            findings=tuple(map(str, validate(params))),
            kept=kept(params, self._scenario.compare.texts),
        )

    def _expect(self, step: Step, expect: Expect) -> None:
        params = step.request.params
        for text in expect.pinned:
            self._check(
                step, f"{text[:60]!r} is proved at exactly one place", proved_once(params, step.request.proof, text)
            )
        for number in expect.whole_turns:
            whole = is_whole(params, step.chat.history.turn(number))
            self._check(step, f"turn {number} is whole", whole)
        for number in expect.quoted_turns:
            turn = step.chat.history.turn(number)
            held = is_quoted(params, turn) and not is_whole(params, turn)
            self._check(step, f"turn {number} is out of view and quoted", held)
        if expect.whole_last:
            count = expect.whole_last
            turns = _between(step, step.exchange - count, step.exchange - 1)
            whole = all(is_whole(params, t) for t in turns)
            self._check(
                step, "the exchange before is whole" if count == 1 else f"the {count} exchanges before are whole", whole
            )
        if expect.shortened is not None:
            middle = expect.shortened
            share = verbatim_share(params, _between(step, middle.first, middle.last))
            what = f"of exchanges {middle.first}-{middle.last} at most {middle.to:.0%} is verbatim"
            self._check(step, what, 0 <= share <= middle.to, f"{share:.0%}")

    def _check(self, step: Step, what: str, held: bool, found: str = "not so") -> None:
        self._checked[what] = self._checked.get(what, 0) + 1
        failures = self._checks.setdefault(what, [])
        if not held:
            failures.append(f"exchange {step.exchange}, request {step.request.number}: {found}")


def _between(step: Step, first: int, last: int) -> list[Turn]:
    """The turns of the exchanges ``first`` to ``last``."""
    begin = step.starts.get(max(1, first), 1)
    end = step.starts.get(last + 1, step.chat.history.count() + 1) - 1
    return step.chat.history.turns(begin, end)
