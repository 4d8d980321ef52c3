"""What content weighs: features of texts, blocks, messages and heads, counted once, on write.

A text's cl100k tokens are split into classes that Claude's tokenizers price differently, by counting kinds of
characters and of neighbours:

    prose     letters of words, as far as the words are longer than a tokenizer keeps whole; capitals
    code      joints inside identifiers and paths: case changes, underscores, signs before letters, line ends
    numeric   the rest of Latin text: digits, white space, signs, and what of the words costs one for one
    nonlatin  scripts other than Latin, emoji

The shares below and `calibration.PRIORS` were fitted together, for both tokenizer families at once, on recorded
coding sessions, chats and two dozen languages: the error is about 5 % for a page, less for a whole request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from contextmgr import media
from contextmgr.calibration import Calibration
from contextmgr.characters import Characters, characters, run_tokens
from contextmgr.features import ZERO, Features, total

__all__ = [
    "Calibration",
    "Count",
    "block_features",
    "blocks_features",
    "head_features",
    "message_frame",
    "text_features",
]

Count = Callable[[str], int]
"""Number of cl100k tokens of a text."""
Block = Mapping[str, Any]

# Tokens the API wraps around things, from recorded usage of Opus 4.5 (regressed over 1,500 calls).
MESSAGE_TOKENS = 3
CALL_TOKENS = 22
PARAMETER_TOKENS = 17
RESULT_TOKENS = 30
ERROR_TOKENS = 8
THINKING_TOKENS = 17
TEXT_TOKENS = 2
TOOL_TOKENS = 20
TOOL_USE_TOKENS = 700
"""What tools add to a system prompt: between about 350 and 700, by model."""
CHARS_PER_SEALED_TOKEN = 4
"""Base64 characters of a signature or of encrypted content for one token of what they seal."""
MAX_SEALED_TOKENS = media.MAX_IMAGE_TOKENS
"""Most that one opaque string of an unknown block may count: it may be a picture."""

_SEALED = re.compile(r"[A-Za-z0-9+/_=\-\r\n]{256,}")


def text_features(text: str, count: Count) -> Features:
    """Features of a text as it stands; ``count`` is called once, with all of it."""
    if not text:
        return ZERO
    tokens = count(text)
    found = characters(text)
    nonlatin = _nonlatin(found, tokens)
    latin = tokens - nonlatin
    code = round(min(max(_joints(found), 0), latin))
    prose = round(min(max(_letters(found), 0), latin - code))
    return Features(prose, code, latin - code - prose, nonlatin, run_tokens(text))


def blocks_features(blocks: Iterable[Block], count: Count) -> Features:
    """Sum of the blocks' features."""
    return total(block_features(block, count) for block in blocks)


def block_features(block: Block, count: Count) -> Features:
    """Features of one content block of any type; an unknown one by the size of its JSON.

    Images count by pixels, PDFs by pages, what is only referred to (url, file id) by a stated allowance,
    tool results with everything in them, thinking by its text (or by its signature, if the text is withheld).
    """
    weigh = _WEIGHERS.get(str(block.get("type")), _unknown)
    return weigh(block, count)


def message_frame(count: int) -> Features:
    """Frame of ``count`` messages: what the API puts around each, in tokens."""
    return Features(fixed=MESSAGE_TOKENS * count)


def head_features(system: object, tools: Sequence[Mapping[str, Any]], count: Count) -> Features:
    """Features of system prompt (a string, text blocks or None) and tool schemas, overhead of tools included."""
    parts = [_content(system, count)]
    parts += [text_features(_json(_bare(tool)), count).plus(Features(fixed=TOOL_TOKENS)) for tool in tools]
    if tools:
        parts.append(Features(fixed=TOOL_USE_TOKENS))
    return total(parts)


def _nonlatin(found: Characters, tokens: int) -> int:
    """Tokens of other scripts: the share that their characters would have at usual tokens per character."""
    other = 1.2 * found.three_byte + 0.67 * found.two_byte + 6 * found.four_byte
    if not other:
        return 0
    latin = 0.22 * found.lower + 0.3 * (found.upper + found.digit) + 0.1 * found.sign + 0.5 * found.newline
    return round(tokens * other / (other + max(tokens - other, latin)))


def _joints(found: Characters) -> float:
    inside = 0.4 * found.humps + 0.51 * found.snakes + 0.6 * found.screams + 0.21 * found.glued
    return inside + 0.19 * found.sign - 0.3 * found.signs + 0.18 * found.newline + 0.12 * found.symbol


