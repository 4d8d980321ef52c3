"""JSON as stored and hashed: ASCII-escaped, compact, key order kept, so bytes come back exactly."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_REPLACEMENT = "\ufffd"
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
_encode_sorted = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def dumps(value: Any) -> str:
    """Return ``value`` as ASCII JSON text.  Raises ``ValueError`` or ``TypeError`` for what JSON cannot hold."""
    return _encode(value)


def loads(text: str) -> Any:
    """Read JSON text back."""
    return json.loads(text)


def canonical(value: Any) -> str:
    """JSON text that is equal for values that are equal: object keys sorted."""
    return _encode_sorted(value)


def sha256(text: str) -> str:
    """Hex digest of a text's UTF-8 bytes; lone surrogates are hashed as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_sendable(text: str) -> bool:
    """Whether a string can be sent exactly as it is: no NUL and no lone surrogate."""
    if "\x00" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def sendable(text: str) -> str:
    """The nearest text that can be sent: adjacent surrogates are joined, lone ones and NUL become U+FFFD."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", _REPLACEMENT)


def sendable_value(value: Any) -> Any:
    """`sendable` applied to every string of a JSON value, keys included; returns a new value."""
    if isinstance(value, str):
        return value if is_sendable(value) else sendable(value)
    if isinstance(value, dict):
        return {sendable_value(k): sendable_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [sendable_value(v) for v in value]
    return value


def is_sendable_value(text: str) -> bool:
    """Whether the JSON text of a value holds only strings that can be sent: a quick look at its escapes."""
    return "\\u0000" not in text and ("\\ud" not in text or is_sendable(_strings(loads(text))))


def _strings(value: Any) -> str:
    if isinstance(value, str):
        return value + " "
    if isinstance(value, dict):
        return "".join(_strings(k) + _strings(v) for k, v in value.items())
    if isinstance(value, list):
        return "".join(map(_strings, value))
    return ""
