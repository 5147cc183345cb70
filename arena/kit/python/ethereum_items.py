"""How the items of the Ethereum rows are read (docs/adding-a-contender.md), for the contenders in Python."""

import struct

import arena_kit as kit


def same(item):
    return item


def text(item):
    return item.decode()


def le32(value):
    return value.to_bytes(32, "little")


def messages(item):
    (count,) = struct.unpack_from("<I", item)
    out, at = [], 4
    for _ in range(count):
        message, at = kit.lp(item, at)
        out.append(message)
    return out


def transfer(item):
    return [("0x" + row[:20].hex(), int.from_bytes(row[20:], "big")) for row in kit.chunks(item, 52)]


def dynamic_one(item, at=0):
    text, at = kit.lp(item, at)
    data, at = kit.lp(item, at)
    (count,) = struct.unpack_from("<I", item, at)
    words = kit.chunks(item[at + 4 : at + 4 + 32 * count], 32)
    return (text.decode(), data, [int.from_bytes(w, "big") for w in words]), at + 4 + 32 * count


def head_of_pair(value):
    """What is summed of a decoded (string,bytes)."""
    return len(value[1])


def head_of_three(value):
    """What is summed of a decoded (string,bytes,uint256[])."""
    return len(value[1]) + len(value[2])


def whole(value):
    """All of either, for `verify`."""
    text, data, *numbers = value
    return text.encode() + data + b"".join(le32(number) for list in numbers for number in list)


# Changes of parsed elements by the rules of the rows


def amount(row, w):
    return row[0], kit.set_low(row[1], w)


def string(row, w):
    return kit.set_digits(row[0], 0, w), *row[1:]


def recipient(fields, w):
    return [*fields[:5], kit.set_le(fields[5], 0, w), *fields[6:]]


def second(pair, w):
    """The hash of a key and a hash."""
    return pair[0], kit.set_le(pair[1], 0, w)


def first(pair, w):
    """The hash of a hash and a signature."""
    return kit.set_le(pair[0], 0, w), pair[1]


def typed_amount(document, w):
    message = document["message"]
    return {**document, "message": {**message, "amount": kit.set_low(message["amount"], w)}}


def nested_address(values, w):
    return "0x" + w.to_bytes(4, "little").hex() + values[0][10:], *values[1:]


def dynamic_many(item):
    out, at = [], 0
    while at < len(item):
        row, at = dynamic_one(item, at)
        out.append(row)
    return out


RUNTIME_STATIC = ["address", "uint256", "uint64", "bool", "bytes32", "int64"]
RUNTIME_NESTED = ["address", "(uint256,string)[]", "bytes[]"]


def runtime_static(item):
    """Rows of RUNTIME_STATIC to be encoded."""

    def values(row):
        address, number, small = "0x" + row[:20].hex(), int.from_bytes(row[20:52], "big"), row[52:60]
        signed = int.from_bytes(row[93:], "big", signed=True)
        return address, number, int.from_bytes(small, "big"), row[60] == 1, row[61:93], signed

    return [values(row) for row in kit.chunks(item, 101)]


def runtime_static_parts(values):
    """What is summed of a row decoded."""
    address, number, small, flag, word, signed = values
    signed = signed.to_bytes(32, "little", signed=True)
    return [bytes.fromhex(address[2:]), le32(number), le32(small), bytes([flag]), word, signed]


def runtime_nested(item):
    """Values of RUNTIME_NESTED to be encoded."""
    (count,) = struct.unpack_from("<I", item, 20)
    pairs, strings, at = [], [], 24
    for _ in range(count):
        number = int.from_bytes(item[at : at + 32], "big")
        name, at = kit.lp(item, at + 32)
        pairs.append((number, name.decode()))
    (count,) = struct.unpack_from("<I", item, at)
    at += 4
    for _ in range(count):
        string, at = kit.lp(item, at)
        strings.append(string)
    return "0x" + item[:20].hex(), pairs, strings


def runtime_nested_parts(values):
    """What is summed of them decoded."""
    address, pairs, strings = values
    parts = [bytes.fromhex(address[2:])]
    for number, name in pairs:
        parts += [le32(number), name.encode()]
    parts += strings
    return parts


