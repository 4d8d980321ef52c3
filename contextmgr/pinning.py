"""Pinning over a store: on write, later, by quote; replacing and revoking; refusing what could never be sent."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from contextmgr import jsontext
from contextmgr.errors import NotFoundError, PinBudgetError, PinError
from contextmgr.pins import Pin, PinAuthor, PinKind, PinStatus, Quote, check_pinnable, pin_kind, quotes_of
from contextmgr.profiles import Profile
from contextmgr.recording import new_id, no_conversation
from contextmgr.scope import Scope
from contextmgr.store import Store, Transaction
from contextmgr.tokens import Calibration, Count, text_features
from contextmgr.turns import Status, Turn

_LOG = logging.getLogger(__name__)
_LABEL = 30  # tokens: what the label beside a pin costs
_FAMILY = "v4"  # pins outlive models, so they are sized by the tokenizer that makes most of a text


class PinShareWarning(UserWarning):
    """Active pins use a large share of the pinned tier."""


@dataclass(frozen=True, slots=True)
class Pinning:
    """Pins of one scope, checked against one profile."""

    store: Store
    scope: Scope
    profile: Profile
    count: Count
    clock: Callable[[], datetime]

    def turn(
        self,
        tx: Transaction,
        conversation: str,
        turn: Turn,
        *,
        kind: object,
        quote: str | None = None,
        context: int | None = None,
        replaces: str | None = None,
    ) -> list[Pin]:
        """Pin a turn, or a quote of it, within a transaction; ``replaces`` names the pin that gives way to it."""
        named = pin_kind(kind)
        if context is not None:
            _check_context(tx, conversation, turn, context, named)
        old = self._active(tx, conversation, replaces) if replaces is not None else None
        author: PinAuthor = "operator" if turn.author == "operator" else "user"
        pins = [
            self._pin(q.text, named, author, turn.said_at or self.clock(), turn=turn.number, quote=q, context=context)
            for q in quotes_of(turn, quote)
        ]
        self._keep(tx, conversation, pins, old)
        return pins

    def project(self, tx: Transaction, text: str, *, kind: object, replaces: str | None = None) -> Pin:
        """Pin an operator's text for the scope's project."""
        old = self._active(tx, None, replaces) if replaces is not None else None
        pin = self._pin(check_pinnable(text), pin_kind(kind), "operator", self.clock())
        self._keep(tx, None, [pin], old)
        return pin

    def revoke(self, tx: Transaction, conversation: str | None, pin_id: str, reason: str) -> Pin:
        """End a pin.  The reason is kept with it."""
        pin = self._active(tx, conversation, pin_id)
        tx.end_pin(pin.id, PinStatus.REVOKED, None, jsontext.sendable(reason))
        if conversation is not None:
            tx.raise_version(conversation)
        return pin

    def first_user_turn(self, tx: Transaction, conversation: str, turn: Turn) -> list[Pin]:
        """Pin the first user turn, as the profile asks, unless it cannot be sent faithfully or is too large."""
        size = sum(self._tokens(t) for t in [turn.text])
        if not turn.sendable or not turn.text.strip() or size > self.profile.pinned.cap:
            _LOG.info("first user turn not pinned: it has no text that fits the pinned tier (%d tokens)", size)
            return []
        return self.turn(tx, conversation, turn, kind=PinKind.CONSTRAINT)

    def _pin(
        self,
        text: str,
        kind: PinKind,
        author: PinAuthor,
        at: datetime,
        *,
        turn: int | None = None,
        quote: Quote | None = None,
        context: int | None = None,
    ) -> Pin:
        return Pin(
            id=new_id("pin"),
            text=text,
            sha256=jsontext.sha256(text),
            kind=kind,
            author=author,
            turn=turn,
            block=quote.block if quote else None,
            start=quote.start if quote else None,
            end=quote.end if quote else None,
            context=context,
            project=turn is None,
            tokens=self._tokens(text),
            said_at=at,
        )

    def _keep(self, tx: Transaction, conversation: str | None, pins: Sequence[Pin], old: Pin | None) -> None:
        active = [p for p in self._all_active(tx, conversation) if old is None or p.id != old.id]
        self._check_budget(active, pins)
        made = tx.pins(conversation) if conversation is not None else tx.project_pins()
        newest = max((p.order for p in made), default=0)  # never from the clock, which may step back
        for order, pin in enumerate(pins, newest + 1):
            same = next((p for p in active if _same_place(p, pin)), None)
            if same is not None:
                raise PinError(f"{pin.text[:60]!r} is pinned already as {same.id}; use replace() or revoke() on that")
            tx.add_pin(conversation, replace(pin, order=order))
        if old is not None:
            tx.end_pin(old.id, PinStatus.REPLACED, pins[0].id, None)
        if conversation is not None:
            tx.raise_version(conversation)

    def _check_budget(self, active: Sequence[Pin], new: Sequence[Pin]) -> None:
        for pin in new:
            if pin.tokens + _LABEL > self.profile.budget:
                raise PinBudgetError(
                    f"a pin of {pin.tokens} tokens could never fit the budget of {self.profile.budget} tokens "
                    f"(profile {self.profile.name!r}); pin a quote of it, or raise the budget"
                )
        used = sum(p.tokens + _LABEL for p in (*active, *new))
        if used > self.profile.budget:
            raise PinBudgetError(
                f"{len(active) + len(new)} pins would take {used} tokens of a budget of {self.profile.budget} "
                f"(profile {self.profile.name!r}); revoke or replace some, or raise the budget"
            )
        limit = self.profile.pinned.warn_share * self.profile.pinned.cap
        if used > limit:
            warnings.warn(
                f"active pins use {used} of {self.profile.pinned.cap} tokens of the pinned tier "
                f"(warning from {limit:.0f}); other tiers give way to them",
                PinShareWarning,
                stacklevel=6,
            )

    def _all_active(self, tx: Transaction, conversation: str | None) -> list[Pin]:
        own = tx.pins(conversation) if conversation is not None else []
        return [p for p in (*tx.project_pins(), *own) if p.is_active]

    def _active(self, tx: Transaction, conversation: str | None, pin_id: str) -> Pin:
        pin = tx.pin(conversation, pin_id)
        if pin is None:
            raise NotFoundError(f"there is no pin {pin_id!r} in this scope; list them with chat.pins.list()")
        if not pin.is_active:
            raise PinError(f"pin {pin_id!r} is {pin.status} already; list active ones with chat.pins.list()")
        return pin

    def _tokens(self, text: str) -> int:
        return Calibration.prior(_FAMILY).tokens(text_features(text, self.count))


def _same_place(a: Pin, b: Pin) -> bool:
    if a.turn is None or b.turn is None:
        return a.turn is b.turn and a.text == b.text
    return (a.turn, a.block, a.start, a.end) == (b.turn, b.block, b.start, b.end)


def _check_context(tx: Transaction, conversation: str, turn: Turn, context: int, kind: PinKind) -> None:
    if kind not in (PinKind.APPROVAL, PinKind.RESOLUTION):
        raise PinError(f"context= goes with an approval or a resolution, not with a {kind}")
    answered = tx.turn(conversation, context) if context < turn.number else None
    if answered is None or answered.role != "assistant" or answered.status is Status.ERASED:
        raise PinError(f"context={context} must be an earlier assistant turn, the one that turn {turn.number} answers")


def find_turn(tx: Transaction, conversation: str, number: int) -> Turn:
    """A stored turn.  Raises `NotFoundError`."""
    turn = tx.turn(conversation, number)
    if turn is None:
        if tx.conversation(conversation) is None:
            raise no_conversation(conversation)
        raise NotFoundError(f"conversation {conversation!r} has no turn {number}")
    return turn
