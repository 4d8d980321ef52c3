"""Extraction: lasting facts that users state, taken from their own words, checked, and kept with turn and quote.

Law: what came in as evidence, from a recall tool, or out of a model is never a source; so nothing that is remembered
can make itself true by being shown.
"""

from __future__ import annotations

from contextmgr.extraction.extracting import Extractor
from contextmgr.extraction.progress import KIND, is_bookmark
from contextmgr.extraction.proposals import EXTRACT_SCHEMA

__all__ = ["EXTRACT_SCHEMA", "KIND", "Extractor", "is_bookmark"]
