"""Values to rows and back.  Reading gives exactly what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from contextmgr import jsontext
from contextmgr.features import ZERO, Features
from contextmgr.heads import Head
from contextmgr.micros import from_micros, to_micros
from contextmgr.pins import Pin, PinKind, PinStatus
from contextmgr.scope import Scope, Visibility
from contextmgr.store.base import ConversationRecord
from contextmgr.tasks import TaskDocument
from contextmgr.turns import Status, ToolResult, Turn, Usage
from contextmgr.views import Anchor, Epoch, Form, Part, PrefaceBlock, RequestRecord, RowKind, ViewRow, Why

Row = Mapping[str, Any]
_loads = json.JSONDecoder().decode  # what a window is read with: json.loads looks at its options every time


@lru_cache(maxsize=4_096)
def conversation_key(scope: Scope, conversation: str) -> str:
    """The key of a conversation's rows: a digest over its whole scope, so no other scope can spell it."""
    text = jsontext.dumps([scope.tenant, scope.user, scope.project, conversation])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def features_text(*features: Features) -> str:
    """Feature vectors as text."""
    return ";".join(",".join(map(str, f)) for f in features)


@lru_cache(maxsize=16_384)
def read_features(text: str) -> tuple[Features, ...]:
    """The vectors that `features_text` wrote; `ZERO` where the text was blanked."""
    return tuple(Features(*map(int, part.split(","))) if part else ZERO for part in text.split(";"))


def turn_row(turn: Turn, key: str | None) -> dict[str, Any]:
    """A turn's row, without its results."""
    usage = turn.usage
    return {
        "n": turn.number,
        "role": turn.role,
        "author": turn.author,
        "status": turn.status.value,
        "stop_reason": turn.stop_reason,
        "body": jsontext.dumps(turn.blocks),
        "features": features_text(turn.features, turn.thinking_features),
        "sha256": turn.sha256,
        "sendable": int(turn.sendable),
        "model": turn.model,
        "usage": jsontext.dumps(_usage(usage)) if usage else None,
        "request_seq": turn.request,
        "idem_key": key,
        "withdrawn": turn.withdrawn,
        "metadata_": jsontext.dumps(turn.metadata) if turn.metadata else None,
        "said_at": to_micros(turn.said_at),
    }


def _usage(usage: Usage) -> list[int]:
    return [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens]


def _read_usage(text: str | None) -> Usage | None:
    if text is None:
        return None
    fresh, read, written, output = jsontext.loads(text)
    return Usage(input_tokens=fresh, cache_read_tokens=read, cache_write_tokens=written, output_tokens=output)


TURN_COLUMNS = (
    *("n", "role", "author", "status", "stop_reason", "body", "features", "sha256", "sendable", "model", "usage"),
    *("request_seq", "withdrawn", "metadata_", "said_at"),
)
"""What `read_turn` takes, in its order: a window is sixty turns, and names are looked up one by one."""
_STATUS = {status.value: status for status in Status}


def read_turn(row: Sequence[Any], results: tuple[ToolResult, ...]) -> Turn:
    """A turn from the `TURN_COLUMNS` of its row, and its results."""
    (number, role, author, status, stop_reason, body, features, sha256, sendable, model, usage) = row[:11]
    request, withdrawn, metadata, said_at = row[11:]
    own, thinking = (*read_features(features), ZERO)[:2]
    return Turn(
        number=number,
        role=role,
        author=author,
        blocks=tuple(_loads(body)),
        results=results,
        status=_STATUS[status],
        stop_reason=stop_reason,
        model=model,
        usage=_read_usage(usage),
        request=request,
        withdrawn=withdrawn,
        said_at=from_micros(said_at),
        metadata=jsontext.loads(metadata) if metadata else {},
        sendable=bool(sendable),
        sha256=sha256,
        features=own,
        thinking_features=thinking,
    )


