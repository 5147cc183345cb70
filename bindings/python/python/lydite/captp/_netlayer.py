"""Netlayers: how connections are opened."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping

# Bytes read at once.
_CHUNK = 64 << 10
# Seconds to wait for the orderly end of a connection.
CLOSE_TIME = 1.0
# Seconds for which a peer may read nothing, or for one message of a transport that sends whole messages.
WRITE_TIME = 30.0


class Stream(abc.ABC):
    """A stream of bytes in both directions."""

    @abc.abstractmethod
    async def read(self) -> bytes:
        """The next bytes, at most about 64 KiB or one message. Empty at the end."""

    @abc.abstractmethod
    async def write(self, data: bytes) -> None:
        """Sends bytes, and waits while the peer does not read. Raises TimeoutError if it reads nothing for long."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Sends what remains, and closes."""

    @abc.abstractmethod
    def abort(self) -> None:
        """Closes at once. A pending `write` fails."""


class Netlayer(abc.ABC):
    """Opens connections of one transport. It must keep bytes in order and let nobody but the two participants insert
    any."""

    #: The name of the transport. It also selects the netlayer for connections to others.
    transport: str
    #: The own name within the transport.
    designator: str
    #: What others need to connect. Complete once `listen` has returned.
    hints: Mapping[str, str]
    #: How messages are framed in its streams, "none" or "length", if peers cannot choose that.
    framing: str | None = None
    #: Whether `dial` verifies the designator. Then a peer that connects to us is not found under the location it
    #: claims. Otherwise all claims are trusted.
    authenticates = False

    @abc.abstractmethod
    async def listen(self, accept: Callable[[Stream], None]) -> None:
        """Calls `accept` with each connection that a peer opens."""

    @abc.abstractmethod
    async def dial(self, designator: str, hints: Mapping[str, str]) -> Stream:
        """Opens a connection. The location may come from a peer: a netlayer for untrusted networks has to decide where
        it connects to. Raises OSError or ValueError."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Stops listening."""


def hint(hints: Mapping[str, str], name: str) -> str:
    """The hint of this name."""
    try:
        return hints[name]
    except KeyError:
        raise ValueError(f"expected the hint `{name}` in the location, found none") from None


@contextlib.asynccontextmanager
async def write_time() -> AsyncIterator[None]:
    """Raises TimeoutError if what is sent within it takes too long."""
    try:
        async with asyncio.timeout(WRITE_TIME):
            yield
    except TimeoutError:
        raise TimeoutError("the peer does not read") from None


class _SocketStream(Stream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(_CHUNK)

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        for start in range(0, len(view), _CHUNK):
            self._writer.write(view[start : start + _CHUNK])
            async with write_time():
                await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_TIME):
                await self._writer.wait_closed()
        except OSError:
            # This includes TimeoutError.
            self.abort()

    def abort(self) -> None:
        self._writer.transport.abort()


class Tcp(Netlayer):
    """The transport `tcp-testing-only`. Anyone on the network can read, change and impersonate: for tests only.
    Locations need the hints `host` and `port`. The designator may be any text that differs from those of others."""

    transport = "tcp-testing-only"

    def __init__(self, host: str = "127.0.0.1", port: int = 0, *, designator: str | None = None) -> None:
        self._address = (host, port)
        self.designator = designator or os.urandom(16).hex()
        self.hints = {}
        self._server: asyncio.Server | None = None

    async def listen(self, accept: Callable[[Stream], None]) -> None:
        host, port = self._address
        self._server = await asyncio.start_server(lambda *pair: accept(_SocketStream(*pair)), host, port)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.hints = {"host": host, "port": str(port)}

    async def dial(self, designator: str, hints: Mapping[str, str]) -> Stream:
        host, port = hint(hints, "host"), hint(hints, "port")
        if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
            raise ValueError(f"expected a port in the hint `port`, found `{port}`")
        return _SocketStream(*await asyncio.open_connection(host, int(port)))

    async def close(self) -> None:
        if self._server:
            self._server.close()


class Unix(Netlayer):
    """The transport `unix`: sockets in the file system, whose permissions decide who may connect. Locations need the
    hint `path`. It only connects to sockets in the folder of its socket, whose users can pretend to be each other."""

    transport = "unix"

    def __init__(self, path: str | os.PathLike[str], *, designator: str | None = None) -> None:
        self._path = os.path.abspath(path)
        self.designator = designator or os.urandom(16).hex()
        self.hints = {"path": self._path}
        self._server: asyncio.Server | None = None

    async def listen(self, accept: Callable[[Stream], None]) -> None:
        # Otherwise asyncio would replace the socket of another process.
        if os.path.lexists(self._path):
            raise FileExistsError(f"{self._path} exists")
        self._server = await asyncio.start_unix_server(lambda *pair: accept(_SocketStream(*pair)), self._path)

    async def dial(self, designator: str, hints: Mapping[str, str]) -> Stream:
        path = hint(hints, "path")
        if os.path.dirname(path) != os.path.dirname(self._path):
            raise PermissionError("expected a socket in the folder of our socket")
        return _SocketStream(*await asyncio.open_unix_connection(path))

    async def close(self) -> None:
        if self._server:
            self._server.close()
            self._server = None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)


class Network:
    """A network within a process."""

    def __init__(self) -> None:
        self._members: dict[str, Callable[[Stream], None]] = {}

    def join(self, designator: str) -> Memory:
        """A participant of the network."""
        return Memory(self._members, designator)


class Memory(Netlayer):
    """A participant of a `Network`: the transport `memory`."""

    transport = "memory"

    def __init__(self, members: dict[str, Callable[[Stream], None]], designator: str) -> None:
        self._members = members
        self.designator = designator
        self.hints = {}
        self._accept: Callable[[Stream], None] | None = None

    async def listen(self, accept: Callable[[Stream], None]) -> None:
        if self.designator in self._members:
            raise FileExistsError(f"the name {self.designator} is taken")
        self._accept = self._members[self.designator] = accept

    async def dial(self, designator: str, hints: Mapping[str, str]) -> Stream:
        accept = self._members.get(designator)
        if accept is None:
            raise ConnectionRefusedError("nobody has this name")
        ours, theirs = socket.socketpair()
        accept(_SocketStream(*await asyncio.open_connection(sock=theirs)))
        return _SocketStream(*await asyncio.open_connection(sock=ours))

    async def close(self) -> None:
        if self._accept:
            del self._members[self.designator]
            self._accept = None
