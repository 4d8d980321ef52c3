"""Scenario files: a scripted conversation, and what must hold of the requests made from it.  See docs/scenarios.md.

Law: a file says everything, and the same file gives the same conversation; an unknown key is an error, not a no-op.
"""

from __future__ import annotations

import json
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from contextmgr.errors import InputError
from contextmgr.scenario.generated import Generate, generate

SUFFIXES = (".toml", ".json")
EACH = "{each}"
"""What a text of an exchange's ``each`` is put in place of."""
_PACKAGED = Path(__file__).parent / "shipped"
_CHECKOUT = Path(__file__).parents[2] / "examples" / "scenarios"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Tool(_Value):
    """A tool that requests offer.  ``parameters`` maps each argument to its JSON type; all are required."""

    name: str = Field(min_length=1)
    description: str
    parameters: dict[str, Literal["string", "integer", "number", "boolean"]] = {}

    @property
    def schema_block(self) -> dict[str, Any]:
        """As the Messages API takes it."""
        properties = {name: {"type": kind} for name, kind in self.parameters.items()}
        schema = {"type": "object", "properties": properties, "required": list(self.parameters)}
        return {"name": self.name, "description": self.description, "input_schema": schema}


class Call(_Value):
    """A tool call with its result: ``output`` as it stands, or made by ``generate``."""

    tool: str = Field(min_length=1)
    input: dict[str, JsonValue] = {}
    output: str | None = None
    generate: Generate | None = None
    error: bool = False

    @model_validator(mode="after")
    def _one_result(self) -> Call:
        if (self.output is None) == (self.generate is None):
            raise ValueError("a call has either an output or a generate table, not both and not neither")
        return self

    @property
    def result(self) -> str:
        """The text of the result."""
        return generate(self.generate) if self.generate is not None else str(self.output)


class Assistant(_Value):
    """One assistant message: words, calls, or both.  Without calls it ends the exchange."""

    text: str = ""
    calls: list[Call] = []

    @model_validator(mode="after")
    def _says_something(self) -> Assistant:
        if not self.text.strip() and not self.calls:
            raise ValueError("an assistant turn says something or calls a tool")
        return self


class Exchange(_Value):
    """A user message and the assistant turns that answer it; the last of them has no calls.

    ``pin`` pins the message as it is written, ``quote`` only that part of it.  ``after`` is the time in minutes that
    passed before it.  ``system`` changes the system prompt from here on, which begins a new epoch.
    """

    user: str = Field(min_length=1)
    pin: bool | Literal["constraint", "decision", "approval", "resolution"] = False
    quote: str | None = None
    author: Literal["user", "operator"] = "user"
    after: float = Field(default=2.0, ge=0)
    system: str | None = None
    turns: list[Assistant] = Field(min_length=1)

    @model_validator(mode="after")
    def _ends(self) -> Exchange:
        if any(not t.calls for t in self.turns[:-1]) or self.turns[-1].calls:
            raise ValueError("every assistant turn but the last has calls, and the last has none")
        if self.quote is not None and self.quote not in self.user:
            raise ValueError(f"the quote {self.quote[:60]!r} is not in the user message")
        return self


class Shortened(_Value):
    """Of the exchanges ``first`` to ``last`` at most the share ``to`` (0 to 1) of their characters is verbatim."""

    first: int = Field(ge=1)
    last: int = Field(ge=1)
    to: float = Field(ge=0, lt=1)


class Expect(_Value):
    """What must hold of every request made in the exchanges ``first`` to ``last``; only ``first`` without ``last``.

    ``pinned`` are texts that are proved, each at exactly one place; ``whole_turns`` the turns (counted as the store
    counts them) that stand whole, results included; ``whole_last`` how many exchanges before this one stand whole;
    ``quoted_turns`` the turns that are out of view and whose words are quoted to the full as evidence.
    """

    first: int = Field(ge=1)
    last: int | None = None
    pinned: list[str] = []
    whole_turns: list[int] = []
    whole_last: int = Field(default=0, ge=0)
    quoted_turns: list[int] = []
    shortened: Shortened | None = None

    @property
    def exchanges(self) -> range:
        """The exchanges meant."""
        return range(self.first, (self.last or self.first) + 1)


class Compare(_Value):
    """Whose requests still hold ``texts``, byte for byte, in the exchanges ``at``."""

    texts: list[str] = Field(min_length=1)
    at: list[int] = Field(min_length=1)


