"""The node, its objects, and those who wait for promises."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import reprlib
import threading
import weakref
from collections.abc import Callable, Generator, Mapping
from types import FunctionType, MethodType, TracebackType
from typing import Any, Self, TypeVar, overload

from .. import _native
from .._native import LyditeError, Record, Symbol
from ._netlayer import Netlayer, Stream

_logger = logging.getLogger("lydite.captp")
_F = TypeVar("_F", bound=Callable[..., Any])

# Seconds until a connection must be open.
_DIAL_TIME = 30.0
# Seconds until a connection closes whose peer does not read its last bytes.
_CLOSE_TIME = 1.0
_ERROR = Symbol("desc:error")


class Broken(LyditeError):
    """Why a promise has no value. The reason comes from the object called or from its node, unless it is one of the
    subclasses, which neither can choose. Raised by an exposed method, it is the reason that the caller receives."""

    #: The reason as it is sent: any value; the record `<desc:error message>` for an error that is just a message.
    reason: Any

    def __init__(self, message: str, reason: Any = None) -> None:
        super().__init__(message)
        self.reason = Record(_ERROR, message) if reason is None else reason


class Disconnected(Broken):
    """The session with the peer ended, or could not be opened. A message that was on its way may have
    arrived."""


class Limit(Broken):
    """A limit of this node was reached. The message was not sent."""


_OUTCOMES = {"broken": Broken, "disconnected": Disconnected, "limit": Limit}


def _broken(outcome: str, reason: Any) -> Broken:
    error = _OUTCOMES[outcome]
    if isinstance(reason, Record) and reason.label == _ERROR and len(reason.fields) == 1:
        (message,) = reason.fields
        if isinstance(message, str):
            return error(message, reason)
    return error(f"the promise broke: {reprlib.repr(reason)}", reason)


@overload
def expose(function: _F, /) -> _F: ...
@overload
def expose(name: str, /) -> Callable[[_F], _F]: ...
def expose(function: Any, /) -> Any:
    """Lets peers call a method: `@expose`, or `@expose("other-name")`. Instances of a class with exposed methods can be
    passed to peers. The method may be `async`. An override must be exposed again, or it hides the method.

    An exposed function, or an exposed method of an object, can also be passed by itself. It is called without a
    method's name, like an object with an exposed method `__call__`."""
    if isinstance(function, str):
        return functools.partial(_expose, name=function)
    return _expose(function)


def _expose(function: Any, *, name: str | None = None) -> Any:
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function, found {type(function)}")
    own = function.__name__
    if own.startswith("_") and own != "__call__":
        raise ValueError(f"expected a public method, found {own}")
    function.__captp__ = (name or own, inspect.signature(function))  # type: ignore[attr-defined]
    return function


_methods_of: weakref.WeakKeyDictionary[type, dict[str, FunctionType]] = weakref.WeakKeyDictionary()


def _methods(cls: type) -> dict[str, FunctionType]:
    """The exposed methods of a class, by the names under which peers call them."""
    found = _methods_of.get(cls)
    if found is None:
        attributes: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            attributes.update(vars(base))
        exposed = (item for item in attributes.values() if isinstance(item, FunctionType))
        found = {item.__captp__[0]: item for item in exposed if hasattr(item, "__captp__")}
        _methods_of[cls] = found
    return found


def _is_exposed(target: object) -> bool:
    if isinstance(target, (FunctionType, MethodType)):
        return hasattr(target, "__captp__")
    return bool(_methods(type(target)))


def _invoke(target: Any, arguments: tuple[Any, ...]) -> Any:
    """Calls an object."""
    if isinstance(target, FunctionType):
        function = target
    elif isinstance(target, MethodType):
        function, arguments = target.__func__, (target.__self__, *arguments)  # type: ignore[assignment]
    else:
        methods = _methods(type(target))
        name = arguments[0].text if arguments and isinstance(arguments[0], Symbol) else None
        # A method named `__call__` is the one that is called without a name.
        if name is not None and name != "__call__" and name in methods:
            function, arguments = methods[name], (target, *arguments[1:])
        elif "__call__" in methods:
            function, arguments = methods["__call__"], (target, *arguments)
        elif name is not None:
            raise Broken(f"no method {name}")
        else:
            raise Broken("expected a method as the first argument")
    name, signature = function.__captp__  # type: ignore[attr-defined]
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise Broken(f"{name}: {error}") from None
    return function(*arguments)


