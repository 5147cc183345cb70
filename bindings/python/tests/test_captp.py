"""CapTP: nodes in this process, and peers written in Rust if LYDITE_COMMAND is the command `lydite` with the feature
`net`."""

import asyncio
import contextlib
import gc
import logging
import os
import ssl
import subprocess
import weakref
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as connect_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus

from lydite import EncodeError, LyditeError, Record, Symbol, captp
from lydite._native import PeerKey, may_reach
from lydite.captp import _netlayer, websocket

VECTORS = Path(__file__).parents[3] / "vectors/captp"


class Greeter:
    def __init__(self):
        self.log = []
        self.kept = []

    @captp.expose
    def greet(self, name):
        return f"Hello, {name}!"

    @captp.expose
    async def later(self, name):
        await asyncio.sleep(0)
        return self.greet(name)

    @captp.expose
    def note(self, line):
        self.log.append(line)

    @captp.expose
    def notes(self):
        return self.log

    @captp.expose("echo-all")
    def echo(self, *values):
        return values

    @captp.expose
    def itself(self):
        return self

    @captp.expose
    def keep(self, value):
        self.kept.append(value)

    @captp.expose
    def drop(self):
        self.kept.clear()

    @captp.expose
    def tell(self, listener):
        return listener("news")

    @captp.expose
    def fail(self):
        raise KeyError("a secret")

    @captp.expose
    def refuse(self):
        raise captp.Broken("not today", Symbol("busy"))

    def hidden(self):
        raise AssertionError

    def _private(self):
        raise AssertionError


def run(test):
    async def timed():
        async with asyncio.timeout(20):
            await test()

    asyncio.run(timed(), debug=True)


@contextlib.asynccontextmanager
async def pair(**options):
    """Two nodes, and a reference in one of them to a greeter in the other."""
    network = captp.Network()
    async with (
        captp.Node(network.join("alice")) as alice,
        captp.Node(network.join("bob"), **options) as bob,
    ):
        yield alice, bob, alice.enliven(bob.publish(Greeter()))


def raises(error):
    raise error


async def until(condition):
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("condition not met in time")


@pytest.fixture(params=["memory", "tcp", "unix", "websocket"])
def netlayers(request, tmp_path):
    network = captp.Network()
    return {
        "memory": network.join,
        "tcp": lambda name: captp.Tcp(designator=name),
        "unix": lambda name: captp.Unix(tmp_path / name, designator=name),
        "websocket": lambda _: websocket.WebSocket(),
    }[request.param]


@pytest.mark.parametrize("framing", ["none", "length"])
def test_calls(netlayers, framing):
    async def test():
        async with (
            captp.Node(netlayers("alice"), framing=framing) as alice,
            captp.Node(netlayers("bob")) as bob,
        ):
            greeter = alice.enliven(bob.publish(Greeter()))
            # Nothing is awaited before the last call: not even the connection is open.
            assert await greeter.itself().itself().greet("Ann") == "Hello, Ann!"
            assert await asyncio.gather(greeter.later("Bob"), greeter.greet("Cy")) == ["Hello, Bob!", "Hello, Cy!"]
            # A session in both directions: the peer is not connected to again.
            mine = bob.enliven(alice.publish(Greeter(), b"mine"))
            assert await mine.greet("Dan") == "Hello, Dan!"
            # Unless the transport does not verify who connects.
            connections = 2 if alice._netlayers[0].authenticates else 1
            assert alice.stats()["connections"] == bob.stats()["connections"] == connections

    run(test)


def test_one_round_trip():
    async def test():
        async with pair() as (alice, _, greeter):
            await greeter
            (link,) = alice._links.values()
            written, write = [], link.stream.write

            async def record(data):
                written.append(data)
                await write(data)

            link.stream.write = record
            await greeter.itself().itself().greet("Ann")
            assert written[0].count(b"op:deliver") == 3

    run(test)


