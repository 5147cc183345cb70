"""The Python stack of Ethereum: eth-hash, eth-keys, eth-abi, rlp, eth-account, eth-utils."""

import json
import struct
from importlib.metadata import version

import arena_kit as kit
import eth_abi
import rlp
from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_typed_data
from eth_account.typed_transactions import TypedTransaction
from eth_hash.auto import keccak
from eth_keys import keys
from eth_utils import to_canonical_address, to_checksum_address
from ethereum_items import (
    abi_rows,
    fields_many,
    fields_one,
    first,
    le32,
    messages,
    recipient,
    same,
    second,
    text,
    typed,
    typed_amount,
)
from hexbytes import HexBytes
from rlp.sedes import big_endian_int

keccak(b"")  # eth-hash loads its backend on first use


def u256s(item, per):
    values = [int.from_bytes(word, "little") for word in kit.chunks(item, 32)]
    return [tuple(values[i : i + per]) for i in range(0, len(values), per)]


MOD = 1 << 256


def amount_out(amount_in, reserve_in, reserve_out):
    with_fee = amount_in * 997
    return with_fee * reserve_out // (reserve_in * 1000 + with_fee)


def swap(liquidity, price, amount):
    return liquidity * price // ((liquidity + amount * price) % MOD)


def u256_op(per, function):
    row = kit.array(lambda item: u256s(item, per), lambda rows: [le32(function(*row)) for row in rows])
    return row.changes("le@4", lambda row, w: (row[0] & ~(kit.WORD << 32) | w << 32, *row[1:]))


def signature(item):
    return item[:32], item[32:97]


def recover(pair):
    digest, sig = pair
    return keys.Signature(sig).recover_public_key_from_msg_hash(digest)


def sign_pair(item):
    return keys.PrivateKey(item[:32]), item[32:64]


def sign_recover(pair):
    key, digest = pair
    return key.sign_msg_hash(digest).recover_public_key_from_msg_hash(digest).to_bytes()


def verify_item(item):
    return item[:32], item[32:96], keys.PublicKey(item[96:160])


def verify(row):
    digest, sig, key = row
    return b"\x01" if keys.Signature(sig + b"\x00").verify_msg_hash(digest, key) else b"\x00"



def tx_hash(fields):
    return keccak(b"\x02" + rlp.encode(fields))


def decode(raw):
    return TypedTransaction.from_bytes(HexBytes(raw))


def tx_hash_raw(raw):
    decode(raw)
    return keccak(raw)


def tx_decode(raw):
    tx = decode(raw).as_dict()
    head = (tx["to"] or bytes(20)) + struct.pack("<QQ", tx["nonce"], tx["gas"])
    return bytes(head + le32(tx["value"]))


def tx_sender(raw):
    return keccak(raw) + to_canonical_address(Account.recover_transaction(raw))


def typed_hash(document):
    return bytes(_hash_eip191_message(encode_typed_data(full_message=document)))


def typed_json(document):
    return typed_hash(json.loads(document))


one = kit.op
many = kit.array
batch_recover = many(lambda i: [signature(x) for x in kit.chunks(i, 97)], lambda rows: [recover(r).to_canonical_address() for r in rows])
batch_recover.changes("le@0", first)
ops = abi_rows(eth_abi) | {
    "keccak256": one(same, keccak),
    "keccak256_batch": many(messages, lambda rows: [keccak(r) for r in rows]),
    "secp256k1_sign": one(sign_pair, lambda p: p[0].sign_msg_hash(p[1]).to_bytes()).changes("le@32", second),
    "secp256k1_sign_recover": one(sign_pair, sign_recover).changes("le@32", second),
    "secp256k1_recover": one(signature, lambda p: recover(p).to_bytes()).changes("le@0", first),
    "address_derivation": one(same, lambda key: keccak(key)[12:]),
    "address_from_hex": many(lambda i: [x.decode() for x in kit.chunks(i, 42)], lambda rows: [to_canonical_address(r) for r in rows]),
    "checksum_address": one(same, lambda a: to_checksum_address(a).encode()),
    "hex_encode_32b": many(lambda i: kit.chunks(i, 32), lambda rows: [r.hex().encode() for r in rows]),
    "hex_decode_32b": many(lambda i: [x.decode() for x in kit.chunks(i, 64)], lambda rows: [bytes.fromhex(r) for r in rows]),
    "rlp_encode_eip1559_tx": many(fields_many, lambda rows: [rlp.encode(r) for r in rows]).changes("le@56", recipient),
    "rlp_encode_eip1559_tx_typed": many(fields_many, lambda rows: [b"\x02" + rlp.encode(r) for r in rows]).changes(
        "le@56", recipient
    ),
    "rlp_decode_u256": many(kit.fields, lambda rows: [le32(rlp.decode(r, big_endian_int)) for r in rows]),
    "u256_add": u256_op(2, lambda a, b: (a + b) % MOD),
    "u256_mul": u256_op(2, lambda a, b: a * b % MOD),
    "u256_div": u256_op(2, lambda a, b: a // b),
    "u256_uniswapv2_amount_out": u256_op(3, amount_out),
    "u256_mulDiv": u256_op(3, lambda a, b, d: a * b // d),
    "u256_uniswapv4_swap": u256_op(3, swap),
    "tx_hash_eip1559": one(lambda i: fields_one(i)[0], tx_hash).changes("le@56", recipient),
    "eip712_hash_typed_data": one(typed, typed_hash).changes("be@-4", typed_amount),
    "eip712_hash_typed_data_json": one(text, typed_json),
    "secp256k1_recover_batch": batch_recover,
    "secp256k1_verify_batch": many(
        lambda i: [verify_item(x) for x in kit.chunks(i, 160)], lambda rows: [verify(row) for row in rows]
    ),
    "secp256k1_sign_batch": many(
        lambda i: [sign_pair(x) for x in kit.chunks(i, 64)],
        lambda rows: [key.sign_msg_hash(digest).to_bytes() for key, digest in rows],
    ).changes("le@32", second),
    "secp256k1_public_key_batch": many(
        lambda i: kit.chunks(i, 32), lambda rows: [keys.PrivateKey(key).public_key.to_bytes() for key in rows]
    ),
    "secp256k1_verify": one(verify_item, verify),
    "secp256k1_public_key": one(same, lambda key: keys.PrivateKey(key).public_key.to_bytes()),
    "tx_decode": one(same, tx_decode),
    "tx_hash": one(same, tx_hash_raw),
    "tx_hash_batch": many(kit.fields, lambda raws: [tx_hash_raw(raw) for raw in raws]),
    "tx_sender": one(same, tx_sender),
    "neg:hex_decode_32b": kit.neg(kit.refuses(lambda i: bytes.fromhex(i.decode()))),
    "neg:address_from_hex": kit.neg(kit.refuses(lambda i: to_canonical_address(i.decode()))),
    "neg:rlp_decode_u256": kit.neg(kit.refuses(lambda i: rlp.decode(i, big_endian_int))),
    "neg:tx_decode": kit.neg(kit.refuses(decode)),
    "neg:secp256k1_recover": kit.neg(kit.refuses(lambda i: recover(signature(i)))),
}
kit.run("python-eth", f"eth-account {version('eth-account')}", ops)
