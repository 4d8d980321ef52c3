"""Recorded sessions become conversations of a store, again and again: each time only what is new is added."""

from __future__ import annotations

from contextmgr.importing.comparing import Piece, beyond
from contextmgr.importing.recordings import Found, files_in, read_file
from contextmgr.importing.storing import Import, Imported, Outcome

__all__ = ["Found", "Import", "Imported", "Outcome", "Piece", "beyond", "files_in", "read_file"]
