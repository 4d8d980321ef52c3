"""Takes out of a text what no summariser, index or description may read: secrets and encoded data.

Law: a text is cleaned whole, or cut only at a distance from what is kept, and only then shortened, so that no half of
a secret stays behind at a cut.  What is taken out is said in its place.  It errs towards taking out: the stored turn
is untouched, and what was hidden can be read there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from contextmgr.sources.secrets import REDACTED, without_secrets

MIN_ENCODED = 100
"""Characters from which any run of base64 or hex, wrapped or not, counts as encoded data."""
WIDE = 24 * 1024
"""Characters looked at from each end of a text of which only the ends are kept."""
_MARGIN = 400  # characters next to a cut that are not kept: they may be the rest of something
_MIN_RUN = 56  # characters: lines of wrapped base64 are longer, identifiers and 40-digit hashes shorter

_RUN = r"[A-Za-z0-9+/_=-]"
_BREAK = r"(?:\\/|(?:\\r)?\\n|\r?\n[ \t>+|]{0,8})"
_ENCODED = re.compile(
    rf"{_RUN}{{{_MIN_RUN},}}+(?:{_BREAK}{_RUN}{{{_MIN_RUN},}}+)*+(?:{_BREAK}(?=[\w/-]{{0,80}}[\d+/=]){_RUN}{{2,80}}+)?"
)
_DATA_URI = re.compile(r"(;base64,)([A-Za-z0-9+/_=%\\\s-]{16,})")
_PARTS = re.compile(r"[^A-Za-z0-9+]+")
_JUMPS = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_UNBROKEN = 40  # characters without / - _: longer than words get
_JUMPY = 0.35  # changes between small, capital and digit per character: identifiers and paths stay below 0.25

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|[@-Z\\-_])")


def cleaned(text: str) -> str:
    """A text without secrets (keys, tokens, passwords, private keys), encoded data and terminal colours.

    Secrets become `REDACTED`; a run of base64 or hex of `MIN_ENCODED` characters or more, and a shorter one that
    mixes small letters, capitals and digits as only data does, becomes a note of its length.
    """
    text = _ANSI.sub("", text) if "\x1b" in text else text
    return without_encoded(without_secrets(text))


def is_clean(text: str) -> bool:
    """Whether `cleaned` would leave a text as it is."""
    return cleaned(text) == text


def ends(text: str, limit: int, note: Callable[[int, int], str]) -> str:
    """A cleaned text within ``limit`` characters: whole, or its head and tail around ``note(left out, all)``.

    Of a long text only the ends are looked at, so the cost does not grow with it.
    """
    if len(text) <= 2 * WIDE + limit:
        head = tail = cleaned(text)
        if len(head) <= limit:
            return head
    else:
        head, tail = cleaned(text[: WIDE + limit])[:-_MARGIN], cleaned(text[-WIDE - limit :])[_MARGIN:]
    line = f"\n{note(max(0, len(text) - limit), len(text))}\n"
    room = limit - len(line)
    if room <= 0:
        return line.strip()[:limit]
    first = min(len(head), room * 3 // 5)
    return f"{head[:first]}{line}{tail[max(0, len(tail) - (room - first)) :]}"


def without_encoded(text: str) -> str:
    """A note of its length in place of every long run of base64 or hex."""
    if ";base64," in text:
        text = _DATA_URI.sub(lambda m: f"{m[1]}{_note(len(m[2]))}", text)
    return _ENCODED.sub(lambda m: _note(len(m[0])) if _looks_encoded(m[0]) else m[0], text)


def _note(size: int) -> str:
    return f"[… {size:,} characters of encoded data]"


def _looks_encoded(run: str) -> bool:
    """Whether a run is data: an unbroken stretch longer than words get, or case and digits changing all the time."""
    jumpy = len(_JUMPS.findall(run)) >= _JUMPY * len(run)
    if len(run) < MIN_ENCODED:
        return jumpy and not run.islower() and not run.isupper()
    return jumpy or max(map(len, _PARTS.split(run))) >= _UNBROKEN


__all__ = ["MIN_ENCODED", "REDACTED", "WIDE", "cleaned", "ends", "is_clean", "without_encoded", "without_secrets"]