def result_row(turn: int, order: int, result: ToolResult) -> dict[str, Any]:
    """A result's row; ``late`` is 0 in place, 1 late, 2 late and shown."""
    return {
        "n": turn,
        "ord": order,
        "call": result.call,
        "body": jsontext.dumps(result.body),
        "late": int(result.late),
        "sendable": int(result.sendable),
        "features": features_text(result.features),
        "sha256": result.sha256,
        "said_at": to_micros(result.said_at),
    }


def read_result(row: Row) -> ToolResult:
    """A result from its row."""
    return ToolResult(
        call=row["call"],
        body=_loads(row["body"]),
        late=row["late"] > 0,
        sendable=bool(row["sendable"]),
        sha256=row["sha256"],
        features=read_features(row["features"])[0],
        said_at=from_micros(row["said_at"]),
    )


def pin_row(pin: Pin) -> dict[str, Any]:
    """A pin's row, without its owner."""
    return {
        "id": pin.id,
        "ord": pin.order,
        "n": pin.turn,
        "block": pin.block,
        "start": pin.start,
        "end": pin.end,
        "text": pin.text,
        "sha256": pin.sha256,
        "kind": pin.kind.value,
        "author": pin.author,
        "context_n": pin.context,
        "status": pin.status.value,
        "replaced_by": pin.replaced_by,
        "reason": pin.reason,
        "tokens": pin.tokens,
        "said_at": to_micros(pin.said_at),
    }


def read_pin(row: Row) -> Pin:
    """A pin from its row."""
    return Pin(
        id=row["id"],
        text=row["text"],
        sha256=row["sha256"],
        kind=PinKind(row["kind"]),
        author=row["author"],
        order=row["ord"],
        turn=row["n"],
        block=row["block"],
        start=row["start"],
        end=row["end"],
        context=row["context_n"],
        project=row["conv"] is None,
        status=PinStatus(row["status"]),
        replaced_by=row["replaced_by"],
        reason=row["reason"],
        tokens=row["tokens"],
        said_at=from_micros(row["said_at"]),
    )


def conversation_row(record: ConversationRecord) -> dict[str, Any]:
    """A conversation's row, without its scope."""
    return {
        "id": record.id,
        "title": record.title,
        "zone": record.zone,
        "visibility": record.visibility.value,
        "last_turn": record.last_turn,
        "open_turn": record.open_turn,
        "version": record.version,
        "created_at": to_micros(record.created_at),
        "updated_at": to_micros(record.updated_at),
        "title_made": int(record.title_made),
    }


def read_conversation(row: Row) -> ConversationRecord:
    """A conversation from its row."""
    return ConversationRecord(
        id=row["id"],
        title=row["title"],
        zone=row["zone"],
        visibility=Visibility(row["visibility"]),
        last_turn=row["last_turn"],
        open_turn=row["open_turn"],
        version=row["version"],
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
        title_made=bool(row["title_made"]),
    )


def epoch_row(epoch: Epoch) -> dict[str, Any]:
    """An epoch's row; the head is stored apart, by its hash."""
    return {
        "no": epoch.number,
        "first": epoch.first,
        "opened_at": epoch.opened_at,
        "head_sha": jsontext.sha256(epoch.head.to_text()),
        "why": epoch.why.value,
        "preface": preface_text(epoch.preface),
        "tiers": jsontext.dumps(epoch.tiers),
        "hidden": jsontext.dumps(sorted(epoch.hidden)),
        "kept": jsontext.dumps(epoch.kept),
        "ttl": epoch.ttl,
        "keeps_round": int(epoch.keeps_round),
        "broken": epoch.broken,
        "at": to_micros(epoch.at),
        "state": epoch.state,
    }


def preface_text(preface: tuple[PrefaceBlock, ...]) -> str:
    """A preface as JSON text."""
    return jsontext.dumps([[p.part.value, p.block, p.pin, p.turn, p.index] for p in preface])


