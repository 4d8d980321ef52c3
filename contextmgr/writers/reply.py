"""From what a writer returned to an answer that was checked, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from contextmgr import jsontext
from contextmgr.writers.failures import WriterError
from contextmgr.writers.schema import faults
from contextmgr.writers.seam import Answer

_FAULTS_SHOWN = 3


def parsed(text: str) -> Answer:
    """The JSON object that ``text`` is.  Raises `WriterError`: empty, not json, or schema when it is no object."""
    if not text.strip():
        raise WriterError("empty", "the answer has no text")
    try:
        value = jsontext.loads(text)
    except (ValueError, RecursionError) as error:
        raise WriterError("not json", f"{len(text)} characters cannot be read ({type(error).__name__})") from error
    if not isinstance(value, Mapping):
        raise WriterError("schema", f"the answer is {type(value).__name__}, not an object")
    return value


def checked(returned: object, schema: Mapping[str, Any]) -> Answer:
    """``returned`` as an answer that fits ``schema``.  Raises `WriterError`: empty, not json or schema."""
    if returned is None:
        raise WriterError("empty", "the writer returned None")
    answer = parsed(returned) if isinstance(returned, str) else returned
    found = list(islice(faults(answer, schema), _FAULTS_SHOWN))
    if found or not isinstance(answer, Mapping):
        raise WriterError("schema", "; ".join(found) or f"the answer is {type(answer).__name__}, not an object")
    return answer
