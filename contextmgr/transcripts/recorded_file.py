"""A recorded file as JSON values: opened plain or gzipped, told apart by content, broken lines counted."""

from __future__ import annotations

import codecs
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from contextmgr.errors import TranscriptError

MAX_FILE_BYTES = 2**30
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_CHUNK = 2**20
_ENDINGS = (".gz", ".jsonl", ".ndjson", ".json", ".traj")


class Record(NamedTuple):
    """One JSON value of a file and its line number, counted from 0."""

    line: int
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """The JSON values of one file.

    ``is_document`` says that the file is one JSON value; else it is JSON Lines and ``broken`` counts the lines, and a
    cut-off end of the compressed data, that could not be read.
    """

    file: str
    records: tuple[Record, ...]
    is_document: bool = False
    broken: int = 0


def stem(file: str) -> str:
    """A file's name without the endings of recordings."""
    name = Path(file).name
    while name.endswith(_ENDINGS):
        name = name[: name.rindex(".")]
    return name or "session"


def open_recorded(path: Path) -> RecordedFile:
    """Read a file.  Raises `TranscriptError` when it cannot be opened, is too large, or holds no JSON."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path}: cannot be read ({error.strerror or error}); give an existing file") from error
    is_cut = False
    if data.startswith(_GZIP):
        data, is_cut = _unzip(path, data)
    _check_size(path, len(data))
    return parse(str(path), decode(data), broken=int(is_cut))


def decode(data: bytes) -> str:
    """Text of a file: UTF-8, or UTF-16 when it begins with that mark; bytes that fit neither become U+FFFD."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")


def parse(file: str, content: str, *, broken: int = 0) -> RecordedFile:
    """The JSON values of a text: one document, or one value per line.  Raises `TranscriptError` if there is none."""
    try:
        return RecordedFile(file=file, records=(Record(0, _loads(content)),), is_document=True, broken=broken)
    except (ValueError, RecursionError):
        pass  # not one JSON value: lines, or nothing
    records = []
    for number, line in enumerate(content.split("\n")):
        if not line.strip():
            continue
        try:
            records.append(Record(number, _loads(line)))
        except (ValueError, RecursionError):
            broken += 1
    if not records:
        raise TranscriptError(
            f"{file}: holds no JSON, tried as one document and as JSON Lines ({broken} unreadable lines); "
            "give a recorded session as JSON, JSON Lines or either gzipped"
        )
    return RecordedFile(file=file, records=tuple(records), broken=broken)


def _loads(line: str) -> Any:
    """JSON with NaN and the infinities, which the API does not take, as their names."""
    return json.loads(line, parse_constant=str)


def _unzip(path: Path, data: bytes) -> tuple[bytes, bool]:
    """The unpacked data, member by member, and whether its end was missing or damaged."""
    unpacked = bytearray()
    is_whole = False
    try:
        while data.startswith(_GZIP):
            member = zlib.decompressobj(wbits=_GZIP_WINDOW)
            while data and not member.eof:
                unpacked += member.decompress(data, _CHUNK)
                data = member.unconsumed_tail
                _check_size(path, len(unpacked))
            unpacked += member.flush()
            is_whole, data = member.eof, member.unused_data
    except zlib.error:
        is_whole = False
    if not unpacked:
        raise TranscriptError(f"{path}: gzip that holds nothing or cannot be unpacked; give an undamaged file")
    return bytes(unpacked), not is_whole


def _check_size(path: Path, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise TranscriptError(f"{path}: more than {MAX_FILE_BYTES} bytes unpacked, the limit; split it by conversation")
