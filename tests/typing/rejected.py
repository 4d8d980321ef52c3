# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
"""Read by type checkers only, never run: what must not type-check, so that params.py beside it proves something.

Each marked line has to be an error: a checker that accepts it reports the mark as unnecessary.
"""

from __future__ import annotations

from anthropic import Anthropic

from contextmgr.params import CountParams, RequestParams


def wrong_calls(client: Anthropic, params: RequestParams, count: CountParams) -> None:
    """Each kind of params fits its own calls only."""
    client.messages.create(**count)  # type: ignore[call-overload]
    client.messages.count_tokens(**params)  # type: ignore[misc]


def wrong_values(params: RequestParams) -> None:
    """Keys and values are checked."""
    params["system"] = "a string"  # type: ignore[typeddict-item]
    params["max_tokens"] = "many"  # type: ignore[typeddict-item]
    params["temperature"] = 1.0  # type: ignore[typeddict-unknown-key]
