"""Budget profiles: the tier sizes and policies of a product, as frozen values read from TOML.

Law: the numbers of a profile fit together, at every budget.  A profile is sized for its ``budget``;
`Profile.with_budget` scales all its token numbers alike, so that an int is a profile too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from contextmgr.errors import ProfileError

MIN_BUDGET = 1_000
DEFAULT_PROFILE = "coding-agent"

Tokens = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

# The numbers `with_budget` scales: everything in tokens but the budget itself.
_SCALED = {
    "recent": ("floor", "result_cap"),
    "pinned": ("cap",),
    "task": ("cap",),
    "state": ("cap", "floor"),
    "summary": ("cap",),
    "retrieved": ("cap",),
}


class _Value(BaseModel):
    """Frozen, complete and strict: no unknown keys, no defaults, no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Recent(_Value):
    """The window of newest turns.

    ``min_turns`` are there whatever they say; ``floor`` is the tokens kept for them; a tool result above
    ``result_cap`` tokens is shown as head, tail and a pointer.
    """

    min_turns: int = Field(ge=1)
    floor: int = Field(ge=1)
    result_cap: int = Field(ge=1)


class Pinned(_Value):
    """Active pins.  Past ``warn_share`` of ``cap`` tokens, writing another pin warns; it is never a limit."""

    cap: Tokens
    warn_share: Share


class Task(_Value):
    """The caller's task documents, ``cap`` tokens together."""

    cap: Tokens


class State(_Value):
    """Facts and notes: up to ``cap`` tokens, down to ``floor`` when room is short."""

    cap: Tokens
    floor: Tokens


class Summary(_Value):
    """Summaries, up to ``cap`` tokens, prepared once the view passes ``prepare_at`` of the budget."""

    cap: Tokens
    prepare_at: Share


class Retrieved(_Value):
    """Evidence for the newest user turn.

    At most ``k`` excerpts and ``cap`` tokens, each with a score of at least ``threshold`` (share of the query's
    idf mass); none at all while the conversation has fewer than ``min_turns`` turns.
    """

    enabled: bool
    cap: Tokens
    k: Count
    threshold: Share
    min_turns: Count


class Index(_Value):
    """Episode descriptions and embeddings are made from ``min_turns`` turns on; the lexical index always."""

    min_turns: Count


