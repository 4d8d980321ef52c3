"""Pictures by pixels, PDF files by pages, both from their bytes."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.media import (
    BYTES_PER_PAGE,
    MAX_IMAGE_TOKENS,
    MAX_PAGES,
    PAGE_TOKENS,
    Pixels,
    image_size,
    image_tokens,
    pdf_pages,
    pdf_tokens,
    pixel_tokens,
)


def text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def png(width: int, height: int, payload: int = 0) -> bytes:
    header = struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + header + bytes(4) + bytes(payload)


def jpeg(width: int, height: int) -> bytes:
    extra = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14) + b"\xff\xff\xdb" + struct.pack(">H", 67) + bytes(65)
    return b"\xff\xd8" + extra + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(12)


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + body + bytes(16)


PICTURES = {
    "png": png(1600, 900),
    "gif": b"GIF89a" + struct.pack("<HH", 1600, 900) + bytes(3),
    "jpeg": jpeg(1600, 900),
    "webp lossy": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 1600, 900)),
    "webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 1599 | 899 << 14)),
    "webp extended": webp(b"VP8X", bytes(4) + (1599).to_bytes(3, "little") + (899).to_bytes(3, "little")),
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_pixels_are_read_from_the_header(picture: bytes) -> None:
    assert image_size(text(picture)) == Pixels(1600, 900)


def test_a_picture_costs_its_pixels() -> None:
    assert image_tokens(text(png(1600, 900))) == 1920


def test_bytes_do_not_matter() -> None:
    assert image_tokens(text(png(1600, 900, 1_000))) == image_tokens(text(png(1600, 900, 2_000_000)))


def test_large_pictures_are_scaled_down() -> None:
    assert pixel_tokens(Pixels(8000, 8000)) == MAX_IMAGE_TOKENS
    assert pixel_tokens(Pixels(25760, 100)) == pixel_tokens(Pixels(2576, 10))


@pytest.mark.parametrize("data", ["", "no base64 at all!", "ÄÖÜ", None, 7, text(b"GIF89a"), text(png(0, 0))])
def test_an_unreadable_picture_costs_the_most(data: object) -> None:
    assert image_tokens(data) == MAX_IMAGE_TOKENS


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF0000WEBP"])
)
def test_any_bytes_have_a_price(raw: bytes, magic: bytes) -> None:
    assert 1 <= image_tokens(text(magic + raw)) <= MAX_IMAGE_TOKENS


def test_pages_in_the_open() -> None:
    page = b"<< /Type /Page /Parent 1 0 R >>\n"
    assert pdf_pages(b"%PDF-1.4\n<< /Type /Pages /Count 2 >>\n" + 3 * page) == 3


def test_pages_declared_in_a_compressed_object_stream() -> None:
    packed = zlib.compress(b"<</Type/Pages/Count 12/Kids[]>> <</Type/Page>>")
    broken = b"<< /Type /ObjStm >> stream\nnot deflated endstream\n"
    assert pdf_pages(b"%PDF-1.7\n" + broken + b"<< /Type /ObjStm >>\nstream\r\n" + packed + b"endstream") == 12


def test_a_pdf_costs_its_pages_not_its_bytes() -> None:
    small = b"%PDF-1.4\n<< /Type /Pages /Count 2 >>\n"
    assert pdf_tokens(text(small)) == pdf_tokens(text(small + bytes(2_000_000))) == 2 * PAGE_TOKENS


def test_a_pdf_that_hides_its_pages_costs_by_size() -> None:
    assert pdf_tokens(text(b"%PDF" + bytes(3 * BYTES_PER_PAGE))) == 4 * PAGE_TOKENS
    assert pdf_tokens(text(b"<< /Count 999999 >>")) == MAX_PAGES * PAGE_TOKENS
    assert pdf_tokens(None) == PAGE_TOKENS
