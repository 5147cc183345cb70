"""CapTP on asyncio: references to objects of other processes.

A `Node` holds the sessions with all peers. It publishes objects under swiss numbers and finds those of others by their
sturdyrefs. A `Reference` can be called at once, also while its object is still being looked up: calls go out in program
order, and the result of one can be the target or an argument of the next. Dropping a reference releases the object at
its peer. References to third parties are handed off.

Peers can only call methods that are marked with `expose`.

Values are those of `lydite.syrup_encode`, `None`, references, and objects with exposed methods. Lists arrive as tuples.
A method is sent by its name, a `Symbol` as the first argument.

The protocol is in the native module, which does no I/O. A `Netlayer` opens connections: `Tcp` (for tests: it
authenticates nobody), `Unix`, `lydite.captp.websocket.WebSocket` if the package websockets is installed
(`lydite[captp]`), and `Network` within a process.
"""

from ._netlayer import Memory, Netlayer, Network, Stream, Tcp, Unix
from ._node import Broken, Disconnected, Limit, Node, Reference, Resolver, call, drain, expose, on_broken, send

__all__ = [
    "Broken",
    "Disconnected",
    "Limit",
    "Memory",
    "Netlayer",
    "Network",
    "Node",
    "Reference",
    "Resolver",
    "Stream",
    "Tcp",
    "Unix",
    "call",
    "drain",
    "expose",
    "on_broken",
    "send",
]