def test_values():
    async def test():
        async with pair() as (alice, bob, greeter):
            values = (True, 7, -(2**200), 0.5, "Ä", b"\1\2", ((),), {"a": (1,)}, None, Symbol("s"), frozenset({1}))
            assert await captp.call(greeter, "echo-all", *values) == values
            echo = captp.call(greeter, "echo-all", {"name": "Ann"}, [1, Record(Symbol("r"), 2)])
            assert await echo[0]["name"] == "Ann"
            assert await echo[1][1] == Record(Symbol("r"), 2)
            with pytest.raises(captp.Broken, match="not a struct"):
                await echo["name"]
            with pytest.raises(TypeError, match="not iterable"):
                list(echo)
            # A promise and a resolver as values.
            promise, resolver = alice.promise()
            sent = captp.call(greeter, "echo-all", promise, resolver)
            received, settle = await sent
            settle(Symbol("fulfill"), 5)
            assert await promise == await received == 5
            for wrong, error in [
                (object(), TypeError),
                (2**70_000, EncodeError),
                (Record(Symbol("desc:export"), 1), EncodeError),
                ({bob: 3}, TypeError),
                ({alice.promise()[0]}, EncodeError),
                (bob.promise()[0], ValueError),
            ]:
                with pytest.raises(error):
                    greeter.greet(wrong)
            with pytest.raises(AttributeError):
                greeter._private()
            with pytest.raises(LyditeError):
                alice.enliven("ocapn://x")

    run(test)


def test_only_exposed_methods():
    class Override(Greeter):
        def greet(self, name):
            raise AssertionError

    class Callable:
        @captp.expose
        def __call__(self, *arguments):
            return ("called", *arguments)

        @captp.expose
        def method(self):
            return "method"

    @captp.expose
    def function(word):
        return word + "?"

    async def test():
        async with pair() as (alice, bob, greeter):
            for name in ["hidden", "_private", "__init__", "__class__", "log", "echo", "missing"]:
                with pytest.raises(captp.Broken, match=f"^no method {name}$"):
                    await captp.call(greeter, name)
            with pytest.raises(captp.Broken, match="^expected a method as the first argument$"):
                await greeter("no symbol")
            with pytest.raises(captp.Broken, match="^no method greet$"):
                await alice.enliven(bob.publish(Override())).greet("Ann")
            called = alice.enliven(bob.publish(Callable()))
            assert await called(1) == ("called", 1)
            assert await called.other() == ("called", Symbol("other"))
            assert await called.method() == "method"
            # Functions, and a method by itself.
            assert await greeter.tell(function) == "news?"
            assert await greeter.tell(Greeter().greet) == "Hello, news!"
            with pytest.raises(TypeError, match="neither data nor has exposed methods"):
                greeter.tell(Greeter().hidden)

    run(test)
    with pytest.raises(ValueError, match="public"):
        captp.expose(Greeter._private)


def test_errors(caplog):
    async def test():
        async with pair() as (alice, bob, greeter):
            with pytest.raises(captp.Broken) as caught:
                await greeter.fail()
            assert str(caught.value) == "internal error"
            (record,) = caplog.records
            assert "a secret" in record.exc_text
            with pytest.raises(captp.Broken) as caught:
                await greeter.refuse()
            assert caught.value.reason == Symbol("busy")
            with pytest.raises(captp.Broken, match="^greet: missing a required argument: 'name'$"):
                await greeter.greet()
            # A break passes through calls that depend on it.
            with pytest.raises(captp.Broken) as caught:
                await greeter.refuse().greet("Ann")
            assert caught.value.reason == Symbol("busy")
            with pytest.raises(captp.Broken, match="no object has this swiss number"):
                await alice.enliven(bob.publish(Greeter(), b"x").replace("/s/x", "/s/y"))
            assert type(caught.value) is captp.Broken
            with pytest.raises(captp.Disconnected, match="nobody has this name"):
                await alice.enliven("ocapn://nobody.memory/s/x")
            # An object cannot pretend to be the session.
            lie = captp.expose(lambda _: raises(captp.Disconnected("disconnected: not really")))
            with pytest.raises(captp.Broken, match="not really") as caught:
                await greeter.tell(lie)
            assert type(caught.value) is captp.Broken
            with pytest.raises(captp.Limit, match="message longer than"):
                await (await greeter).greet("x" * (1 << 20))
            with pytest.raises(captp.Disconnected, match="no netlayer for the transport"):
                await alice.enliven("ocapn://nobody.elsewhere/s/x")
            promise, resolver = alice.promise()
            resolver.break_with("never")
            with pytest.raises(captp.Broken, match="^never$"):
                await promise
            promise, resolver = alice.promise()
            del resolver
            with pytest.raises(captp.Broken, match="the resolver was dropped"):
                await promise

    with caplog.at_level(logging.ERROR, "lydite.captp"):
        run(test)


