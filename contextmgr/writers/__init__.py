"""The seam to a model that writes: a prompt and a JSON schema go in, an answer that fits the schema comes out.

Law: an answer that is late, cut off, empty or not what was asked for is an error with a reason, never an answer; so
nothing that was there before is replaced by it.
"""

from __future__ import annotations

from contextmgr.writers.anthropic_writer import AnthropicWriter
from contextmgr.writers.calling import MAX_ABANDONED, abandoned_calls, call_writer
from contextmgr.writers.failures import Reason, WriterError, failure_of
from contextmgr.writers.seam import Answer, Writer, writer_name
from contextmgr.writers.summary import SUMMARY_SCHEMA, items_of, summary_values

__all__ = [
    "MAX_ABANDONED",
    "SUMMARY_SCHEMA",
    "Answer",
    "AnthropicWriter",
    "Reason",
    "Writer",
    "WriterError",
    "abandoned_calls",
    "call_writer",
    "failure_of",
    "items_of",
    "summary_values",
    "writer_name",
]
