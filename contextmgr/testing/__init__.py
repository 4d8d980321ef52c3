"""For those who write a store: the tests that every `Store` has to pass, and the values they use.

    from contextmgr.testing import StoreContract

    class TestMyStore(StoreContract):
        def open_store(self, folder):
            return MyStore(folder / "data")

pytest collects the inherited tests; nothing here imports it.
"""

from __future__ import annotations

from contextmgr.testing.contract import Refused, StoreContract, fill

__all__ = ["Refused", "StoreContract", "fill"]