def test_order_and_deadlines():
    async def test():
        async with pair() as (alice, _, greeter):
            for number in range(500):
                captp.send(greeter, "note", number)
            assert await greeter.notes() == tuple(range(500))
            promise, resolver = alice.promise()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await promise
            # Messages wait for the promise, but not without bound.
            for number in range(600):
                captp.send(promise, "note", number)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await captp.drain(promise)
            with pytest.raises(captp.Limit):
                for number in range(600):
                    captp.send(promise, "note", number)
            # Only the waiting has ended.
            resolver.fulfil("late")
            assert await promise == "late"

    run(test)


def test_objects_come_back_as_themselves():
    async def test():
        async with pair() as (_, _, greeter):
            mine = Greeter()
            assert await captp.call(greeter, "echo-all", mine, mine) == (mine, mine)
            first, second = await captp.call(greeter, "echo-all", greeter, greeter.itself())
            assert first == second
            assert len({first, second, await greeter}) == 1

    run(test)


def test_garbage_collection():
    async def test():
        async with pair() as (alice, bob, reference):
            await reference
            before = bob.stats()
            mine = Greeter()
            dead = weakref.ref(mine)
            await reference.keep(mine)
            del mine
            gc.collect()
            assert dead() is not None
            # The peer drops its reference.
            await reference.drop()
            await until(lambda: dead() is None)
            # Ours, to an object that only the reference keeps.
            (theirs,) = await captp.call(reference, "echo-all", alice.enliven(bob.publish(Greeter(), b"new")))
            bob.unpublish(b"new")
            assert await theirs.greet("Ann") == "Hello, Ann!"
            assert len(bob._objects) == 2
            del theirs
            await until(lambda: len(bob._objects) == 1 and len(bob._keys) == 1)
            await until(lambda: bob.stats() == before)
            # In another thread.
            (theirs,) = await captp.call(reference, "echo-all", alice.enliven(bob.publish(Greeter(), b"new")))
            bob.unpublish(b"new")
            held = [theirs]
            del theirs
            await asyncio.to_thread(held.clear)
            await until(lambda: len(bob._objects) == 1)
            assert (alice._waiting, alice._tasks, alice._objects) == ({}, set(), {})

    run(test)


def test_handoff():
    async def test():
        async with pair() as (alice, bob, greeter):
            network = captp.Network()
            network._members = bob._netlayers[0]._members
            async with captp.Node(network.join("carol")) as carol:
                listener = []
                theirs = alice.enliven(carol.publish(captp.expose(lambda word: listener.append(word))))
                # Bob calls Carol's object, although he has no locator of it; the second before it is there.
                await greeter.tell(await theirs)
                await greeter.tell(alice.enliven(carol.publish(captp.expose(lambda word: listener.append(word + "!")))))
                assert listener == ["news", "news!"]
                assert carol.stats()["connections"] == 2

    run(test)


def test_end_of_a_session():
    async def test():
        async with pair() as (alice, bob, greeter):
            never, _resolver = bob.promise()
            waits = alice.enliven(bob.publish(never))
            found = await greeter
            pending = [asyncio.ensure_future(it) for it in (captp.on_broken(found), captp.on_broken(greeter))]
            waiting = asyncio.ensure_future(waits)
            await asyncio.sleep(0.05)
            assert not any(it.done() for it in pending)
            await bob.close()
            await asyncio.gather(*pending)
            with pytest.raises(captp.Disconnected, match="disconnected: aborted by the peer: the node stops"):
                await waiting
            with pytest.raises(captp.Disconnected, match="disconnected"):
                await found.greet("Ann")
            await captp.on_broken(found)
            with pytest.raises(RuntimeError, match="not running"):
                bob.stats()
            promise, _resolver = alice.promise()
            hanging = asyncio.ensure_future(promise)
            await asyncio.sleep(0)
        with pytest.raises(captp.Disconnected, match="the node is closed"):
            await hanging

    run(test)


