"""The head of a request: model, system, tools and thinking settings.

Law: a head equal in value is sent in the bytes it was first sent in; dict order and caller's cache marks do not
matter, so a reordered tool dict neither moves the cache nor starts an epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from contextmgr import jsontext
from contextmgr.errors import InputError


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the messages.  ``system`` is a list of text blocks (empty: none)."""

    model: str
    system: tuple[dict[str, Any], ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    thinking: dict[str, Any] | None = None

    def to_text(self) -> str:
        """JSON text that `Head.from_text` reads back byte-faithfully."""
        return jsontext.dumps([self.model, list(self.system), list(self.tools), self.thinking])

    @classmethod
    def from_text(cls, text: str) -> Head:
        """The head that `to_text` wrote."""
        model, system, tools, thinking = jsontext.loads(text)
        return cls(model, tuple(system), tuple(tools), thinking)

    @property
    def value(self) -> str:
        """Text that is equal for heads that mean the same."""
        tools = sorted(map(jsontext.canonical, self.tools))
        return jsontext.canonical([self.model, list(self.system), tools, self.thinking])

    @property
    def tool_names(self) -> frozenset[str]:
        """Names of the tools."""
        return frozenset(str(t.get("name", "")) for t in self.tools)

    @property
    def thinks(self) -> bool:
        """Whether thinking is switched on."""
        return self.thinking is not None and self.thinking.get("type") != "disabled"


def make_head(
    model: object,
    system: str | Iterable[Mapping[str, Any]] | None,
    tools: Iterable[Mapping[str, Any]],
    thinking: Mapping[str, Any] | None,
) -> Head:
    """A head from the arguments of ``assemble()``.  Raises `InputError` for what cannot be sent."""
    if not isinstance(model, str) or not model.strip():
        raise InputError(f"model must be a model name, not {model!r}")
    head = Head(model, _system(system), tuple(_dicts("tools", tools)), dict(thinking) if thinking else None)
    try:
        text = head.to_text()
    except (TypeError, ValueError) as error:
        raise InputError(f"system, tools and thinking must be JSON: {error}") from error
    if not jsontext.is_sendable_value(text):
        raise InputError("system or tools hold a NUL or a lone surrogate; they could not be sent as they are")
    if "\\ud" in text:
        head = Head.from_text(text)  # halves of a pair that Python kept apart are one character now
    names = [str(t.get("name", t.get("type"))) for t in head.tools]
    doubled = sorted({n for n in names if names.count(n) > 1})
    if doubled:
        raise InputError(f"tool names must be unique; {', '.join(doubled)} stand more than once")
    return head


def _system(system: str | Iterable[Mapping[str, Any]] | None) -> tuple[dict[str, Any], ...]:
    if system is None:
        return ()
    if isinstance(system, str):
        return ({"type": "text", "text": system},) if system.strip() else ()
    blocks = _dicts("system", system)
    for block in blocks:
        if block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise InputError(f"system must be a string or text blocks, not {str(block)[:80]!r}")
    return tuple(b for b in blocks if b["text"].strip())


def _dicts(name: str, values: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    out = []
    for value in values:
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must hold dicts, not {value!r}")
        out.append({k: v for k, v in value.items() if k != "cache_control"})
    return out