class Scenario(_Value):
    """One scenario file.  ``budget`` is the input budget in tokens that every policy gets, the profile scaled to it.

    ``exchanges`` are counted as they are played: one that has ``each`` in the file is as many as its list is long.
    """

    name: str = Field(min_length=1)
    title: str
    profile: str = "coding-agent"
    budget: int = Field(ge=1_000)
    model: str = "claude-sonnet-5-5"
    max_tokens: int = Field(default=2_048, ge=1)
    begins: datetime
    system: str = ""
    tools: list[Tool] = []
    exchanges: list[Exchange] = Field(min_length=1)
    expect: list[Expect] = []
    compare: Compare

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Scenario:
        if self.begins.tzinfo is None:
            raise ValueError("begins needs a time zone, such as 2026-03-02T09:00:00Z")
        known = {tool.name for tool in self.tools}
        for number, exchange in enumerate(self.exchanges, 1):
            called = {call.tool for turn in exchange.turns for call in turn.calls}
            if called - known:
                raise ValueError(f"exchange {number} calls {sorted(called - known)}, tools are {sorted(known)}")
        meant = [n for e in self.expect for n in e.exchanges] + self.compare.at
        beyond = [n for n in meant if not 1 <= n <= len(self.exchanges)]
        if beyond:
            raise ValueError(f"there is no exchange {beyond[0]}; there are {len(self.exchanges)}")
        return self


def _one_for_each(given: Any) -> Any:
    """A file's values, in which an exchange with ``each`` is one exchange per text of that list."""
    exchanges = given.get("exchanges") if isinstance(given, dict) else None
    if not isinstance(exchanges, list):
        return given
    return {**given, "exchanges": [one for exchange in exchanges for one in _expanded(exchange)]}


def _expanded(exchange: Any) -> list[Any]:
    if not isinstance(exchange, dict) or "each" not in exchange:
        return [exchange]
    each = exchange["each"]
    if not isinstance(each, list) or not each or not all(isinstance(text, str) and text.strip() for text in each):
        raise ValueError(f"each must be a list of texts, at least one, not {str(each)[:60]!r}")
    rest = {key: value for key, value in exchange.items() if key != "each"}
    return [_filled(rest, text) for text in each]


def _filled(value: Any, text: str) -> Any:
    """A value of a file with ``text`` in place of `EACH` in every string of it."""
    if isinstance(value, dict):
        return {key: _filled(part, text) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, text) for part in value]
    return value.replace(EACH, text) if isinstance(value, str) else value


def scenario_names() -> tuple[str, ...]:
    """Names of the shipped scenarios, sorted."""
    return tuple(sorted(p.stem for p in _shipped().iterdir() if p.suffix in SUFFIXES))


def load_scenario(name_or_path: str | Path) -> Scenario:
    """Read a scenario: a shipped name, or the path of a .toml or .json file.

    Raises `InputError` naming the file, the key and what is wrong with it.
    """
    path = _path(name_or_path)
    try:
        text = path.read_text(encoding="utf-8")
        # JSON has no times, so pydantic reads those itself.
        if path.suffix == ".json":
            return Scenario.model_validate_json(json.dumps(_one_for_each(json.loads(text))))
        return Scenario.model_validate(_one_for_each(tomllib.loads(text)))
    except ValidationError as error:
        raise InputError(f"scenario {str(path)!r}: {_readable(error)}; docs/scenarios.md lists the keys") from error
    except (OSError, ValueError) as error:
        raise InputError(f"scenario {str(path)!r} cannot be read: {error}") from error


def _path(name_or_path: str | Path) -> Path:
    given = Path(name_or_path)
    if given.suffix in SUFFIXES:
        return given
    if str(name_or_path) in scenario_names():
        return next(p for p in _shipped().iterdir() if p.stem == str(name_or_path))
    raise InputError(
        f"no scenario {str(name_or_path)!r}; shipped: {', '.join(scenario_names())}; "
        f"or give the path of a file ending in {' or '.join(SUFFIXES)}"
    )


def _shipped() -> Path:
    """Inside an installed package, or in the checkout that an editable install points to."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def _readable(error: ValidationError) -> str:
    found = []
    for e in error.errors(include_url=False)[:5]:
        key = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in e["loc"])
        shown = json.dumps(e["input"], default=str)[:60] if e["loc"] and e["type"] != "missing" else ""
        found.append(f"{key or 'the file'}: {e['msg']}" + (f" (got {shown})" if shown else ""))
    return "; ".join(found)