async def connect(sturdyref):
    """A connection to a TCP node, without CapTP."""
    hints = dict(hint.split("=") for hint in sturdyref.partition("?")[2].split("&"))
    return await asyncio.open_connection(hints["host"], int(hints["port"]))


def test_malformed_bytes_end_only_that_session():
    async def test():
        async with captp.Node(captp.Tcp(), limits={"hello_time": 100}) as bob, captp.Node(captp.Tcp()) as alice:
            sturdyref = bob.publish(Greeter())
            greeter = await alice.enliven(sturdyref)
            for data in [b"<8'op:abort", b"\0", b"10:", b"[" * 200, b"9999999999:", b"<3'foo>"]:
                reader, writer = await connect(sturdyref)
                writer.write(data)
                # It ends the connection, at the latest when the time for the hello is over.
                await reader.read()
                writer.close()
            assert await greeter.greet("Ann") == "Hello, Ann!"
            await until(lambda: bob.stats()["connections"] == 1)
            assert len(bob._links) == 1

    run(test)


def test_peer_that_does_not_read():
    async def test():
        limits = {"outbound_soft": 1 << 16, "outbound_hard": 1 << 21}
        async with captp.Node(captp.Tcp(), limits=limits) as alice, captp.Node(captp.Tcp()) as bob:
            greeter = await alice.enliven(bob.publish(Greeter()))
            (connection,) = bob._links
            bob._links[connection].stream._reader._transport.pause_reading()
            draining = asyncio.ensure_future(flood(greeter, 100))
            # Some of it waits in the buffers of the operating system.
            await asyncio.sleep(0.2)
            assert not draining.done()
            assert alice.stats()["outbound"] <= 1 << 18
            draining.cancel()
            # Without `drain` it reaches the limit.
            with pytest.raises(captp.Limit, match="too many bytes wait to be sent"):
                for _ in range(100):
                    captp.send(greeter, "note", bytes(1 << 16))
            with pytest.raises(captp.Limit, match="too many bytes wait to be sent"):
                await greeter.notes()
            # The session goes on.
            (connection,) = bob._links
            bob._links[connection].stream._reader._transport.resume_reading()
            await captp.drain(greeter)
            assert await greeter.greet("Ann") == "Hello, Ann!"

    async def flood(greeter, mebibytes):
        for _ in range(16 * mebibytes):
            captp.send(greeter, "note", bytes(1 << 16))
            await captp.drain(greeter)

    run(test)


@pytest.mark.parametrize("transport", ["tcp", "websocket"])
def test_peer_that_requests_more_than_it_reads(transport, monkeypatch):
    """It is not read from while too much waits for it, and its connection ends after a time."""
    netlayer = {"tcp": captp.Tcp, "websocket": websocket.WebSocket}[transport]

    class Store:
        calls = 0

        @captp.expose
        def blob(self, request):
            self.calls += 1
            return bytes(1 << 16)

    async def test():
        monkeypatch.setattr(_netlayer, "WRITE_TIME", 2.0)
        store = Store()
        limits = {"outbound_soft": 1 << 16, "outbound_hard": 1 << 18}
        async with captp.Node(netlayer(), limits=limits) as bob, captp.Node(netlayer()) as alice:
            blob = (await alice.enliven(bob.publish(store))).blob
            assert len(await blob(b"")) == 1 << 16
            (link,) = alice._links.values()
            transport_of(link.stream).pause_reading()
            # Few of these requests arrive at once, and few of their results fit into the operating system's buffers.
            results = [blob(bytes(1 << 13)) for _ in range(1000)]
            await asyncio.sleep(0.5)
            assert store.calls < 900
            assert bob.stats()["outbound"] < 1 << 20
            await until(lambda: bob.stats()["connections"] == 0)
            transport_of(link.stream).resume_reading()
            with pytest.raises(captp.Disconnected):
                await asyncio.gather(*results)

    def transport_of(stream):
        return stream._reader._transport if hasattr(stream, "_reader") else stream._peer.transport

    run(test)


def test_drain_goes_on():
    async def test():
        network = captp.Network()
        async with (
            captp.Node(network.join("alice"), limits={"outbound_soft": 1 << 17}) as alice,
            captp.Node(network.join("bob")) as bob,
        ):
            greeter = alice.enliven(bob.publish(Greeter()))
            await greeter
            for number in range(50):
                captp.send(greeter, "note", Record(number, bytes(1 << 16)))
                await captp.drain(greeter)
                assert alice.stats()["outbound"] <= 1 << 18
            assert (await (await greeter).notes()[49]).label == 49

    run(test)


