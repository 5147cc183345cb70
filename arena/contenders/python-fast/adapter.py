"""What Python's users take for speed today, called directly: coincurve, safe-pysha3, faster-eth-abi, cchecksum."""

from importlib.metadata import version

import arena_kit as kit
import faster_eth_abi as eth_abi
import sha3
from cchecksum import to_checksum_address
from coincurve import PrivateKey, PublicKey
from ethereum_items import abi_rows, first, messages, same, second

one = kit.op
many = kit.array


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


def public_key(key):
    return PublicKey.from_secret(key).format(compressed=False)[1:]


ops = abi_rows(eth_abi) | {
    "keccak256": one(same, keccak),
    "keccak256_batch": many(messages, lambda rows: [keccak(r) for r in rows]),
    "secp256k1_sign": one(key_and_hash, sign).changes("le@32", second),
    "secp256k1_sign_recover": one(key_and_hash, lambda pair: recover((pair[1], sign(pair)))).changes("le@32", second),
    "secp256k1_recover": one(hash_and_signature, recover).changes("le@0", first),
    "address_derivation": one(same, lambda key: keccak(key)[12:]),
    "checksum_address": one(same, lambda address: to_checksum_address(address).encode()),
    "secp256k1_recover_batch": many(lambda i: [hash_and_signature(x) for x in kit.chunks(i, 97)], addresses).changes(
        "le@0", first
    ),
    "secp256k1_sign_batch": many(
        lambda i: [key_and_hash(x) for x in kit.chunks(i, 64)], lambda rows: [sign(row) for row in rows]
    ).changes("le@32", second),
    "secp256k1_public_key_batch": many(lambda i: kit.chunks(i, 32), lambda rows: [public_key(row) for row in rows]),
    "secp256k1_public_key": one(same, public_key),
    "neg:secp256k1_recover": kit.neg(kit.refuses(lambda item: recover(hash_and_signature(item)))),
}
kit.run("python-fast", f"coincurve {version('coincurve')}, faster-eth-abi {version('faster-eth-abi')}", ops)
