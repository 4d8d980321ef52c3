"""What pictures and PDF files cost: pixels and pages read from header bytes, never the length of the base64.

The API scales a picture down until its long edge and its tokens are within limits, then counts one token for
750 pixels.  The limits here are those of current models; older ones scale further down (1,568 pixels, about
1,600 tokens), so for them a large picture is counted too high, never too low.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

PIXELS_PER_TOKEN = 750
MAX_EDGE = 2576
"""Longest edge of a picture in pixels after the API has scaled it down."""
MAX_IMAGE_TOKENS = 4784
"""What the largest picture costs, and one whose size cannot be read."""
URL_IMAGE_TOKENS = 2800
"""Allowance for a picture that is only referred to (url, file id): a screen of 1,920 x 1,080 pixels."""
PAGE_TOKENS = 3000
"""Tokens of one PDF page: its picture and its text."""
BYTES_PER_PAGE = 50_000
"""Taken for a page where a PDF does not let its pages be counted."""
MAX_PAGES = 600
"""More pages than that the API refuses."""
URL_DOCUMENT_TOKENS = 12_000
"""Allowance for a document that is only referred to (url, file id): four pages."""

_HEADER_CHARS = 4 * 2**16
_MAX_INFLATED = 2**24
_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")
_PAGE_COUNT = re.compile(rb"/Count\s+(\d{1,6})")
_OBJECT_STREAM = re.compile(rb"/ObjStm.{0,400}?stream\r?\n", re.DOTALL)
_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


class Pixels(NamedTuple):
    """Size of a picture in pixels."""

    width: int
    height: int


def image_tokens(data: object) -> int:
    """Tokens of a picture given as base64 text (png, jpeg, gif, webp); the highest price if it cannot be read."""
    size = image_size(data)
    return MAX_IMAGE_TOKENS if size is None else pixel_tokens(size)


def pixel_tokens(size: Pixels) -> int:
    """Tokens of a picture of that many pixels, after scaling down; at least 1."""
    width, height = size
    scale = min(1.0, MAX_EDGE / max(width, height, 1))
    return max(1, min(MAX_IMAGE_TOKENS, math.ceil(width * scale * height * scale / PIXELS_PER_TOKEN)))


def image_size(data: object) -> Pixels | None:
    """Pixels of a picture given as base64 text, read from its first bytes; None if they do not say."""
    head = _decode(data, _HEADER_CHARS)
    for read in (_png, _gif, _webp, _jpeg):
        size = read(head)
        if size is not None and size.width > 0 and size.height > 0:
            return size
    return None


def pdf_tokens(data: object) -> int:
    """Tokens of a PDF given as base64 text: by its pages, or by its size where they cannot be counted."""
    raw = _decode(data)
    pages = pdf_pages(raw) or math.ceil(len(raw) / BYTES_PER_PAGE)
    return PAGE_TOKENS * min(max(pages, 1), MAX_PAGES)


def pdf_pages(raw: bytes) -> int:
    """Number of pages a PDF file declares or holds, whichever is more; 0 if neither can be read."""
    parts = [raw, *_object_streams(raw)] if b"/ObjStm" in raw else [raw]
    held = sum(len(_PAGE.findall(part)) for part in parts)
    declared = max((int(n) for part in parts for n in _PAGE_COUNT.findall(part)), default=0)
    return max(held, min(declared, MAX_PAGES))


def _object_streams(raw: bytes) -> Iterator[bytes]:
    room = _MAX_INFLATED
    for match in _OBJECT_STREAM.finditer(raw):
        inflate = zlib.decompressobj()
        try:
            text = inflate.decompress(raw[match.end() :], room)
        except zlib.error:
            continue
        yield text
        room -= len(text)
        if room <= 0:
            return


def _decode(data: object, chars: int | None = None) -> bytes:
    """Bytes of a base64 text, or of its first ``chars`` characters; empty if it is none."""
    text = data[:chars] if isinstance(data, str) else ""
    try:
        clean = "".join(text.split()).rstrip("=").encode("ascii")
        return base64.b64decode(clean[: len(clean) - (len(clean) % 4 == 1)] + b"===")
    except (UnicodeEncodeError, binascii.Error):
        return b""


def _png(head: bytes) -> Pixels | None:
    if head[:8] != b"\x89PNG\r\n\x1a\n" or len(head) < 24:
        return None
    return Pixels(*struct.unpack(">II", head[16:24]))


def _gif(head: bytes) -> Pixels | None:
    if head[:6] not in (b"GIF87a", b"GIF89a") or len(head) < 10:
        return None
    return Pixels(*struct.unpack("<HH", head[6:10]))


def _webp(head: bytes) -> Pixels | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP" or len(head) < 30:
        return None
    kind = head[12:16]
    if kind == b"VP8X":
        return Pixels(1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little"))
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return Pixels(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    width, height = struct.unpack("<HH", head[26:30])
    return Pixels(width & 0x3FFF, height & 0x3FFF)


def _jpeg(head: bytes) -> Pixels | None:
    if head[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return Pixels(width, height)
        if marker == 0xFF:  # fill byte
            at += 1
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None
