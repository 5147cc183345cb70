"""Lydite's Python package."""

import struct

import arena_kit as kit
import lydite
from ethereum_items import (
    RUNTIME_NESTED,
    RUNTIME_STATIC,
    amount,
    dynamic_many,
    dynamic_one,
    fields_many,
    fields_one,
    first,
    head_of_pair,
    head_of_three,
    le32,
    messages,
    nested_address,
    recipient,
    runtime_nested,
    runtime_nested_parts,
    runtime_static,
    runtime_static_parts,
    same,
    second,
    string,
    text,
    transfer,
    typed,
    typed_amount,
    whole,
)

one = kit.op
many = kit.array
STATIC = lydite.Codec("(address,uint256)")
DYNAMIC = lydite.Codec("(string,bytes,uint256[])")
TEXT_AND_DATA = lydite.Codec("(string,bytes)")
NUMBER = lydite.Codec("uint256")
WORDS = lydite.Codec(f"({','.join(RUNTIME_STATIC)})")
NESTED = lydite.Codec(f"({','.join(RUNTIME_NESTED)})")
SELECTOR = lydite.selector("transfer(address,uint256)")


def hash_and_signature(item):
    return item[:32], item[32:97]


def recover(pair):
    return lydite.recover_public_key(*pair)


def key_and_hash(item):
    return item[:32], item[32:64]


def sign(pair):
    key, digest = pair
    return lydite.sign(digest, key)


def sign_recover(pair):
    return lydite.recover_public_key(pair[1], sign(pair))


def recover_batch(item):
    rows = kit.chunks(item, 97)
    return b"".join(row[:32] for row in rows), b"".join(row[32:] for row in rows)


def change_hashes(columns, x):
    hashes, signatures = columns
    rows = kit.chunks(hashes, 32)
    return b"".join(kit.set_le(row, 0, kit.word(x, i)) for i, row in enumerate(rows)), signatures


def addresses(pair):
    found, _ = lydite.ecrecover_batch(*pair)
    return kit.chunks(found, 20)


def verify(item):
    return b"\x01" if lydite.verify(item[96:160], item[:32], item[32:96]) else b"\x00"


def decode_strict(data):
    return TEXT_AND_DATA.decode(data, canonical=True)


def decode_dynamic(rows, decode=TEXT_AND_DATA.decode):
    out = []
    for row in rows:
        string, data = decode(row)
        out += [string.encode(), data]
    return out


def decode_runtime(item):
    string, data, numbers = DYNAMIC.decode(item)
    return [string.encode(), data, b"".join(le32(x) for x in numbers)]


def decode_runtime_static(rows):
    return [part for row in rows for part in runtime_static_parts(WORDS.decode(row))]


def decode_u256(data):
    """RLP gives bytes; a number has no leading zero and, here, 32 bytes at most."""
    number = lydite.rlp_decode(data)
    if not isinstance(number, bytes) or len(number) > 32 or number[:1] == b"\x00":
        raise ValueError(number)
    return le32(int.from_bytes(number, "big"))


def tx_hash(fields):
    return lydite.keccak256(b"\x02" + lydite.rlp_encode(fields))


def tx_hash_raw(raw):
    return lydite.Tx.decode(raw).hash


def tx_decode(raw):
    tx = lydite.Tx.decode(raw)
    return (tx.to or bytes(20)) + struct.pack("<QQ", tx.nonce, tx.gas_limit) + le32(tx.value)


def tx_sender(raw):
    tx = lydite.Tx.decode(raw)
    return tx.hash + tx.sender


