"""The model table: window, prices, cache and thinking rules per model, as dated data.

Shipped as ``models.toml`` beside this module; a user's file overrides single fields or adds models
(`ModelTable.load`).  A model nobody listed gets an entry that errs on the safe side, and one warning.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from contextmgr.errors import ModelTableError

Family = Literal["v3", "v4"]
SystemMessages = Literal["no", "yes", "as_user"]

_COUNTS = ("window", "max_output", "cache_minimum", "cache_lifetime")
_PRICES = ("input_price", "output_price", "write_5m_price", "write_1h_price", "read_price")
_FLAGS = ("binds_thinking", "thinking_in_tool_round", "known")
_CHOICES = {"family": get_args(Family), "system_messages": get_args(SystemMessages)}

_warned: set[str] = set()  # names already warned about, so that a long run says it once


class UnknownModelWarning(UserWarning):
    """A model is not in the table; the conservative entry is used for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Dollars per million tokens.  ``write_5m_price`` and ``write_1h_price`` are for cache writes by lifetime."""

    input_price: float
    output_price: float
    write_5m_price: float
    write_1h_price: float
    read_price: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPrompt(Prices):
    """Prices of the whole request once its prompt, cache tokens included, exceeds ``above`` tokens."""

    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry(Prices):
    """What the manager must know about one model.

    ``window``, ``max_output`` and ``cache_minimum`` are tokens, ``cache_lifetime`` the seconds an unused
    5-minute cache entry lives.  ``family`` names the tokenizer.  ``binds_thinking``: a thinking block is valid
    only behind the prefix it was produced with.  ``thinking_in_tool_round``: the thinking of the open tool round
    must go back, and is not bound to its prefix.  ``system_messages``: whether a system message inside the
    conversation is refused or ignored (``no``), honoured (``yes``) or taken for the user's (``as_user``).
    ``known`` is false for a model that is not in the table.  ``as_of`` dates the numbers.  ``size_factor`` is put on
    every estimate of a size, for those who want to err higher than it does by itself.
    Raises `ModelTableError` for values that cannot be.
    """

    name: str
    window: int
    max_output: int
    cache_minimum: int
    family: Family
    binds_thinking: bool
    thinking_in_tool_round: bool
    system_messages: SystemMessages
    known: bool
    as_of: date
    cache_lifetime: int = 300
    size_factor: float = 1.0
    long_prompt: LongPrompt | None = None

    def __post_init__(self) -> None:
        _check_entry(self)

    @property
    def safety(self) -> int:
        """Tokens of the window kept free for errors of the size estimate: 1 % of it, rounded up."""
        return -(-self.window // 100)

    def prices(self, prompt_tokens: int) -> Prices:
        """The price list for a request whose prompt, cache tokens included, has this many tokens."""
        if self.long_prompt is not None and prompt_tokens > self.long_prompt.above:
            return self.long_prompt
        return self


@dataclass(frozen=True, slots=True)
class ModelTable:
    """Entries by name, and the one used for names it does not know."""

    entries: Mapping[str, ModelEntry]
    unknown: ModelEntry = field(repr=False)

    @classmethod
    def shipped(cls) -> ModelTable:
        """The table of this release."""
        return _shipped()

    @classmethod
    def load(cls, path: str | Path) -> ModelTable:
        """The shipped table with a TOML file's ``[models.NAME]`` and ``[unknown]`` merged over it.

        A listed model keeps the fields the file does not give.  A new one gives all of them, or names one it
        resembles: ``like = "claude-opus-5-5"``.  Raises `ModelTableError` naming file, key and value.
        """
        try:
            raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelTableError(f"model table {str(path)!r} cannot be read ({error}); give a TOML file") from error
        shipped = _shipped()
        return _merge(raw, str(path), shipped.entries, shipped.unknown)

    def find(self, name: str) -> ModelEntry | None:
        """The entry for a model id: exact, then without platform prefix, date or variant; None if not listed.

        A version the table does not list is unknown, never its older sibling.
        """
        if name in self.entries:
            return self.entries[name]
        plain = _plain(name)
        best = max((k for k in self.entries if _is_variant(plain, k)), key=len, default=None)
        return self.entries[best] if best is not None else None


def model_entry(name: str, table: ModelTable | None = None) -> ModelEntry:
    """The entry for ``name`` in ``table`` (default: the shipped one).

    An unknown name gives the table's conservative entry under that name, with ``known`` false, and one
    `UnknownModelWarning` per name and process.
    """
    table = table or _shipped()
    found = table.find(name)
    if found is not None:
        return found
    if name not in _warned:
        _warned.add(name)
        unknown = table.unknown
        message = (
            f"model {name!r} is not in the model table of {unknown.as_of}: assuming a window of {unknown.window}"
            f" tokens and ${unknown.input_price:g} per million input tokens; list it in a file and give that to"
            " ModelTable.load()"
        )
        warnings.warn(message, UnknownModelWarning, stacklevel=2)
    return replace(table.unknown, name=name)


@cache
def _shipped() -> ModelTable:
    text = resources.files("contextmgr").joinpath("models.toml").read_text(encoding="utf-8")
    return _merge(tomllib.loads(text), "models.toml", {}, None)


# Names.  "us.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic/claude-opus-4.5" and "claude-opus-4-5@20251101"
# are one model; "claude-opus-4-9" is not a variant of "claude-opus-4": a short number after a dash is a version.
_PLATFORM = re.compile(r"^.*[./:@~](?=claude-)")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_VARIANT = re.compile(r"(?!-[1-9]\d{0,2}(?!\d))[-@:\[]")


def _plain(name: str) -> str:
    return _POINT.sub("-", _PLATFORM.sub("", name.strip().lower()))


def _is_variant(plain: str, known: str) -> bool:
    return plain == known or (plain.startswith(known) and _VARIANT.match(plain, len(known)) is not None)


def _merge(
    raw: Mapping[str, Any], source: str, base: Mapping[str, ModelEntry], unknown: ModelEntry | None
) -> ModelTable:
    _check_keys(raw, {"as_of", "models", "unknown"}, source)
    dated = {"as_of": raw["as_of"]} if "as_of" in raw else {}
    entries = dict(base)
    for name, values in _table(raw, "models", source).items():
        given = dated | _fields(values, f"{source}: models.{name}", extra={"like"})
        like = given.pop("like", name)
        if like != name and like not in entries:
            raise ModelTableError(f"{source}: models.{name}.like = {like!r} is not listed above it; name one that is")
        entries[name] = _entry(name, given, entries.get(like), source, known=True)
    given = dated | _fields(_table(raw, "unknown", source), f"{source}: unknown")
    return ModelTable(MappingProxyType(entries), _entry("unknown", given, unknown, source, known=False))


def _entry(name: str, given: dict[str, Any], base: ModelEntry | None, source: str, *, known: bool) -> ModelEntry:
    where = f"{source}: {name if name == 'unknown' else f'models.{name}'}"
    if "long_prompt" in given:
        given = given | {"long_prompt": _long_prompt(given["long_prompt"], where)}
    if base is None:
        _check_complete(given, ModelEntry, where, {"name", "known", "cache_lifetime", "size_factor", "long_prompt"})
    try:
        return replace(base, name=name, known=known, **given) if base else ModelEntry(name=name, known=known, **given)
    except ModelTableError as error:
        raise ModelTableError(f"{source}: {error}") from error


def _long_prompt(values: object, where: str) -> LongPrompt:
    where = f"{where}.long_prompt"
    if not isinstance(values, dict):
        raise ModelTableError(f"{where} = {values!r} is not a table; give 'above' and the five prices")
    _check_keys(values, {f.name for f in fields(LongPrompt)}, where)
    _check_complete(values, LongPrompt, where, set())
    return LongPrompt(**values)


def _table(raw: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = raw.get(key, {})
    if not isinstance(value, dict):
        raise ModelTableError(f"{where}: {key} = {value!r} is not a table; write [{key}]")
    return value


def _fields(values: object, where: str, extra: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise ModelTableError(f"{where} = {values!r} is not a table; give fields such as window = 200000")
    allowed = {f.name for f in fields(ModelEntry)} - {"name", "known"}
    _check_keys(values, allowed | (extra or set()), where)
    return dict(values)


def _check_keys(values: Mapping[str, Any], allowed: set[str], where: str) -> None:
    for key in values.keys() - allowed:
        raise ModelTableError(
            f"{where}: unknown key {key!r} = {values[key]!r}; known keys: {', '.join(sorted(allowed))}"
        )


def _check_complete(values: Mapping[str, Any], kind: type[Prices], where: str, optional: set[str]) -> None:
    missing = {f.name for f in fields(kind)} - values.keys() - optional
    if missing:
        raise ModelTableError(f'{where} lacks {", ".join(sorted(missing))}; give them, or like = "a listed model"')


def _check_entry(entry: ModelEntry) -> None:
    for key in _COUNTS:
        value = getattr(entry, key)
        _require(type(value) is int and value > 0, entry, key, value, "a whole number above 0")
    for key in _FLAGS:
        _require(type(getattr(entry, key)) is bool, entry, key, getattr(entry, key), "true or false")
    for key, choices in _CHOICES.items():
        _require(getattr(entry, key) in choices, entry, key, getattr(entry, key), f"one of {', '.join(choices)}")
    factor = entry.size_factor
    _require(type(factor) in (int, float) and 0.5 <= factor <= 5, entry, "size_factor", factor, "from 0.5 to 5")
    _require(type(entry.as_of) is date, entry, "as_of", entry.as_of, "a date such as 2026-11-01")
    _require(entry.max_output <= entry.window, entry, "max_output", entry.max_output, f"within {entry.window}")
    _check_prices(entry, entry, "")
    if entry.long_prompt is not None:
        above = entry.long_prompt.above
        _require(type(above) is int and above > 0, entry, "long_prompt.above", above, "a whole number above 0")
        _check_prices(entry, entry.long_prompt, "long_prompt.")


def _check_prices(entry: ModelEntry, prices: Prices, prefix: str) -> None:
    for key in _PRICES:
        value = getattr(prices, key)
        fits = type(value) in (int, float) and 0 <= value < float("inf")
        _require(fits, entry, prefix + key, value, "dollars per million tokens, 0 or more")


def _require(fits: bool, entry: ModelEntry, key: str, value: object, rule: str) -> None:
    if not fits:
        raise ModelTableError(f"{key} = {value!r} of model {entry.name!r} must be {rule}; correct it there")
