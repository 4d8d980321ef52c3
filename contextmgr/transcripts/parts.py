"""Content of chat formats other than Anthropic's, as Anthropic blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.fields import items, mapping, text
from contextmgr.turns import Block

MEDIA_TYPES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_TEXT_TYPES = frozenset({"input_text", "output_text", "summary_text", "text"})
_DATA_URL = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,(.+)", re.DOTALL)


def blocks_of(content: object) -> list[object]:
    """Blocks of a string or of a list of parts; a part that has no counterpart stays as it is.

    Empty texts are left out.  Parts: text under its several names, refusal, image by URL or as base64.
    """
    parts = [content] if isinstance(content, (str, Mapping)) else items(content)
    return [block for part in parts for block in _block(part)]


def result_content(content: object) -> object:
    """The same as a tool result's content: a string where it is one text, else blocks."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    blocks = [b for b in map(mapping, blocks_of(content)) if b.get("type") in ("text", "image")]
    if all(b["type"] == "text" for b in blocks):
        return "\n".join(str(b.get("text")) for b in blocks)
    return blocks


def plain(content: object) -> str:
    """The texts of a content, joined by blank lines."""
    blocks = map(mapping, blocks_of(content))
    return "\n\n".join(str(b["text"]) for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str))


def arguments(value: object) -> dict[str, Any]:
    """A call's input: an object, or JSON text of one; anything else stands under ``_raw``."""
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=str) if value.strip() else {}
        except (ValueError, RecursionError):
            return {"_raw": value}
        value = value if isinstance(value, Mapping) else {"_raw": value}
    return dict(value) if isinstance(value, Mapping) else {} if value is None else {"_raw": value}


def _block(part: object) -> list[object]:
    if isinstance(part, str):
        return [{"type": "text", "text": part}] if part else []
    found = mapping(part)
    kind = found.get("type")
    if isinstance(kind, str) and kind in _TEXT_TYPES:
        return _block(found["text"]) if isinstance(found.get("text"), str) else [part]
    if kind == "refusal" and text(found.get("refusal")):
        return _block(found["refusal"])
    if kind in ("image_url", "input_image"):
        url = found.get("image_url")
        return [_image(mapping(url).get("url") if isinstance(url, Mapping) else url)]
    if kind == "image" and text(found.get("data")):
        return [_image(f"data:{found.get('mimeType')};base64,{found['data']}")]
    return [part]


def _image(url: object) -> Block | None:
    """An image block, or None (which is then dropped and counted) when it is none the API takes."""
    if not isinstance(url, str):
        return None
    match = _DATA_URL.fullmatch(url)
    if match and match[1] in MEDIA_TYPES:
        return {"type": "image", "source": {"type": "base64", "media_type": match[1], "data": match[2]}}
    if url.startswith(("https://", "http://")):
        return {"type": "image", "source": {"type": "url", "url": url}}
    return None