ops = {
    "keccak256": one(same, lydite.keccak256),
    "keccak256_batch": many(messages, lydite.keccak256_batch),
    "secp256k1_sign": one(key_and_hash, sign).changes("le@32", second),
    "secp256k1_sign_recover": one(key_and_hash, sign_recover).changes("le@32", second),
    "secp256k1_recover": one(hash_and_signature, recover).changes("le@0", first),
    "address_derivation": one(same, lambda key: lydite.keccak256(key)[12:]),
    "checksum_address": one(same, lambda address: lydite.to_checksum_address(address).encode()),
    "abi_encode_transfer": many(transfer, lambda rows: [SELECTOR + STATIC.encode(row) for row in rows]).changes("be@-4", amount),
    "abi_encode_static": many(transfer, lambda rows: [STATIC.encode(row) for row in rows]).changes("be@-4", amount),
    "abi_encode_dynamic": many(dynamic_many, lambda rows: [DYNAMIC.encode(row) for row in rows]).changes("digits@4", string),
    "abi_decode_uint256": many(lambda i: kit.chunks(i, 32), lambda rows: [le32(NUMBER.decode(row)[0]) for row in rows]),
    "abi_decode_dynamic": many(kit.fields, decode_dynamic),
    "rlp_encode_eip1559_tx": many(fields_many, lambda rows: [lydite.rlp_encode(row) for row in rows]).changes("le@56", recipient),
    "rlp_encode_eip1559_tx_typed": many(fields_many, lambda rows: [b"\x02" + lydite.rlp_encode(row) for row in rows]).changes(
        "le@56", recipient
    ),
    "rlp_decode_u256": many(kit.fields, lambda rows: [decode_u256(row) for row in rows]),
    "tx_hash_eip1559": one(lambda item: fields_one(item)[0], tx_hash).changes("le@56", recipient),
    "eip712_hash_typed_data": one(typed, lydite.hash_typed_data).changes("be@-4", typed_amount),
    "eip712_hash_typed_data_json": one(text, lydite.hash_typed_data),
    "secp256k1_recover_batch": many(recover_batch, addresses).changes_all("le@0", change_hashes),
    "secp256k1_verify_batch": many(lambda i: kit.chunks(i, 160), lambda rows: [verify(row) for row in rows]),
    "secp256k1_sign_batch": many(
        lambda i: [key_and_hash(x) for x in kit.chunks(i, 64)], lambda rows: [sign(row) for row in rows]
    ).changes("le@32", second),
    "secp256k1_public_key_batch": many(lambda i: kit.chunks(i, 32), lambda rows: [lydite.public_key(row) for row in rows]),
    "secp256k1_verify": one(same, verify),
    "secp256k1_public_key": one(same, lydite.public_key),
    "abi_encode_runtime": one(lambda item: dynamic_one(item)[0], DYNAMIC.encode).changes("digits@4", string),
    "abi_encode_runtime_static": many(runtime_static, lambda rows: [WORDS.encode(row) for row in rows]).changes(
        "be@48", lambda row, w: (row[0], kit.set_low(row[1], w), *row[2:])
    ),
    "abi_encode_runtime_nested": one(runtime_nested, NESTED.encode).changes("le@0", nested_address),
    "abi_decode_dynamic_strict": many(kit.fields, lambda rows: decode_dynamic(rows, decode_strict)),
    "abi_decode_runtime": many(same, decode_runtime),
    "abi_decode_runtime_static": many(lambda i: kit.chunks(i, 192), decode_runtime_static),
    "abi_decode_runtime_nested": many(same, lambda data: runtime_nested_parts(NESTED.decode(data))),
    "abi_decode_dynamic_heads": kit.decoder(
        kit.fields, lambda rows: [TEXT_AND_DATA.decode(row) for row in rows], head_of_pair, whole
    ),
    "abi_decode_runtime_heads": kit.decoder(
        kit.fields, lambda rows: [DYNAMIC.decode(row) for row in rows], head_of_three, whole
    ),
    "tx_decode": one(same, tx_decode),
    "tx_hash": one(same, tx_hash_raw),
    "tx_hash_batch": many(kit.fields, lambda raws: [tx_hash_raw(raw) for raw in raws]),
    "tx_sender": one(same, tx_sender),
    "neg:abi_decode_dynamic": kit.neg(kit.refuses(TEXT_AND_DATA.decode)),
    "neg:abi_decode_dynamic_strict": kit.neg(kit.refuses(decode_strict)),
    "neg:rlp_decode_u256": kit.neg(kit.refuses(decode_u256)),
    "neg:tx_decode": kit.neg(kit.refuses(lydite.Tx.decode)),
    "neg:secp256k1_recover": kit.neg(kit.refuses(lambda item: recover(hash_and_signature(item)))),
}

kit.run("lydite-python", "0.1.0", ops)