def test_too_many_calls_at_a_time():
    async def test():
        async with pair(limits={"answers": 10}) as (alice, bob, greeter):
            gate = asyncio.Event()

            @captp.expose
            async def wait():
                await gate.wait()
                return "done"

            waiter = await alice.enliven(bob.publish(wait))
            calls = [asyncio.ensure_future(waiter()) for _ in range(5)]
            await asyncio.sleep(0.1)
            gate.set()
            assert await asyncio.gather(*calls) == ["done"] * 5
            gate.clear()
            for _ in range(11):
                captp.send(waiter, None)
            with pytest.raises(captp.Disconnected, match="too many calls are being handled"):
                await waiter()

    run(test)


def test_values_that_python_does_not_have():
    class One(int):
        def __hash__(self):
            return 2

    # Two keys in Syrup, and here, since they have different hashes. 1 and True are one key in Python.
    value = {True: "a", One(1): "b"}

    @captp.expose
    def result():
        return value

    async def test():
        async with pair() as (alice, bob, greeter):
            equal = "two keys or set members are equal in Python"
            with pytest.raises(captp.Broken, match=equal):
                await greeter.greet([greeter, value])
            with pytest.raises(captp.Broken, match=equal):
                await alice.enliven(bob.publish(result))()
            assert await greeter.greet("Ann") == "Hello, Ann!"

    run(test)


def test_starting_and_closing():
    async def test():
        network = captp.Network()
        node = captp.Node(network.join("alice"))
        with pytest.raises(RuntimeError, match="not running"):
            node.publish(Greeter())
        async with node, captp.Node(network.join("bob")) as bob:
            with pytest.raises(RuntimeError, match="twice"):
                await node.__aenter__()
            with pytest.raises(FileExistsError):
                async with captp.Node(captp.Tcp(), network.join("alice")):
                    pass
            for wrong in [5, object(), Greeter().hidden]:
                with pytest.raises(TypeError, match="exposed"):
                    node.publish(wrong)
            with pytest.raises(ValueError, match="empty"):
                node.publish(Greeter(), b"")
            # A reference to an object of a third node can be published.
            greeter = bob.enliven(node.publish(node.enliven(bob.publish(Greeter()))))
            assert await greeter.greet("Ann") == "Hello, Ann!"
            # Objects of this node are called without a connection.
            here = node.enliven(node.publish(Greeter()))
            assert await here.greet("Ann") == "Hello, Ann!"
            assert isinstance(await here, Greeter)
            await captp.drain(here)
            with pytest.raises(TypeError, match="of a peer"):
                await captp.on_broken(here)
        await node.close()
        with pytest.raises(RuntimeError, match="not running"):
            here.greet("Ann")
        with pytest.raises(RuntimeError, match="twice"):
            await node.__aenter__()

    run(test)


def test_settings():
    for options in [{"dialect": "x"}, {"framing": "x"}, {"limits": {"x": 1}}, {"limits": {"signatures": 1 << 40}}]:

        async def test(options=options):
            async with captp.Node(captp.Tcp(), **options):
                pass

        with pytest.raises(ValueError):
            run(test)


def test_unix_sockets_stay_in_their_folder(tmp_path):
    async def test():
        (tmp_path / "other").mkdir()
        async with (
            captp.Node(captp.Unix(tmp_path / "a")) as alice,
            captp.Node(captp.Unix(tmp_path / "other" / "b")) as bob,
        ):
            with pytest.raises(captp.Broken, match="folder"):
                await alice.enliven(bob.publish(Greeter()))
            with pytest.raises(FileExistsError):
                async with captp.Node(captp.Unix(tmp_path / "a")):
                    pass
        assert not (tmp_path / "a").exists()

    run(test)


