"""Plain loops for arena/tests/plain/check.py: each library as its users call it, without the arena's kit.

Runs in the contender's environment: plain.py <contender>.
"""

import json
import struct
import sys
import time


def pieces(item, size):
    return [item[i : i + size] for i in range(0, len(item), size)]


def pair(row):
    return "0x" + row[:20].hex(), int.from_bytes(row[20:], "big")


def python_eth():
    import eth_abi
    from eth_hash.auto import keccak
    from eth_keys import keys

    keccak(b"")
    return {
        "keccak": keccak,
        "abi": lambda row: eth_abi.encode(["address", "uint256"], row),
        "secp256k1_sign": (
            lambda item: [(keys.PrivateKey(item[:32]), item[32:])],
            lambda pair: pair[0].sign_msg_hash(pair[1]).to_bytes(),
        ),
    }


def python_fast():
    import faster_eth_abi
    import sha3
    from coincurve import PrivateKey, PublicKey

    return {
        "keccak": lambda data: sha3.keccak_256(data).digest(),
        "abi": lambda row: faster_eth_abi.encode(["address", "uint256"], row),
        "secp256k1_sign": (
            lambda item: [(PrivateKey(item[:32]), item[32:])],
            lambda pair: pair[0].sign_recoverable(pair[1], hasher=None),
        ),
        "secp256k1_public_key": (
            lambda item: [item],
            lambda key: PublicKey.from_secret(key).format(compressed=False)[1:],
        ),
    }


library = {"python-eth": python_eth, "python-fast": python_fast}[sys.argv[1]]()
MOD = 1 << 256
ROWS = {
    "keccak256_32b": (lambda item: [item], library["keccak"]),
    "keccak256_1kb": (lambda item: [item], library["keccak"]),
    "abi_encode_static": (lambda item: [pair(row) for row in pieces(item, 52)], library["abi"]),
    "hex_encode_32b": (lambda item: pieces(item, 32), lambda row: row.hex()),
    "hex_decode_32b": (lambda item: [row.decode() for row in pieces(item, 64)], bytes.fromhex),
    "u256_add": (
        lambda item: [tuple(int.from_bytes(word, "little") for word in pieces(row, 32)) for row in pieces(item, 64)],
        lambda row: ((row[0] + row[1]) % MOD).to_bytes(32, "little"),
    ),
    **library,
}


def blobs(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


READERS = {}


def read(output):
    """Reads an output, as 64-bit words: the sum that every contender must give costs more than many calls."""
    data = output.encode() if isinstance(output, str) else output
    reader = READERS.get(len(data))
    if reader is None:
        reader = READERS[len(data)] = struct.Struct(f"<{len(data) // 8}Q{len(data) % 8}B").unpack
    return sum(reader(data))


def run(n, items, call):
    total = 0
    start = time.perf_counter_ns()
    for k in range(n):
        for element in items[k % len(items)]:
            total += read(call(element))
    return time.perf_counter_ns() - start


items = call = None
for line in sys.stdin:
    words = line.split()
    reply = {}
    if words[0] == "prepare":
        parse, call = ROWS[words[1]]
        items = [parse(item) for item in blobs(words[2])]
    else:
        reply = {"ns": run(int(words[1]), items, call)}
    print(json.dumps(reply), flush=True)