def _letters(found: Characters) -> float:
    small = 0.136 * found.lower - 0.284 * found.words - 0.49 * found.snakes - 0.052 * found.glued
    return small + 0.233 * found.upper + 0.228 * found.capitals


def _text(block: Block, count: Count) -> Features:
    return _words(block.get("text"), count).plus(Features(fixed=TEXT_TOKENS))


def _call(block: Block, count: Count) -> Features:
    given = block.get("input")
    if not isinstance(given, Mapping):
        given = {"": given}
    texts = [_words(block.get("name"), count)]
    for key, value in given.items():
        texts += [text_features(str(key), count), _words(value, count)]
    return total(texts).plus(Features(fixed=CALL_TOKENS + PARAMETER_TOKENS * len(given)))


def _result(block: Block, count: Count) -> Features:
    fixed = RESULT_TOKENS + (ERROR_TOKENS if block.get("is_error") else 0)
    return _content(block.get("content"), count).plus(Features(fixed=fixed))


def _image(block: Block, _count: Count) -> Features:
    source = _source(block)
    tokens = media.image_tokens(source.get("data")) if "data" in source else media.URL_IMAGE_TOKENS
    return Features(fixed=tokens)


def _document(block: Block, count: Count) -> Features:
    source = _source(block)
    named = total(_words(block[name], count) for name in ("title", "context") if block.get(name))
    kind = source.get("type")
    if kind == "text":
        body = _words(source.get("data"), count)
    elif kind == "content":
        body = _content(source.get("content"), count)
    else:
        body = Features(fixed=media.pdf_tokens(source["data"]) if "data" in source else media.URL_DOCUMENT_TOKENS)
    return body.plus(named).plus(Features(fixed=TOOL_TOKENS))


def _thinking(block: Block, count: Count) -> Features:
    text = block.get("thinking")
    if isinstance(text, str) and text:
        return text_features(text, count).plus(Features(fixed=THINKING_TOKENS))
    sealed = block.get("data") or block.get("signature")
    hidden = len(sealed) // CHARS_PER_SEALED_TOKEN if isinstance(sealed, str) else 0
    return Features(fixed=THINKING_TOKENS + hidden)


def _search_result(block: Block, count: Count) -> Features:
    named = total(_words(block.get(name), count) for name in ("source", "title") if block.get(name))
    return _content(block.get("content"), count).plus(named).plus(Features(fixed=TOOL_TOKENS))


def _sealed_result(block: Block, _count: Count) -> Features:
    """A server tool's result, partly encrypted: what is sealed was text and has no limit."""
    return _opaque(block, 2**31)


def _unknown(block: Block, _count: Count) -> Features:
    return _opaque(block, MAX_SEALED_TOKENS)


def _opaque(block: Block, limit: int) -> Features:
    """Half a token per byte of JSON; long base64 strings by the rate of sealed text, each up to ``limit``."""
    text = _json(_bare(block))
    sealed = [len(match.group()) for match in _SEALED.finditer(text)]
    plain = len(text.encode("utf-8", "surrogatepass")) - sum(sealed)
    return Features(fixed=plain // 2 + 1 + sum(min(limit, n // CHARS_PER_SEALED_TOKEN + 1) for n in sealed))


def _content(content: object, count: Count) -> Features:
    """A string, a list of blocks, or nothing."""
    if isinstance(content, Mapping):
        return block_features(content, count)
    if isinstance(content, Iterable) and not isinstance(content, str | bytes):
        return total(
            block_features(part, count) if isinstance(part, Mapping) else _words(part, count) for part in content
        )
    return ZERO if content is None else _words(content, count)


def _words(value: object, count: Count) -> Features:
    return text_features(value if isinstance(value, str) else _json(value), count)


def _source(block: Block) -> Mapping[str, Any]:
    source = block.get("source")
    return source if isinstance(source, Mapping) else {}


def _bare(value: Block) -> dict[str, Any]:
    return {key: part for key, part in value.items() if key != "cache_control"}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_WEIGHERS: dict[str, Callable[[Block, Count], Features]] = {
    "text": _text,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
    "mcp_tool_result": _result,
    "image": _image,
    "document": _document,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "search_result": _search_result,
    "web_search_tool_result": _sealed_result,
    "web_fetch_tool_result": _sealed_result,
    "code_execution_tool_result": _sealed_result,
    "bash_code_execution_tool_result": _sealed_result,
    "text_editor_code_execution_tool_result": _sealed_result,
    "tool_search_tool_result": _sealed_result,
    "compaction": _sealed_result,
}