def test_websocket_peers_prove_who_they_are():
    async def test():
        async with (
            captp.Node(websocket.WebSocket()) as alice,
            captp.Node(websocket.WebSocket()) as bob,
            captp.Node(websocket.WebSocket()) as carol,
        ):
            sturdyref = bob.publish(Greeter())
            assert await alice.enliven(sturdyref).greet("Ann") == "Hello, Ann!"
            impostor = carol._netlayers[0].hints["url"].rpartition(":")[2]
            port = bob._netlayers[0].hints["url"].rpartition(":")[2]
            for url, error in [
                (sturdyref.replace(port, impostor), "does not prove its designator"),
                (sturdyref.replace("ws:", "http:"), "expected a ws: or wss: URL"),
                (sturdyref.replace("127.0.0.1", "192.0.2.1"), "not reachable by policy"),
                (sturdyref.partition("?")[0], "expected the hint `url`"),
                (sturdyref.replace(f":{port}", ":1"), "cannot connect: .*failed"),
            ]:
                with pytest.raises(captp.Disconnected, match=error):
                    await carol.enliven(url)

    run(test)


def test_websocket_over_tls():
    certificate, key = VECTORS / "localhost.pem", VECTORS / "localhost-key.pem"

    async def test():
        # A proxy that terminates TLS.
        async def proxy(reader, writer):
            inside = await asyncio.open_connection("127.0.0.1", layer._bound[1])
            await asyncio.gather(copy(reader, inside[1]), copy(inside[0], writer))

        async def copy(reader, writer):
            with contextlib.suppress(OSError):
                while data := await reader.read(1 << 16):
                    writer.write(data)
            writer.close()

        server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        server.load_cert_chain(certificate, key)
        listener = await asyncio.start_server(proxy, "127.0.0.1", 0, ssl=server)
        port = listener.sockets[0].getsockname()[1]
        trusting = ssl.create_default_context(cafile=certificate)
        for host in ["localhost", "127.0.0.1"]:
            layer = websocket.WebSocket(url=f"wss://{host}:{port}")
            async with (
                captp.Node(layer) as bob,
                captp.Node(websocket.WebSocket(tls=trusting)) as alice,
                captp.Node(websocket.WebSocket()) as carol,
            ):
                sturdyref = bob.publish(Greeter())
                name = "x" * 500_000
                assert await alice.enliven(sturdyref).greet(name) == f"Hello, {name}!"
                with pytest.raises(captp.Disconnected, match="CERTIFICATE_VERIFY_FAILED"):
                    await carol.enliven(sturdyref)
        listener.close()

    run(test)


def test_websocket_listener():
    async def test():
        layer = websocket.WebSocket(origins=["https://good.example"], max_message=1000)
        async with captp.Node(layer) as node:
            url, nonce = layer.hints["url"], bytes(32)
            with pytest.raises(InvalidStatus):
                await connect_websocket(url, origin="https://bad.example")
            for first in ["text", b"no challenge", bytes(2000)]:
                async with connect_websocket(url) as peer:
                    await peer.send(first)
                    with pytest.raises(ConnectionClosed):
                        await peer.recv()
            async with connect_websocket(url, origin="https://good.example") as peer:
                await peer.send(PeerKey.challenge(nonce))
                answer = await peer.recv()
                PeerKey.verify(layer.designator, nonce, answer)
                for designator, other in [(layer.designator, b"\1" * 32), (PeerKey(bytes(32)).designator, nonce)]:
                    with pytest.raises(LyditeError):
                        PeerKey.verify(designator, other, answer)
                await peer.send([b"no ", b"hello"])
                assert b"op:abort" in await peer.recv()
                with pytest.raises(ConnectionClosed):
                    await peer.recv()
            await until(lambda: not node._links)

    run(test)


def test_websocket_ends_a_slow_message(monkeypatch):
    monkeypatch.setattr(websocket, "_MESSAGE_TIME", 0.2)

    async def test():
        layer = websocket.WebSocket()
        async with captp.Node(layer) as node:
            async with connect_websocket(layer.hints["url"]) as peer:
                await peer.send(PeerKey.challenge(bytes(32)))
                await peer.recv()
                await until(lambda: node._links)

                async def parts():
                    yield b"<"
                    await until(lambda: not node._links)
                    yield b">"

                with pytest.raises(ConnectionClosed):
                    await peer.send(parts())

    run(test)