def read_preface(text: str) -> tuple[PrefaceBlock, ...]:
    """The preface that `preface_text` wrote."""
    return tuple(
        PrefaceBlock(part=Part(part), block=block, pin=pin, turn=turn, index=index)
        for part, block, pin, turn, index in jsontext.loads(text)
    )


def read_epoch(row: Row, head: Head) -> Epoch:
    """An epoch from its row and its head."""
    return Epoch(
        number=row["no"],
        first=row["first"],
        opened_at=row["opened_at"],
        head=head,
        why=Why(row["why"]),
        preface=read_preface(row["preface"]),
        tiers={name: Features(*f) for name, f in jsontext.loads(row["tiers"]).items()},
        hidden=frozenset(jsontext.loads(row["hidden"])),
        kept=pairs(row["kept"]),
        ttl=row["ttl"],
        keeps_round=bool(row["keeps_round"]),
        broken=row["broken"],
        at=from_micros(row["at"]),
        state=row["state"],
    )


def view_row(epoch: int, row: ViewRow) -> dict[str, Any]:
    """A view row's row."""
    return {
        "epoch": epoch,
        "ord": row.order,
        "n": row.turn,
        "kind": row.kind.value,
        "call": row.call,
        "form": row.form.value if row.form else None,
        "ref": row.ref,
        "block": jsontext.dumps(row.block),
        "features": features_text(row.features),
    }


def read_view(row: Row) -> ViewRow:
    """A view row from its row."""
    return ViewRow(
        order=row["ord"],
        turn=row["n"],
        kind=RowKind(row["kind"]),
        block=_loads(row["block"]),
        call=row["call"],
        form=Form(row["form"]) if row["form"] else None,
        ref=row["ref"],
        features=read_features(row["features"])[0],
    )


def request_row(request: RequestRecord) -> dict[str, Any]:
    """A request's row."""
    anchor = request.anchor
    return {
        "seq": request.number,
        "epoch": request.epoch,
        "tail": request.tail,
        "rows": request.rows,
        "max_tokens": request.max_tokens,
        "tokens": request.tokens,
        "features": features_text(request.features),
        "previous_tail": request.previous_tail,
        "previous_rows": request.previous_rows,
        "true_input": request.true_input,
        "anchor": jsontext.dumps([anchor.request, anchor.true_input, *anchor.features]) if anchor else None,
        "report": jsontext.dumps(request.report),
        "proof": jsontext.dumps(request.proof),
        "at": to_micros(request.at),
    }


def read_request(row: Row) -> RequestRecord:
    """A request from its row."""
    anchor = jsontext.loads(row["anchor"]) if row["anchor"] else None
    return RequestRecord(
        number=row["seq"],
        epoch=row["epoch"],
        tail=row["tail"],
        rows=row["rows"],
        max_tokens=row["max_tokens"],
        tokens=row["tokens"],
        features=read_features(row["features"])[0],
        previous_tail=row["previous_tail"],
        previous_rows=row["previous_rows"],
        true_input=row["true_input"],
        anchor=Anchor(request=anchor[0], true_input=anchor[1], features=Features(*anchor[2:])) if anchor else None,
        report=jsontext.loads(row["report"]),
        proof=tuple(jsontext.loads(row["proof"])),
        at=from_micros(row["at"]),
    )


def task_row(document: TaskDocument, at: datetime) -> dict[str, Any]:
    """A task document's row."""
    return {
        "name": document.name,
        "body": document.text,
        "features": features_text(document.features),
        "sha256": document.sha256,
        "at": to_micros(at),
    }


def read_task(row: Row) -> TaskDocument:
    """A task document from its row."""
    return TaskDocument(
        name=row["name"], text=row["body"], sha256=row["sha256"], features=read_features(row["features"])[0]
    )


def pairs(text: str) -> tuple[Any, ...]:
    """Pairs as tuples, from JSON text."""
    return tuple((a, b) for a, b in jsontext.loads(text))