class Reference:
    """A reference to an object, or a promise for one or for data. Calls are sent at once: `reference.method(…)`, or
    `reference(…)` without a method's name; each returns a promise. All names without a leading underscore are methods;
    `call` and `send` take any name.

    Awaiting a promise gives its value, or raises `Broken`; awaiting a reference to an object gives a reference to it.
    `promise[0]` and `promise["name"]` are promises for a part of its value. Dropping the last reference releases the
    object; the call itself is not cancelled. Use `asyncio.timeout` for deadlines."""

    __slots__ = ("__weakref__", "_handle", "_node")
    # Or else `__getitem__` would make iterators that never end.
    __iter__ = None
    __contains__ = None

    def __init__(self, node: Node, handle: _native.Handle) -> None:
        self._node = node
        self._handle = handle

    def __getattr__(self, name: str) -> Callable[..., Reference]:
        if name.startswith("_"):
            raise AttributeError(f"{name} is not sent to peers; captp.call takes any name")
        return functools.partial(call, self, name)

    def __call__(self, *arguments: Any) -> Reference:
        return call(self, None, *arguments)

    def __getitem__(self, part: int | str) -> Reference:
        vat = self._node._open()
        if isinstance(part, str):
            return self._node._reference(vat.field(self._handle, part))
        return self._node._reference(vat.item(self._handle, part))

    def __await__(self) -> Generator[Any, None, Any]:
        return self._node._settled(self).__await__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._node is other._node and self._handle.key == other._handle.key

    def __hash__(self) -> int:
        return hash(self._handle.key)

    def __repr__(self) -> str:
        return f"<captp.Reference at {id(self):#x}>"

    def __del__(self) -> None:
        # First, since another thread may run the loop.
        del self._handle
        self._node._wake()


class Resolver:
    """Settles a promise, once. If it is dropped before, the promise breaks. It can be passed to peers."""

    __slots__ = ("_handle", "_node")

    def __init__(self, node: Node, handle: _native.Handle) -> None:
        self._node = node
        self._handle = handle

    def fulfil(self, value: Any) -> None:
        """Fulfils the promise. A reference as the value is followed."""
        self._node._resolve(self._handle, value, fulfill=True)

    def break_with(self, error: Broken | str) -> None:
        """Breaks the promise."""
        error = Broken(error) if isinstance(error, str) else error
        self._node._resolve(self._handle, error.reason, fulfill=False)

    def __del__(self) -> None:
        del self._handle
        self._node._wake()


