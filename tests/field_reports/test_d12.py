"""D12: an image costs by its pixels, never by its base64, and stays where the question about it is."""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.report import Disposition
from contextmgr.summaries import SegmentStatus
from tests.compaction.driving import Scribe, material, summarising, talking
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
    opened,
    profile,
    prose,
    reply,
    result,
    results_in,
    text,
)
from tests.request_check import blocks_of

WIDTH, HEIGHT = 1_600, 900
COST = WIDTH * HEIGHT / 750
QUESTION = "What colour is the third bar?"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, size: int) -> str:
    """A valid grey PNG of about ``size`` bytes, as base64; noise in a private chunk makes up the size."""
    rows = zlib.compress(b"".join(b"\0" + b"\x80" * width for _ in range(height)))
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    noise = random.Random(7).randbytes(max(0, size - len(rows) - 100))
    return base64.b64encode(head + chunk(b"noIs", noise) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")).decode()


def pdf(pages: int, size: int) -> str:
    """A bare PDF of that many pages and about that many bytes, as base64."""
    body = b"".join(b"%d 0 obj\n<< /Type /Page /Parent 1 0 R >>\nendobj\n" % (i + 3) for i in range(pages))
    noise = base64.b85encode(random.Random(7).randbytes(size))
    return base64.b64encode(b"%PDF-1.7\n" + body + b"% " + noise + b"\n%%EOF\n").decode()


def image(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def document(data: str) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


def size_of(path: Path, *blocks: dict[str, Any]) -> int:
    """What a request of these blocks and the question counts, less the question's own share."""
    sizes = []
    for i, content in enumerate(([text(QUESTION)], [*blocks, text(QUESTION)])):
        with opened(path / f"{i}.db", 120_000) as chat:
            chat.add_user(content)
            sizes.append(ask(chat).report.tokens)
    return sizes[1] - sizes[0]


def test_d12_a_large_picture_in_a_new_chat_is_there_and_nothing_gives_way(tmp_path: Path) -> None:
    data = png(WIDTH, HEIGHT, 2_500_000)
    with opened(tmp_path / "a.db", 60_000) as chat:
        chat.add_user([image(data), text(QUESTION)])
        request = ask(chat)
        assert [b["type"] for _, b in blocks_of(request.params)] == ["image", "text"]
        assert request.params["messages"][0]["content"][0]["source"]["data"] == data  # type: ignore[index]
        assert [s.disposition for s in request.report.turns] == [Disposition.VERBATIM]
        assert COST / 2 <= request.report.tokens - request.report.tiers["system"] <= 2 * COST


@pytest.mark.parametrize(("width", "height"), [(1_600, 900), (200, 200), (40, 1_000), (4_000, 3_000), (1, 1)])
def test_d12_the_estimate_follows_the_pixels(tmp_path: Path, width: int, height: int) -> None:
    scale = min(1.0, 2_576 / max(width, height))
    cost = min(width * scale * height * scale / 750, 4_784)
    counted = size_of(tmp_path, image(png(width, height, 20_000)))
    assert max(1, cost / 2) <= counted <= 2 * cost + 20


def test_d12_the_same_picture_saved_twice_as_large_counts_the_same(tmp_path: Path) -> None:
    small, large = (size_of(tmp_path / str(n), image(png(WIDTH, HEIGHT, n))) for n in made(tmp_path, 300_000, 600_000))
    assert abs(large - small) <= 0.05 * small


def made(path: Path, *sizes: int) -> tuple[int, ...]:
    for size in sizes:
        (path / str(size)).mkdir()
    return sizes


@pytest.mark.parametrize("kind", ["image", "document"])
def test_d12_base64_is_never_counted_as_text(tmp_path: Path, kind: str) -> None:
    block = image(png(64, 64, 400_000)) if kind == "image" else document(pdf(2, 400_000))
    assert 0 < size_of(tmp_path, block) < 10_000


def test_d12_a_pdf_counts_by_its_pages(tmp_path: Path) -> None:
    made(tmp_path, 2, 8)
    two, eight = (size_of(tmp_path / str(n), document(pdf(n, 50_000))) for n in (2, 8))
    assert 3.5 <= eight / two <= 4.5


def show(chat: Conversation, i: int) -> AssembledRequest:
    """A tool returns a picture; gives the request that carries it."""
    chat.add_user(f"Draw chart {i}.")
    ask(chat)
    chat.add_reply(reply(call(f"tu_{i}", "run_job")))
    chat.add_tool_results([result(f"tu_{i}", [text(f"chart {i}"), image(png(800, 600, 3_000))])])
    return ask(chat)


def test_d12_pictures_from_tools_come_whole_and_give_way_as_placeholders(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(10_000, min_turns=4)) as chat:
        chat.add_user([image(png(WIDTH, HEIGHT, 40_000)), text(QUESTION)])
        ask(chat)
        chat.add_reply(reply(text("Green.")))
        masks = set()
        for i in range(8):
            request = show(chat, i)
            assert [p["type"] for p in results_in(request)[f"tu_{i}"]["content"]] == ["text", "image"]
            masks |= {b["content"] for b in results_in(request).values() if isinstance(b["content"], str)}
            chat.add_reply(reply(text(prose(60, f"Chart {i} is drawn."))))
            exchange(chat, f"Thanks, {i}.")
        assert request.report.epoch > 1
        assert all("stored in turn" in m and len(m) < 300 for m in masks)
        assert masks


def test_d12_the_picture_in_hand_stays_through_a_rollover_inside_the_exchange(tmp_path: Path) -> None:
    data = png(WIDTH, HEIGHT, 40_000)
    with opened(tmp_path / "a.db", profile(9_000, min_turns=2)) as chat:
        exchange(chat, "Hello.")
        chat.add_user([image(data), text(QUESTION)])
        for i in range(20):
            request = ask(chat)
            sent = [b for _, b in blocks_of(request.params) if b["type"] == "image"]
            assert [b["source"]["data"] for b in sent] == [data]
            chat.add_reply(reply(call(f"tu_{i}")))
            chat.add_tool_results([result(f"tu_{i}", prose(400))])
        assert request.report.epoch > 1


def test_d12_a_huge_result_cut_down_names_its_picture(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 20_000) as chat:
        chat.add_user("Draw it.")
        chat.add_reply(reply(call("tu_1", "run_job")))
        chat.add_tool_results([result("tu_1", [text(prose(9_000)), image(png(800, 600, 3_000))])])
        parts = results_in(ask(chat))["tu_1"]["content"]
        assert "image left out here; stored in turn 2" in parts[1]["text"]
        assert chat.history.turn(2).results[0].body["content"][1] == image(png(800, 600, 3_000))


def test_d12_an_image_in_a_format_the_api_refuses_is_named(tmp_path: Path) -> None:
    odd = {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "SUkqAAg="}}
    with opened(tmp_path / "a.db") as chat:
        chat.add_user([odd, text(QUESTION)])
        request = ask(chat)
        assert "image/tiff" in json.dumps(request.params["messages"])
        assert [b["type"] for _, b in blocks_of(request.params)] == ["text", "text"]
        assert chat.history.turn(1).blocks[0] == odd


def test_d12_a_summariser_reads_a_placeholder_with_the_turn_and_no_base64() -> None:
    """Through a forced compaction: a large picture, then 30 turns, 8 of them with pictures, and a PDF."""
    data, paper = png(WIDTH, HEIGHT, 2_500_000), pdf(3, 400_000)
    scribe = Scribe()
    with talking(scribe, budget=summarising(12_000)) as talk:
        talk.chat.add_user([image(data), text(QUESTION)])
        assert [t.disposition for t in ask(talk.chat).report.turns] == [Disposition.VERBATIM]
        talk.chat.add_reply(reply(text("The third bar is green.")))
        talk.chat.add_user([document(paper), text("And in this report?")])
        ask(talk.chat)
        talk.chat.add_reply(reply(text("Blue, on page 2.")))
        for i in range(8):
            talk.tool_step([text(f"chart {i}"), image(png(800, 600, 30_000))])
        while not any(s.covers(6) for s in talk.segments(SegmentStatus.ACTIVE)):
            talk.exchange()
        read = "\n".join(x["text"] for p in scribe.prompts for x in material(p))
        assert "[picture, turn 1; not shown here]" in read
        assert "[document, turn 3; not shown here]" in read
        assert "[picture, turn 6; not shown here]" in read
        assert not any(part in p for p in scribe.prompts for part in (data[:80], data[-80:], paper[:80], "iVBOR"))
        assert max(len(p) for p in scribe.prompts) < 60_000
