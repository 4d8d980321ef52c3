"""Summary segments and jobs to rows and back."""

from __future__ import annotations

from typing import Any

from contextmgr import jsontext
from contextmgr.micros import from_micros, to_micros
from contextmgr.store.base import Job
from contextmgr.store.rows import Row, features_text, pairs, read_features
from contextmgr.summaries import Item, ItemKind, Segment, SegmentStatus


def summary_row(segment: Segment) -> dict[str, Any]:
    """A segment's row."""
    return {
        "id": segment.id,
        "level": segment.level,
        "first": segment.first,
        "last": segment.last,
        "ranges": jsontext.dumps(segment.ranges),
        "coverage": jsontext.dumps(segment.coverage),
        "parts": jsontext.dumps(segment.parts),
        "items": jsontext.dumps([[i.text, i.kind.value, i.turns, i.verbatim] for i in segment.items]),
        "template": segment.template,
        "writer": segment.writer,
        "status": segment.status.value,
        "into": segment.into,
        "features": features_text(segment.features),
        "replaced": segment.replaced,
        "dropped": segment.dropped,
        "at": to_micros(segment.at),
    }


def read_summary(row: Row) -> Segment:
    """A segment from its row."""
    return Segment(
        id=row["id"],
        level=row["level"],
        ranges=pairs(row["ranges"]),
        coverage=pairs(row["coverage"]),
        parts=tuple(jsontext.loads(row["parts"])),
        items=tuple(
            Item(text=text, kind=ItemKind(kind), turns=tuple(turns), verbatim=verbatim)
            for text, kind, turns, verbatim in jsontext.loads(row["items"])
        ),
        template=row["template"],
        writer=row["writer"],
        status=SegmentStatus(row["status"]),
        into=row["into"],
        features=read_features(row["features"])[0],
        replaced=row["replaced"],
        dropped=row["dropped"],
        at=from_micros(row["at"]),
    )


def job_row(job: Job) -> dict[str, Any]:
    """A job's row."""
    return {name: getattr(job, name) for name in Job.__dataclass_fields__}


def read_job(row: Row) -> Job:
    """A job from its row."""
    return Job(**{name: row[name] for name in Job.__dataclass_fields__})
