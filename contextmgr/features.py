"""What a piece of content weighs before a model is known: token counts per class, computed once, on write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Features(NamedTuple):
    """cl100k tokens per content class, plus what is known in model tokens already.

    ``prose``, ``code``, ``numeric`` and ``nonlatin`` split the text's cl100k tokens by class; ``runs`` is an
    allowance for long single-character runs, which cl100k packs and Claude does not; ``fixed`` is in model
    tokens (images by pixels, PDF pages, unknown blocks by size, frames of messages and tools).
    """

    prose: int = 0
    code: int = 0
    numeric: int = 0
    nonlatin: int = 0
    runs: int = 0
    fixed: int = 0

    def plus(self, other: Features) -> Features:
        """Element by element sum."""
        return Features(*map(int.__add__, self, other))

    def minus(self, other: Features) -> Features:
        """Element by element difference; may be negative where the other is larger."""
        return Features(*map(int.__sub__, self, other))


ZERO = Features()


def total(parts: Iterable[Features]) -> Features:
    """Sum of many."""
    columns = list(zip(*parts, strict=True))
    return Features(*map(sum, columns)) if columns else ZERO