def abi_rows(eth_abi):
    """The ABI rows of a module with the interface of eth-abi."""
    selector, static, pair = bytes.fromhex("a9059cbb"), ["address", "uint256"], ["string", "bytes"]
    dynamic = ["string", "bytes", "uint256[]"]

    def decode_dynamic(rows):
        out = []
        for row in rows:
            string, data = eth_abi.decode(pair, row)
            out += [string.encode(), data]
        return out

    def decode_runtime(item):
        string, data, numbers = eth_abi.decode(dynamic, item)
        return [string.encode(), data, b"".join(le32(x) for x in numbers)]

    def decode_runtime_static(rows):
        return [part for row in rows for part in runtime_static_parts(eth_abi.decode(RUNTIME_STATIC, row))]

    def encode_each(types):
        return lambda rows: [eth_abi.encode(types, row) for row in rows]

    refuses = kit.neg(kit.refuses(lambda item: eth_abi.decode(pair, item)))
    return {
        "abi_encode_transfer": kit.array(transfer, lambda rows: [selector + eth_abi.encode(static, row) for row in rows]).changes("be@-4", amount),
        "abi_encode_static": kit.array(transfer, encode_each(static)).changes("be@-4", amount),
        "abi_encode_dynamic": kit.array(dynamic_many, encode_each(dynamic)).changes("digits@4", string),
        "abi_decode_uint256": kit.array(
            lambda item: kit.chunks(item, 32), lambda rows: [le32(eth_abi.decode(["uint256"], row)[0]) for row in rows]
        ),
        "abi_decode_dynamic": kit.array(kit.fields, decode_dynamic),
        "abi_encode_runtime": kit.op(lambda item: dynamic_one(item)[0], lambda row: eth_abi.encode(dynamic, row)).changes("digits@4", string),
        "abi_encode_runtime_static": kit.array(runtime_static, encode_each(RUNTIME_STATIC)).changes(
            "be@48", lambda row, w: (row[0], kit.set_low(row[1], w), *row[2:])
        ),
        "abi_encode_runtime_nested": kit.op(runtime_nested, lambda values: eth_abi.encode(RUNTIME_NESTED, values)).changes(
            "le@0", nested_address
        ),
        "abi_decode_dynamic_strict": kit.array(kit.fields, decode_dynamic),
        "abi_decode_runtime": kit.array(same, decode_runtime),
        "abi_decode_runtime_static": kit.array(lambda item: kit.chunks(item, 192), decode_runtime_static),
        "abi_decode_runtime_nested": kit.array(
            same, lambda data: runtime_nested_parts(eth_abi.decode(RUNTIME_NESTED, data))
        ),
        "abi_decode_dynamic_heads": kit.decoder(
            kit.fields, lambda rows: [eth_abi.decode(pair, row) for row in rows], head_of_pair, whole
        ),
        "abi_decode_runtime_heads": kit.decoder(
            kit.fields, lambda rows: [eth_abi.decode(dynamic, row) for row in rows], head_of_three, whole
        ),
        "neg:abi_decode_dynamic": refuses,
        "neg:abi_decode_dynamic_strict": refuses,
    }


def fields_one(item, at=0):
    chain, nonce = struct.unpack_from("<QQ", item, at)
    tip, cap = (int.from_bytes(item[at + i : at + i + 16], "little") for i in (16, 32))
    (gas,) = struct.unpack_from("<Q", item, at + 48)
    to, value = item[at + 56 : at + 76], int.from_bytes(item[at + 76 : at + 108], "big")
    data, at = kit.lp(item, at + 108)
    (entries,) = struct.unpack_from("<I", item, at)
    at += 4
    access = []
    for _ in range(entries):
        (count,) = struct.unpack_from("<I", item, at + 20)
        access.append([item[at : at + 20], kit.chunks(item[at + 24 : at + 24 + 32 * count], 32)])
        at += 24 + 32 * count
    return [chain, nonce, tip, cap, gas, to, value, data, access], at


def fields_many(item):
    out, at = [], 0
    while at < len(item):
        row, at = fields_one(item, at)
        out.append(row)
    return out


TYPES = {
    "EIP712Domain": [
        {"name": "name", "type": "string"},
        {"name": "version", "type": "string"},
        {"name": "chainId", "type": "uint256"},
        {"name": "verifyingContract", "type": "address"},
    ],
    "Transfer": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
}


def typed(item):
    name, at = kit.lp(item, 0)
    release, at = kit.lp(item, at)
    (chain,) = struct.unpack_from("<Q", item, at)
    contract, to = item[at + 8 : at + 28], item[at + 28 : at + 48]
    return {
        "types": TYPES,
        "primaryType": "Transfer",
        "domain": {
            "name": name.decode(),
            "version": release.decode(),
            "chainId": chain,
            "verifyingContract": "0x" + contract.hex(),
        },
        "message": {"to": "0x" + to.hex(), "amount": int.from_bytes(item[at + 48 : at + 80], "big")},
    }