class Profile(_Value):
    """Tier sizes and policies for one product; token numbers are sized for ``budget``, the input budget.

    A rollover because the view is full goes on until ``fill`` of the budget is in use; one after the cache went
    cold masks old tool outputs if that frees ``cold_mask_share`` of the view.  ``policy`` is ``epochs`` (requests
    grow at their end) or ``rolling`` (laid out anew for each user turn).  ``cache_ttl`` is the lifetime asked for
    in cache marks.  ``memory`` says what a new conversation begins with: nothing (``blank``), the project's and user's
    facts that its first user turn asks for (``relevant``), or all that fit the state tier.  ``max_search_results`` caps
    one search by the agent.  Raises `ProfileError`.
    """

    name: str = Field(min_length=1)
    budget: int = Field(ge=MIN_BUDGET)
    fill: float = Field(ge=0.2, le=0.9)
    policy: Literal["epochs", "rolling"]
    cold_mask_share: Share
    cache_ttl: Literal["5m", "1h"]
    pin_first_user_turn: bool
    memory: Literal["blank", "relevant", "all"]
    max_search_results: int = Field(ge=1, le=10)
    recent: Recent
    pinned: Pinned
    task: Task
    state: State
    summary: Summary
    retrieved: Retrieved
    index: Index

    if not TYPE_CHECKING:  # type checkers keep the typed signature

        def __init__(self, /, **data: Any) -> None:
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise _readable(error, data.get("name")) from error

    @model_validator(mode="after")
    def _fits_together(self) -> Profile:
        for low, high, rule in self._limits():
            if low > high:
                raise ValueError(f"{rule}: {low:g} is above {high:g}")
        return self

    def _limits(self) -> list[tuple[float, float, str]]:
        caps = sum(t.cap for t in (self.pinned, self.task, self.state, self.summary, self.retrieved))
        return [
            (self.recent.floor + caps, self.budget, "recent.floor plus all caps must be within budget"),
            (self.state.floor, self.state.cap, "state.floor must be within state.cap"),
            (self.recent.result_cap, self.recent.floor, "recent.result_cap must be within recent.floor"),
            (self.recent.floor, self.fill * self.budget, "recent.floor must be within fill of the budget"),
            (self.fill, self.summary.prepare_at, "fill must be within summary.prepare_at"),
        ]

    def with_budget(self, budget: int) -> Profile:
        """The same profile for ``budget`` input tokens: every token number scaled alike, rounded down.

        Raises `ProfileError` below `MIN_BUDGET`.
        """
        _check_budget(budget)
        if budget == self.budget:
            return self
        data: dict[str, Any] = self.model_dump() | {"budget": budget}
        for tier, keys in _SCALED.items():
            # A number above 0 stays above 0: rounding must not switch a tier off.
            scaled = {key: max(min(1, data[tier][key]), data[tier][key] * budget // self.budget) for key in keys}
            data[tier] = data[tier] | scaled
        return Profile(**data)


def profile_names() -> tuple[str, ...]:
    """The names of the shipped profiles, sorted."""
    return tuple(sorted(_shipped()))


def load_profile(value: str | int | Path | Profile | None) -> Profile:
    """The profile meant by ``value``.

    A shipped name, a path to a TOML file, an input budget in tokens (coding-agent at that budget), a `Profile`
    as it is, or None for coding-agent.  A file gives every number, or starts from a shipped profile with
    ``base = "coding-agent"``.  Raises `ProfileError` naming the value, the known names and the way out.
    """
    if isinstance(value, Profile):
        return value
    if value is None:
        return _shipped()[DEFAULT_PROFILE]
    if isinstance(value, int):
        return _shipped()[DEFAULT_PROFILE].with_budget(value)
    if isinstance(value, str) and value in _shipped():
        return _shipped()[value]
    if isinstance(value, Path) or (isinstance(value, str) and value.endswith(".toml")):
        return _from_file(Path(value))
    raise ProfileError(
        f"no profile {value!r}; shipped: {', '.join(profile_names())}; or give a path ending in .toml,"
        " an input budget in tokens as an int, or a Profile"
    )


@cache
def _shipped() -> Mapping[str, Profile]:
    folder = resources.files("contextmgr").joinpath("profiles_data")
    texts = (entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    profiles = [Profile(**tomllib.loads(text)) for text in texts]
    return {profile.name: profile for profile in profiles}


def _from_file(path: Path) -> Profile:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProfileError(f"profile {str(path)!r} cannot be read ({error}); give a TOML file") from error
    try:
        return Profile(**_completed(data))
    except ProfileError as error:
        raise ProfileError(f"profile file {str(path)!r}: {error}") from error


def _completed(data: dict[str, Any]) -> dict[str, Any]:
    """A file's values over those of its base, the base first scaled to the file's budget."""
    if "base" not in data:
        return data
    base, values = data["base"], {key: value for key, value in data.items() if key != "base"}
    if not isinstance(base, str) or base not in _shipped():
        raise ProfileError(f"base = {base!r} is not a shipped profile; use one of {', '.join(profile_names())}")
    start = _shipped()[base]
    whole = start.with_budget(values.get("budget", start.budget)).model_dump()
    for key, value in values.items():
        both = isinstance(value, dict) and isinstance(whole.get(key), dict)
        whole[key] = whole[key] | value if both else value
    return whole


def _check_budget(budget: object) -> None:
    if type(budget) is not int or budget < MIN_BUDGET:
        raise ProfileError(f"a budget of {budget!r} tokens is not usable; give a whole number from {MIN_BUDGET} up")


def _readable(error: ValidationError, name: object) -> ProfileError:
    found = [
        f"{'.'.join(map(str, e['loc'])) + ': ' if e['loc'] else ''}{e['msg']}"
        + (f" (got {e['input']!r})" if e["loc"] and e["type"] != "missing" else "")
        for e in error.errors(include_url=False)
    ]
    way_out = 'correct these, or start a file with base = "coding-agent" and give only what differs'
    return ProfileError(f"profile {name!r} cannot be used: {'; '.join(found)}; {way_out}")
