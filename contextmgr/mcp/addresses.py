"""Where a server listens, and by which names it may be called."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from contextmgr.errors import InputError

LOOPBACK = "127.0.0.1"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_MAX_PORT = 65_535
_WAITING = 64  # connections that may wait to be accepted


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 takes one that is free."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, ``[IPV6]:PORT``, or ``PORT`` alone for this machine only.  Raises `InputError`."""
        host, _, port = text.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
        if not port.isascii() or not port.isdigit() or int(port) > _MAX_PORT or (":" in text and not host):
            raise InputError(f"--http {text!r} is no address; use HOST:PORT, e.g. {LOOPBACK}:8765, or a port alone")
        return cls(host or LOOPBACK, int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or (_is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback)

    @property
    def name(self) -> str:
        """The host as it stands in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def names(self, allowed: Sequence[str]) -> list[str]:
        """The host names by which clients may call: its own, or this machine's, and those ``allowed``.

        Raises `InputError` where it listens everywhere and no name was allowed: any name could then lead here.
        """
        everywhere = _is_ip(self.host) and ipaddress.ip_address(self.host).is_unspecified
        if everywhere and not allowed:
            raise InputError(f"listening on {self.host} needs --allow-host NAME, the name by which clients call")
        own = _LOCAL if self.is_local or everywhere else (self.name,)
        return list(dict.fromkeys((*own, *(name.lower() for name in allowed))))

    def listen(self) -> socket.socket:
        """A socket that listens here.  Raises `OSError` where the address cannot be had."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family, backlog=_WAITING)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
