"""Spans around assembling, retrieving, summarising and extracting: numbers and ids, nothing that anyone said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from contextmgr import BudgetError, Manager
from contextmgr.telemetry import span

MODEL = "claude-sonnet-5-5"
SECRET = "blue heron"


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {s.name: s for s in spans.get_finished_spans()}


def test_every_slow_step_has_a_span_with_its_numbers(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    with Manager(tmp_path / "a.db", profile=3_000, summarizer="extractive", background=False) as manager:
        chat = manager.conversation("c", tenant="t")
        for number in range(60):
            chat.add_user(f"My {SECRET} number {number} is {number}. " + "word " * 30)
            request = chat.assemble(model=MODEL, max_tokens=100)
            chat.add_reply({"role": "assistant", "content": [{"type": "text", "text": f"The {SECRET}. " * 9}]})
            manager.flush()
        chat.close()
        manager.flush()
    found = named(spans)
    assert {f"contextmgr.{n}" for n in ("assemble", "retrieve", "summarise", "extract")} <= set(found)
    last = found["contextmgr.assemble"].attributes
    assert last is not None
    assert last["contextmgr.tokens"] == request.report.tokens
    assert last["contextmgr.cost_usd"] == request.report.cost
    assert last["gen_ai.request.model"] == MODEL
    assert SECRET not in "".join(s.to_json() for s in spans.get_finished_spans())


def test_an_error_is_named_by_its_type_alone(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    with Manager(tmp_path / "a.db", profile=1_000) as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user(f"{SECRET} " * 2_000)
        with pytest.raises(BudgetError):
            chat.assemble(model=MODEL, max_tokens=100)
    (failed,) = spans.get_finished_spans()
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "BudgetError"
    assert not failed.status.is_ok
    assert SECRET not in failed.to_json()


def test_nothing_is_recorded_without_the_package(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextmgr.telemetry._tracer", lambda: None)
    with span("assemble", {}) as under_way:
        under_way.set({"contextmgr.tokens": 1})
    assert spans.get_finished_spans() == ()
