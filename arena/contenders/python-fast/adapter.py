"""What Python's users take for speed today, called directly: coincurve, safe-pysha3, faster-eth-abi, cchecksum."""

from importlib.metadata import version

import arena_kit as kit
import faster_eth_abi as eth_abi
import sha3
from cchecksum import to_checksum_address
from coincurve import PrivateKey, PublicKey
from ethereum_items import (
    RUNTIME_NESTED,
    RUNTIME_STATIC,
    dynamic_many,
    dynamic_one,
    head_of_pair,
    head_of_three,
    le32,
    messages,
    runtime_nested,
    runtime_nested_parts,
    runtime_static,
    runtime_static_parts,
    same,
    transfer,
    whole,
)

one = kit.op
many = kit.array
STATIC = ["address", "uint256"]
DYNAMIC = ["string", "bytes", "uint256[]"]
SELECTOR = bytes.fromhex("a9059cbb")


def keccak(data):
    return sha3.keccak_256(data).digest()


def hash_and_signature(item):
    return item[:32], item[32:97]


def recover(pair):
    digest, signature = pair
    return PublicKey.from_signature_and_message(signature, digest, hasher=None).format(compressed=False)[1:]


def key_and_hash(item):
    return PrivateKey(item[:32]), item[32:64]


def sign(pair):
    key, digest = pair
    return key.sign_recoverable(digest, hasher=None)


def addresses(rows):
    return [keccak(recover(row))[12:] for row in rows]


def decode_dynamic(rows):
    out = []
    for row in rows:
        string, data = eth_abi.decode(["string", "bytes"], row)
        out += [string.encode(), data]
    return out


def decode_runtime(item):
    string, data, numbers = eth_abi.decode(DYNAMIC, item)
    return [string.encode(), data, b"".join(le32(x) for x in numbers)]


def decode_runtime_static(rows):
    return [part for row in rows for part in runtime_static_parts(eth_abi.decode(RUNTIME_STATIC, row))]


def public_key(key):
    return PublicKey.from_secret(key).format(compressed=False)[1:]


base = {
    "secp256k1_sign": one(key_and_hash, sign),
    "secp256k1_sign_recover": one(key_and_hash, lambda pair: recover((pair[1], sign(pair)))),
    "secp256k1_recover": one(hash_and_signature, recover),
    "address_derivation": one(same, lambda key: keccak(key)[12:]),
    "checksum_address": one(same, lambda address: to_checksum_address(address).encode()),
    "abi_encode_transfer": many(transfer, lambda rows: [SELECTOR + eth_abi.encode(STATIC, row) for row in rows]),
    "abi_encode_static": many(transfer, lambda rows: [eth_abi.encode(STATIC, row) for row in rows]),
    "abi_encode_dynamic": many(dynamic_many, lambda rows: [eth_abi.encode(DYNAMIC, row) for row in rows]),
    "abi_decode_uint256": many(
        lambda item: kit.chunks(item, 32), lambda rows: [le32(eth_abi.decode(["uint256"], row)[0]) for row in rows]
    ),
    "abi_decode_dynamic": many(kit.fields, decode_dynamic),
}
ops = dict(base)
ops |= {name + "_varied": row for name, row in base.items()}
ops |= {f"keccak256_{size}": one(same, keccak) for size in ("empty", "32b", "256b", "1kb", "4kb", "to_300b_varied")}
ops |= {f"keccak256_{size}_varied": one(same, keccak) for size in ("32b", "256b", "1kb", "4kb")}
ops |= {f"keccak256_batch_{size}": many(messages, lambda rows: [keccak(r) for r in rows]) for size in ("32b", "256b", "mixed")}
for size in (8, 64, 1024):
    ops |= {
        f"secp256k1_recover_batch_{size}": many(
            lambda i: [hash_and_signature(x) for x in kit.chunks(i, 97)], addresses
        ),
        f"secp256k1_sign_batch_{size}": many(
            lambda i: [key_and_hash(x) for x in kit.chunks(i, 64)], lambda rows: [sign(row) for row in rows]
        ),
        f"secp256k1_public_key_batch_{size}": many(
            lambda i: kit.chunks(i, 32), lambda rows: [public_key(row) for row in rows]
        ),
    }
ops |= {
    "secp256k1_public_key_varied": one(same, public_key),
    "abi_encode_runtime_static_varied": many(runtime_static, lambda rows: [eth_abi.encode(RUNTIME_STATIC, row) for row in rows]),
    "abi_encode_runtime_nested_varied": one(runtime_nested, lambda values: eth_abi.encode(RUNTIME_NESTED, values)),
    "abi_decode_dynamic_strict_varied": many(kit.fields, decode_dynamic),
    "abi_decode_runtime_static_varied": many(lambda i: kit.chunks(i, 192), decode_runtime_static),
    "abi_decode_runtime_nested_varied": many(
        same, lambda data: runtime_nested_parts(eth_abi.decode(RUNTIME_NESTED, data))
    ),
    "abi_encode_runtime_varied": one(lambda item: dynamic_one(item)[0], lambda row: eth_abi.encode(DYNAMIC, row)),
    "abi_decode_runtime_varied": many(same, decode_runtime),
    "abi_decode_dynamic_heads_varied": kit.decoder(
        kit.fields, lambda rows: [eth_abi.decode(["string", "bytes"], row) for row in rows], head_of_pair, whole
    ),
    "abi_decode_runtime_heads_varied": kit.decoder(
        kit.fields, lambda rows: [eth_abi.decode(DYNAMIC, row) for row in rows], head_of_three, whole
    ),
    "neg:abi_decode_dynamic": kit.neg(kit.refuses(lambda item: eth_abi.decode(["string", "bytes"], item))),
    "neg:abi_decode_dynamic_strict": kit.neg(kit.refuses(lambda item: eth_abi.decode(["string", "bytes"], item))),
    "neg:secp256k1_recover": kit.neg(kit.refuses(lambda item: recover(hash_and_signature(item)))),
}
kit.run("python-fast", f"coincurve {version('coincurve')}, faster-eth-abi {version('faster-eth-abi')}", ops)