def test_websocket_drops_the_oldest_of_too_many_handshakes(monkeypatch):
    monkeypatch.setattr(websocket, "_HANDSHAKES", 2)

    async def test():
        layer = websocket.WebSocket()
        async with captp.Node(layer):
            port = int(layer.hints["url"].rpartition(":")[2])
            pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            assert await pairs[0][0].read() == b""
            async with connect_websocket(layer.hints["url"]) as peer:
                await peer.send(PeerKey.challenge(bytes(32)))
                await peer.recv()
            for _, writer in pairs:
                writer.close()

    run(test)


def test_which_addresses_peers_may_name():
    public, private, loopback = "8.8.8.8", "10.0.0.1", "127.0.0.1"
    for address, own, reach_private, expected in [
        (public, private, False, True),
        ("2606:4700::1", loopback, False, True),
        (loopback, loopback, False, True),
        ("::1", loopback, False, True),
        ("::ffff:127.0.0.1", public, False, False),
        (loopback, public, False, False),
        (loopback, public, True, True),
        ("192.168.1.1", private, False, True),
        ("100.64.0.1", private, False, True),
        ("fd00::1", public, False, False),
        ("172.31.0.1", loopback, False, False),
        ("169.254.169.254", loopback, True, False),
        ("0.0.0.0", "0.0.0.0", True, False),
        ("224.0.0.1", loopback, True, False),
        ("255.255.255.255", loopback, True, False),
        ("fe80::1", loopback, True, False),
        ("2002:7f00:1::", loopback, True, False),
        ("2001::1", loopback, True, False),
        ("64:ff9b::7f00:1", loopback, True, False),
        ("::", "::", True, False),
    ]:
        assert may_reach(address, own, private=reach_private) == expected, address


# The objects of the OCapN test suite.
BUILDER = "JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ"
ECHO = "IO58l1laTyhcrgDKbEzFOO32MDd6zE5w"
GREETER = "VMDDd1voKWarCe2GvgLbxbVFysNzRPzx"

COMMAND = os.environ.get("LYDITE_COMMAND")


@pytest.fixture(params=["tcp", "websocket"])
def rust(request):
    """Starts peers written in Rust. Returns a netlayer for a peer in Python and a function that starts one and returns
    its sturdyrefs."""
    if not COMMAND:
        pytest.skip("LYDITE_COMMAND is not set to the command `lydite` with the feature `net`")
    options = ["--websocket"] if request.param == "websocket" else []
    servers = []

    def serve():
        command = [COMMAND, "captp", "serve", "--suite", "--listen=127.0.0.1:0", *options]
        servers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        locator = servers[-1].stdout.readline().split()[-1]
        return servers[-1], lambda swiss: locator.replace("?", f"/s/{swiss}?")

    yield websocket.WebSocket if options else captp.Tcp, serve
    for server in servers:
        server.kill()
        server.communicate()


def test_rust(rust):
    netlayer, serve = rust
    first, second = serve(), serve()

    async def test():
        async with captp.Node(netlayer()) as node:
            # Three calls in one round trip.
            car = node.enliven(first[1](BUILDER))()((Symbol("red"), Symbol("zoomracer")))
            assert await car() == "Vroom! I am a red zoomracer car!"
            with pytest.raises(captp.Broken, match="expected a reference"):
                await node.enliven(first[1](GREETER))(5)
            echo = await node.enliven(first[1](ECHO))
            values = (True, -(2**200), 0.5, "Ä", b"\0", {"a": (None,)}, Symbol("s"))
            assert await echo(*values) == values
            # An object of ours is called, and comes back as itself.
            heard = []

            class Listener:
                @captp.expose
                def __call__(self, word):
                    heard.append(word)
                    return word + "?"

            listener = Listener()
            assert await node.enliven(first[1](GREETER))(listener) == "Hello?"
            assert (await echo(listener))[0] is listener
            dead = weakref.ref(listener)
            del listener
            await until(lambda: dead() is None)
            # A reference to an object of one is handed to the other.
            assert await node.enliven(second[1](GREETER))(echo) == ("Hello",)
            ended = asyncio.ensure_future(captp.on_broken(echo))
            await asyncio.sleep(0)
            first[0].kill()
            await ended
            with pytest.raises(captp.Disconnected, match="disconnected"):
                await echo()
            assert await node.enliven(second[1](ECHO))(1) == (1,)

    run(test)
