"""OpenTelemetry spans around what takes time; nothing happens where opentelemetry-api is not installed.

Law: a span holds numbers, names of models and ids, never what anyone said: errors are named by their type alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Attribute = str | int | float | bool


class Span:
    """One span under way, or none."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def set(self, attributes: Mapping[str, Attribute]) -> None:
        """Add attributes."""
        if self._span is not None:
            self._span.set_attributes(attributes)


@contextmanager
def span(name: str, attributes: Mapping[str, Attribute]) -> Iterator[Span]:
    """A span called ``contextmgr.<name>`` around a block; an exception marks it as failed, by its type."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with tracer.start_as_current_span(
        f"contextmgr.{name}", attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as under_way:
        try:
            yield Span(under_way)
        except BaseException as error:
            from opentelemetry.trace import Status, StatusCode

            under_way.set_attribute("error.type", type(error).__name__)
            under_way.set_status(Status(StatusCode.ERROR))
            raise


def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("contextmgr")
