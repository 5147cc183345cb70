import hashlib

import arena_kit as kit
import syrup
from syrup import Record, Set, decode, encode


def values(item):
    return [decode(data) for data in kit.fields(item)]


def head(value):
    kind = type(value)
    if kind is list or kind is dict:
        return len(value)
    if kind is Record:
        return len(value.fields)
    return len(value.values) if kind is Set else 1


def messages(pieces):
    """Messages framed as length:payload, out of pieces."""
    rest = b""
    for piece in pieces:
        rest += piece
        at = 0
        while (colon := rest.find(b":", at, at + 8)) >= 0:
            end = colon + 1 + int(rest[at:colon])
            if end > len(rest):
                break
            yield decode(rest[colon + 1 : end])
            at = end
        rest = rest[at:]


class Server:
    __slots__ = ("host", "port", "enabled")

    def __init__(self, host, port, enabled):
        self.host, self.port, self.enabled = host, port, enabled

    def encode(self):
        return encode({"host": self.host, "port": self.port, "enabled": self.enabled})

    @classmethod
    def decode(cls, data):
        fields = decode(data)
        return cls(fields["host"], fields["port"], fields["enabled"])


def servers(item):
    found, at = [], 0
    while at < len(item):
        host, at = kit.lp(item, at)
        port = int.from_bytes(item[at : at + 8], "little", signed=True)
        found.append(Server(host.decode(), port, item[at + 8] == 1))
        at += 9
    return found


def flat(server):
    return [server.host.encode(), server.port.to_bytes(8, "little", signed=True) + bytes([server.enabled])]


def entries(item):
    (flat,) = values(item)
    return list(zip(flat[::2], flat[1::2]))


def label(record, w):
    """Eight characters of the label from its second on."""
    kind = type(record.label)
    return Record(kind(kit.set_digits(record.label, 1, w)), record.fields)


def port(server, w):
    return Server(server.host, server.port & ~0xFFFF | w >> 16, server.enabled)


def refuses(data):
    try:
        decode(data)
    except syrup.SyrupError:
        return True
    return False


encoders = kit.array(values, lambda trees: [encode(tree) for tree in trees]).changes("digits@5", label)
decoders = kit.decoder(kit.fields, lambda items: [decode(data) for data in items], head, encode)
roundtrip = kit.decoder(values, lambda trees: [decode(encode(tree)) for tree in trees], head, encode)
owned = kit.checked(
    servers,
    lambda items: [Server.decode(server.encode()) for server in items],
    lambda server: flat(server),
    lambda server: b"".join([server.encode(), *flat(server)]),
).changes("le16@-9", port)

ops = {
    "neg:syrup_decode_owned": kit.neg(refuses),
    "syrup_encode": encoders,
    "syrup_decode_owned": decoders,
    "syrup_cid": kit.op(lambda item: values(item)[0], lambda tree: hashlib.sha256(encode(tree)).digest()).changes(
        "digits@5", label
    ),
    "syrup_roundtrip_tree": roundtrip,
    "syrup_roundtrip_struct_owned": owned,
    # A dict keeps insertion order, which is the order of the item. The encoder sorts.
    "syrup_encode_unsorted": kit.op(lambda item: dict(entries(item)), encode),
    "syrup_reencode": kit.op(lambda item: item, lambda data: encode(decode(data))),
    "syrup_stream_owned": kit.decoder(kit.fields, lambda pieces: list(messages(pieces)), head, encode),
}

kit.run("syrup-python", "0.1.0", ops)