def _message(method: str | None, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return arguments if method is None else (Symbol(method), *arguments)


def call(target: Reference, method: str | None, /, *arguments: Any) -> Reference:
    """Calls a method of any name, or without one. Returns a promise for the result."""
    return target._node._call(target, _message(method, arguments))


def send(target: Reference, method: str | None, /, *arguments: Any) -> None:
    """Like `call`, without asking for a result. There is no sign whether the message arrived. Raises `Limit` if too much
    waits already, and `Broken` if there is nobody to send it to."""
    target._node._send(target, _message(method, arguments))


async def drain(target: Reference) -> None:
    """Waits until little enough waits to be sent to the peer, or for a promise that has not settled: await it before
    each of many calls. Raises `Broken` if that promise breaks."""
    node = target._node
    while node._open().is_congested(target._handle):
        connection = node._open().connection(target._handle)
        if connection is None:
            await target
            continue
        link = node._links.get(connection)
        if link is None:
            return
        link.room.clear()
        await link.room.wait()


async def on_broken(target: Reference) -> None:
    """Returns when the session with the object's peer has ended. Awaits a promise first."""
    found = await target
    if not isinstance(found, Reference):
        raise TypeError(f"expected a reference to an object of a peer, found {type(found)}")
    await found._node._ended(found)


class _Link:
    """A connection."""

    def __init__(self, connection: _native.Connection, stream: Stream) -> None:
        self.connection = connection
        self.stream = stream
        self.task: asyncio.Task[None] | None = None
        # Set if there may be something to write.
        self.wake = asyncio.Event()
        # Set if bytes were taken from the buffer.
        self.room = asyncio.Event()
        self.closing = False
        # Number of calls that run.
        self.calls = 0

    def call_ended(self, _: object) -> None:
        self.calls -= 1


class Node:
    """A participant: it holds the sessions with all peers. Use it with `async with`, and from one event loop only.

    `dialect` is what it writes ("endo-2026-08", "suite-2026-02", "draft-2026-07"; it reads all), `framing` how it
    separates messages on connections that it opens ("none" or "length"; others follow the peer). `limits` bound what
    peers can use, by the names in the documentation of `lydite_ocapn::session::Limits`; `answers` also bounds
    the calls of one peer that are being handled."""

    def __init__(
        self,
        *netlayers: Netlayer,
        dialect: str = "endo-2026-08",
        framing: str = "none",
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._netlayers = netlayers
        self._dialect, self._framing, self._limits = dialect, framing, dict(limits or {})
        self._vat: _native.Vat | None = None
        self._closed = False
        self._scheduled = False
        # Local objects to which peers may refer, and their keys by `id`.
        self._objects: dict[_native.Key, Any] = {}
        self._keys: dict[int, _native.Key] = {}
        self._waiting: dict[_native.Key, set[asyncio.Future[Any]]] = {}
        self._watching: dict[_native.Key, set[asyncio.Future[None]]] = {}
        self._links: dict[_native.Connection, _Link] = {}
        # Tasks of calls and requests to connect.
        self._tasks: set[asyncio.Task[None]] = set()
        self._deadline: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        if self._vat or self._closed:
            raise RuntimeError("a node cannot be started twice")
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._start = self._loop.time()
        try:
            for index, netlayer in enumerate(self._netlayers):
                await netlayer.listen(functools.partial(self._accept, index))
            layers = self._netlayers
            listeners = [(it.transport, it.designator, list(it.hints.items()), it.framing) for it in layers]
            limits = list(self._limits.items())
            self._vat = _native.Vat(listeners, dialect=self._dialect, framing=self._framing, limits=limits)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all sessions and stops listening. What waits for a promise receives `Disconnected`."""
        if self._closed:
            return
        self._closed = True
        for netlayer in self._netlayers:
            await netlayer.close()
        if self._vat is None:
            return
        for connection in list(self._links):
            self._vat.abort(connection, "the node stops")
        self._pump()
        ending = [link.task for link in self._links.values() if link.task]
        if ending:
            await asyncio.wait(ending, timeout=2 * _CLOSE_TIME)
        tasks = [task for task in (*self._tasks, *ending) if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pump()
        if self._timer:
            self._timer.cancel()
        for waiting in self._waiting.values():
            for future in waiting:
                if not future.done():
                    future.set_exception(Disconnected("the node is closed"))
        for watching in self._watching.values():
            for ended in watching:
                if not ended.done():
                    ended.set_result(None)

    def publish(self, target: Any, swiss: bytes | None = None) -> str:
        """Makes an object available to whoever knows the swiss number, a secret: 32 random bytes by default. Returns
        its sturdyref at the first netlayer."""
        vat = self._open()
        swiss = os.urandom(32) if swiss is None else swiss
        if not swiss:
            raise ValueError("expected a swiss number, found an empty one")
        vat.publish(swiss, self._unwrap(target))
        self._wake()
        return vat.locator(swiss) or ""

    def unpublish(self, swiss: bytes) -> None:
        """Withdraws the object with this swiss number. References to it remain valid."""
        self._open().unpublish(swiss)
        self._wake()

    def enliven(self, sturdyref: str) -> Reference:
        """A promise for the object that a sturdyref names. Opens a session with its peer if there is none."""
        return self._reference(self._open().enliven(sturdyref))

    def promise(self) -> tuple[Reference, Resolver]:
        """A promise and its resolver."""
        promise, resolver = self._open().promise()
        return Reference(self, promise), Resolver(self, resolver)

    def stats(self) -> dict[str, int]:
        """The sizes of all tables."""
        return self._open().stats()

    def _open(self) -> _native.Vat:
        if self._vat is None or self._closed:
            raise RuntimeError("the node is not running")
        return self._vat

    def _reference(self, handle: _native.Handle) -> Reference:
        self._wake()
        return Reference(self, handle)

    def _call(self, target: Reference, message: tuple[Any, ...]) -> Reference:
        try:
            return Reference(self, self._open().call(target._handle, message, self._unwrap))
        finally:
            self._wake()

    def _send(self, target: Reference, message: tuple[Any, ...]) -> None:
        try:
            failed = self._open().send(target._handle, message, self._wrap, self._unwrap)
        finally:
            self._wake()
        if failed:
            raise _broken(*failed)

    def _resolve(self, resolver: _native.Handle, value: Any, *, fulfill: bool) -> None:
        try:
            self._open().resolve(resolver, value, self._unwrap, fulfill=fulfill)
        finally:
            self._wake()

    async def _settled(self, promise: Reference) -> Any:
        vat, key = self._open(), promise._handle.key
        future: asyncio.Future[Any] = self._loop.create_future()
        if key not in self._waiting:
            self._waiting[key] = set()
            vat.listen(promise._handle)
            self._wake()
        waiting = self._waiting[key]
        waiting.add(future)
        try:
            return await future
        finally:
            waiting.discard(future)

    async def _ended(self, reference: Reference) -> None:
        vat, key = self._open(), reference._handle.key
        future: asyncio.Future[None] = self._loop.create_future()
        watching = self._watching.setdefault(key, set())
        watching.add(future)
        vat.watch(reference._handle)
        self._wake()
        try:
            await future
        finally:
            watching.discard(future)
            if not watching:
                self._watching.pop(key, None)

    def _wrap(self, handle: _native.Handle) -> Any:
        """The object of a handle that came in a message."""
        own = self._objects.get(handle.key)
        return Reference(self, handle) if own is None else own

    def _unwrap(self, target: Any) -> _native.Handle:
        """The handle of an object that is not data."""
        if isinstance(target, (Reference, Resolver)):
            return target._handle
        vat = self._open()
        key = self._keys.get(id(target))
        if key is not None:
            handle = vat.handle(key)
            if handle is not None:
                return handle
        if not _is_exposed(target):
            raise TypeError(f"{type(target)} is neither data nor has exposed methods")
        handle = vat.object()
        self._objects[handle.key] = target
        self._keys[id(target)] = handle.key
        return handle

    def _now(self) -> int:
        return int((self._loop.time() - self._start) * 1000)

    def _wake(self) -> None:
        """Carries out what the vat requires when the loop runs next. References may be dropped in any thread."""
        if self._scheduled or self._vat is None:
            return
        self._scheduled = True
        try:
            if threading.get_ident() == self._thread:
                self._loop.call_soon(self._pump)
            else:
                self._loop.call_soon_threadsafe(self._pump)
        except RuntimeError:
            # The loop is closed, and with it the connections.
            pass

    def _pump(self) -> None:
        """Carries out what the vat requires."""
        self._scheduled = False
        vat = self._vat
        if vat is None:
            return
        while True:
            event = vat.poll_event(self._wrap)
            if event is not None:
                self._handle_event(event)
                continue
            output = vat.poll_output()
            if output is None:
                break
            self._handle_output(output)
        deadline = None if self._closed else vat.deadline()
        if deadline != self._deadline:
            self._deadline = deadline
            if self._timer:
                self._timer.cancel()
            if deadline is not None:
                self._timer = self._loop.call_at(self._start + (deadline + 1) / 1000, self._tick)

    def _tick(self) -> None:
        self._deadline = None
        if self._vat:
            self._vat.tick(self._now())
        self._pump()

    def _handle_event(self, event: tuple[Any, ...]) -> None:
        kind, subject, *rest = event
        if kind == "call":
            arguments, reply, connection = rest
            self._receive(self._objects.get(subject), arguments, reply, connection)
        elif kind == "settled":
            outcome, value = rest
            for future in self._waiting.pop(subject, ()):
                if future.done():
                    continue
                if outcome == "fulfilled":
                    future.set_result(value)
                else:
                    future.set_exception(_broken(outcome, value))
        elif kind == "broken":
            for ended in self._watching.get(subject, ()):
                if not ended.done():
                    ended.set_result(None)
        elif kind == "dropped":
            target = self._objects.pop(subject, None)
            if self._keys.get(id(target)) == subject:
                del self._keys[id(target)]
        elif kind == "down":
            _logger.debug("connection ended: %s", rest[0])

    def _receive(
        self,
        target: Any,
        arguments: tuple[Any, ...],
        reply: _native.Handle | None,
        connection: _native.Connection | None,
    ) -> None:
        """Starts a call of a local object. All are tasks, so that they start in order."""
        if self._closed:
            return
        link = self._links.get(connection) if connection else None
        vat = self._open()
        if connection and link and link.calls >= vat.answers:
            vat.abort(connection, "too many calls are being handled")
            return
        task = self._start_task(self._serve(target, arguments, reply))
        if link:
            link.calls += 1
            task.add_done_callback(link.call_ended)

    def _start_task(self, coroutine: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, target: Any, arguments: tuple[Any, ...], reply: _native.Handle | None) -> None:
        """Calls a local object."""
        try:
            result = _invoke(target, arguments)
            if inspect.isawaitable(result) and not isinstance(result, Reference):
                result = await result
            if reply is not None and not self._closed:
                self._resolve(reply, result, fulfill=True)
            return
        except Broken as error:
            broken = error
        except Exception:
            # The details are not for the peer.
            _logger.exception("a call of %r failed", type(target))
            broken = Broken("internal error")
        if reply is not None and not self._closed:
            self._resolve(reply, broken.reason, fulfill=False)

    def _handle_output(self, output: tuple[Any, ...]) -> None:
        kind, subject = output
        if kind == "dial":
            self._start_task(self._dial(subject))
            return
        link = self._links.get(subject)
        if link is None:
            return
        if kind == "close":
            link.closing = True
            self._loop.call_later(_CLOSE_TIME, link.stream.abort)
        link.wake.set()

    async def _dial(self, dial: _native.Dial) -> None:
        assert self._vat
        try:
            netlayer = next((it for it in self._netlayers if it.transport == dial.transport), None)
            if netlayer is None:
                raise ValueError(f"no netlayer for the transport {dial.transport}")
            async with asyncio.timeout(_DIAL_TIME):
                stream = await netlayer.dial(dial.designator, dial.hints)
        except Exception as error:
            self._vat.dial_failed(dial, str(error) or type(error).__name__)
            self._wake()
            return
        connection = self._vat.dialed(dial, netlayer.authenticates, self._now())
        self._attach(connection, stream)

    def _accept(self, index: int, stream: Stream) -> None:
        if self._vat is None or self._closed:
            stream.abort()
            return
        connection = self._vat.accepted(index, not self._netlayers[index].authenticates, self._now())
        self._attach(connection, stream)

    def _attach(self, connection: _native.Connection | None, stream: Stream) -> None:
        if connection is None or self._closed:
            stream.abort()
            return
        link = self._links[connection] = _Link(connection, stream)
        link.task = self._loop.create_task(self._run(link))
        # There may be bytes already.
        link.wake.set()
        self._wake()

    async def _run(self, link: _Link) -> None:
        """Moves the bytes of a connection until it is closed. Reads and writes at the same time: a peer that does not
        read must not keep us from reading, or both could wait for each other forever."""
        assert self._vat
        reason = "closed by the peer"
        both = [self._loop.create_task(move(link)) for move in (self._read, self._write)]
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for error in [task.exception() for task in done]:
                if error is not None:
                    reason = str(error) or type(error).__name__
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            del self._links[link.connection]
            link.room.set()
            self._vat.closed(link.connection, reason)
            self._pump()
            await link.stream.close()

    async def _read(self, link: _Link) -> None:
        assert self._vat
        while data := await link.stream.read():
            self._vat.received(link.connection, data, self._now())
            self._pump()
            # The calls start before more is read.
            await asyncio.sleep(0)
            # The peer requests more than it reads.
            while self._vat.is_full(link.connection):
                link.room.clear()
                await link.room.wait()

    async def _write(self, link: _Link) -> None:
        assert self._vat
        while True:
            link.wake.clear()
            # Only after earlier bytes were written, so that the limits on waiting bytes take effect.
            data = self._vat.take_bytes(link.connection)
            link.room.set()
            if data:
                await link.stream.write(data)
            elif link.closing:
                return
            else:
                await link.wake.wait()
