"""WebSocket, as used by Spritely Goblins and Endo: one binary frame is one message. Requires the package websockets."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Origin

from .._native import LyditeError, PeerKey, may_reach
from ._netlayer import CLOSE_TIME, Netlayer, Stream, hint, write_time

# Failed handshakes are logged. Without a handler, peers must not be able to fill the standard error output with them.
_logger = logging.getLogger("lydite.captp.websocket")
_logger.addHandler(logging.NullHandler())

# Connections that have not completed the handshake.
_HANDSHAKES = 256
_HANDSHAKE_TIME = 10.0
# Received messages, or parts of one, that wait to be read.
_QUEUE = 4
# Time from the first part of a message to its last. A message that stays in one part is ended by the pings of the
# package websockets: no answer can arrive inside it.
_MESSAGE_TIME = 30.0


class _Frames(Stream):
    """Each frame of the WebSocket is one message of the stream, in both directions."""

    def __init__(self, peer: ClientConnection | ServerConnection) -> None:
        self._peer = peer

    async def read(self) -> bytes:
        try:
            parts = self._peer.recv_streaming()
            message = _binary(await anext(parts))
            async with asyncio.timeout(_MESSAGE_TIME):
                message += b"".join([_binary(part) async for part in parts])
        except ConnectionClosed:
            return b""
        return b"%d:%b" % (len(message), message)

    async def write(self, data: bytes) -> None:
        # Always whole messages.
        start = 0
        while start < len(data):
            colon = data.index(b":", start)
            end = colon + 1 + int(data[start:colon])
            async with write_time():
                await self._peer.send(data[colon + 1 : end])
            start = end

    async def close(self) -> None:
        await self._peer.close()

    def abort(self) -> None:
        self._peer.transport.abort()


async def _receive(peer: ClientConnection | ServerConnection) -> bytes:
    return _binary(await peer.recv())


def _binary(message: str | bytes) -> bytes:
    if isinstance(message, str):
        raise ValueError("expected a binary frame, found text")
    return message


class WebSocket(Netlayer):
    """The transport `websocket`. The designator is a public key, and a location requires the hint `url`. `secret` is 32
    random bytes, to be kept for as long as others should recognise this peer; drawn by default.

    The listener proves that it has the secret key; the dialer proves nothing. The proof does not protect later messages
    from those who can change them on their way, and the listener does not encrypt: use it on a trusted network, or with
    a proxy that terminates TLS, whose address is `url`. `tls` says how to connect to `wss:` URLs; by default,
    certificates have to be valid for the host and trusted by the system.

    Web pages of any origin may connect, unless `origins` restricts them: a connection gives no access to objects whose
    swiss number the page does not know.

    URLs may come from peers. A name is resolved once, and only these addresses are connected to: public ones, and
    loopback or private ones if the own listener is bound to an address of that kind, or with `reach_private`."""

    transport = "websocket"
    # Inside the node, so that it knows where messages end. The frames contain the messages alone.
    framing = "length"
    authenticates = True

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        secret: bytes | None = None,
        url: str | None = None,
        origins: Sequence[str] | None = None,
        max_message: int = 1 << 20,
        reach_private: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._key = PeerKey(os.urandom(32) if secret is None else secret)
        self.designator = self._key.designator
        self.hints = {"url": url} if url else {}
        self._address = (host, port)
        # Connections without an `Origin` header, which browsers always send, are accepted.
        self._origins = None if origins is None else [None, *map(Origin, origins)]
        self._settings: dict[str, Any] = {
            "compression": None,
            "max_size": max_message,
            "max_queue": _QUEUE,
            "open_timeout": _HANDSHAKE_TIME,
            "close_timeout": CLOSE_TIME,
            "logger": _logger,
        }
        self._reach_private = reach_private
        self._tls = tls
        self._server: Server | None = None

    async def listen(self, accept: Callable[[Stream], None]) -> None:
        handshakes: dict[ServerConnection, None] = {}

        class Connection(ServerConnection):
            """Counts from the first byte on."""

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                handshakes[self] = None
                if len(handshakes) > _HANDSHAKES:
                    oldest = next(iter(handshakes))
                    del handshakes[oldest]
                    oldest.transport.abort()

            def connection_lost(self, exc: Exception | None) -> None:
                handshakes.pop(self, None)
                super().connection_lost(exc)

        async def handle(peer: ServerConnection) -> None:
            try:
                async with asyncio.timeout(_HANDSHAKE_TIME):
                    await peer.send(self._key.answer(await _receive(peer)))
            except (OSError, ValueError, WebSocketException) as error:
                _logger.debug("handshake failed: %s", error)
                return
            handshakes.pop(peer, None)
            accept(_Frames(peer))
            await peer.wait_closed()

        host, port = self._address
        self._server = await serve(
            handle, host, port, origins=self._origins, create_connection=Connection, **self._settings
        )
        self._bound = next(iter(self._server.sockets)).getsockname()
        host, port = self._bound[:2]
        if not self.hints:
            self.hints = {"url": f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"}

    async def dial(self, designator: str, hints: Mapping[str, str]) -> Stream:
        url = hint(hints, "url")
        nonce = os.urandom(32)
        async with asyncio.timeout(_HANDSHAKE_TIME):
            parts = urlsplit(url)
            connected = await self._connect(parts)
            tls: dict[str, Any] = {}
            if parts.scheme == "wss":
                tls["ssl"] = self._tls or ssl.create_default_context()
            # With a socket, redirects are not followed and proxies are not used.
            try:
                peer = await connect(url, sock=connected, proxy=None, **tls, **self._settings)
            except WebSocketException as error:
                raise OSError(str(error)) from error
            try:
                await peer.send(PeerKey.challenge(nonce))
                PeerKey.verify(designator, nonce, await _receive(peer))
            except LyditeError as error:
                peer.transport.abort()
                raise PermissionError(f"the listener does not prove its designator: {error}") from None
            except BaseException:
                peer.transport.abort()
                raise
        return _Frames(peer)

    async def _connect(self, url: SplitResult) -> socket.socket:
        """Connects to one of the addresses that a URL names."""
        port = {"ws": 80, "wss": 443}.get(url.scheme)
        if port is None or not url.hostname:
            raise ValueError(f"expected a ws: or wss: URL, found `{url.geturl()}`")
        loop = asyncio.get_running_loop()
        failure: OSError = OSError("the host has no address")
        found = await loop.getaddrinfo(url.hostname, url.port or port, type=socket.SOCK_STREAM)
        for family, kind, protocol, _, address in found:
            # Without the zone of a link-local address.
            host = str(address[0]).partition("%")[0]
            if not may_reach(host, self._bound[0], private=self._reach_private):
                failure = PermissionError(f"the address {address[0]} is not reachable by policy")
                continue
            opened = socket.socket(family, kind, protocol)
            try:
                opened.setblocking(False)
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                await loop.sock_connect(opened, address)
                return opened
            except OSError as error:
                opened.close()
                failure = error
            except BaseException:
                opened.close()
                raise
        raise failure

    async def close(self) -> None:
        if self._server:
            self._server.close(close_connections=False)
