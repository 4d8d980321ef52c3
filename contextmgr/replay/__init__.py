"""Recorded sessions replayed call by call: the requests contextmgr would have sent, checked, and what they cost."""

from __future__ import annotations

from contextmgr.replay.compacting import Compactions
from contextmgr.replay.driving import POLICIES, replay_session
from contextmgr.replay.outcome import Outcome, PolicyOutcome
from contextmgr.replay.standins import STAND_IN_TOKENS

__all__ = ["POLICIES", "STAND_IN_TOKENS", "Compactions", "Outcome", "PolicyOutcome", "replay_session"]
