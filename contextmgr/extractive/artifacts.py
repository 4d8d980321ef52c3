"""Files that tool calls wrote or edited: one item each, made from the calls and not from what was said of them.

The text is derived, yet checkable: the path stands in the arguments of a call of every turn that is cited, and only
calls that came back without an error count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from contextmgr import jsontext
from contextmgr.sources.cleaning import is_clean
from contextmgr.summaries import Item, ItemKind
from contextmgr.turns import Block, Turn

MAX_CITED = 8
"""Turns cited for one file: the newest."""
_MAX_PATH = 260  # characters

_PATH_KEYS = (
    *("file_path", "path", "notebook_path", "filepath", "filename", "file_name", "target_file", "file"),
    "relative_path",
)
_VERBS: tuple[tuple[str, str], ...] = (
    (r"delete|remove|unlink", "deleted"),
    (r"multi_?edit|edit|replace|insert|patch|update|append|modify|undo", "edited"),
    (r"write|create|save|new_?file", "written"),
)
_COMMANDS = {"create": "written", "write": "written", "str_replace": "edited", "insert": "edited", "edit": "edited"}
_READING = frozenset({"view", "read", "open", "list", "show", "cat"})
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (\S[^\r\n]*?)\s*$", re.MULTILINE)
_PATCH_VERBS = {"Add": "written", "Update": "edited", "Delete": "deleted"}
_ORDER = ("written", "edited", "deleted")


class Change(NamedTuple):
    """One call's change to one file; ``verb`` is "written", "edited" or "deleted"."""

    path: str
    verb: str


def artifacts(turns: Sequence[Turn]) -> list[Item]:
    """One item per file that was changed, files changed last first; the newest `MAX_CITED` turns are cited."""
    found: dict[str, dict[int, set[str]]] = {}
    for turn in turns:
        for change in changes(turn):
            by_turn = found.pop(change.path, {})
            by_turn.setdefault(turn.number, set()).add(change.verb)
            found[change.path] = by_turn
    return [_item(path, by_turn) for path, by_turn in reversed(found.items())]


def changes(turn: Turn) -> Iterator[Change]:
    """Files changed by the calls of a turn that came back without an error."""
    in_place = turn.in_place
    for position, call in enumerate(turn.calls):
        if position in in_place and not in_place[position].is_error:
            yield from (c for c in _of_call(call) if _is_quotable(c.path))


def _item(path: str, by_turn: Mapping[int, set[str]]) -> Item:
    cited = tuple(by_turn)[-MAX_CITED:]
    verbs = {verb for number in cited for verb in by_turn[number]}
    done = " and ".join(verb for verb in _ORDER if verb in verbs)
    return Item(text=f"File {path} was {done}.", kind=ItemKind.ARTIFACT, turns=cited)


def _of_call(call: Block) -> Iterator[Change]:
    given = call.get("input")
    if not isinstance(given, Mapping):
        return
    patched = [m for value in given.values() for text in _texts(value) for m in _PATCHED.finditer(text)]
    if patched:
        yield from (Change(m[2], _PATCH_VERBS[m[1]]) for m in patched)
        return
    path = next((given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)), None)
    verb = _verb(str(call.get("name")), given)
    if path is not None and verb is not None:
        yield Change(path, verb)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (part for part in value if isinstance(part, str))


def _verb(name: str, given: Mapping[str, object]) -> str | None:
    command = given.get("command")
    if isinstance(command, str) and (command in _COMMANDS or command in _READING):
        return _COMMANDS.get(command)
    small = name.lower()
    return next((verb for pattern, verb in _VERBS if re.search(pattern, small)), None)


def _is_quotable(path: str) -> bool:
    plain = 0 < len(path.strip()) == len(path) <= _MAX_PATH and path.isprintable()
    return plain and jsontext.is_sendable(path) and is_clean(path)
