"""Requests written to files, so that anyone can check them with a validator of their own."""

from __future__ import annotations

import json
from pathlib import Path

from contextmgr.assembly import AssembledRequest
from contextmgr.transcripts import Session
from contextmgr.transcripts.recorded_file import stem


class Dump:
    """Writes requests to ``folder/<file stem>-<conversation>/<number>.json``, UTF-8 JSON of what would be sent.

    Files of one name from different folders get a number: ``session~2-0``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}

    def folder_of(self, session: Session) -> Path:
        """The folder of one conversation's requests, made if it is not there.  Raises `OSError`."""
        name = self._names.get(session.file)
        if name is None:
            base, k = stem(session.file), 2
            name = base
            while name in self._names.values():
                name, k = f"{base}~{k}", k + 1
            self._names[session.file] = name
        folder = self._folder / f"{name}-{session.index}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(self, session: Session, request: AssembledRequest) -> None:
        """Write one request.  Raises `OSError`."""
        text = json.dumps(request.params, ensure_ascii=False, allow_nan=False)
        (self.folder_of(session) / f"{request.number:05}.json").write_text(text, encoding="utf-8")
