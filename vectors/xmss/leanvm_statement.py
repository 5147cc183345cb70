#!/usr/bin/env python3
"""leanVM's XMSS on BLAKE2s, stated in plain Python on hashlib. Source: EthCryptographySpecs/Xmss of
ethereum/cryptography-specs at 5e3e2813 and its neighbours (September 2026), crates/xmss of leanEthereum/leanVM at 2510db48.

    leanvm_statement.py          checks leanvm.json against this statement
    leanvm_statement.py write    writes leanvm.json: the cases of tests/xmss of ethereum/cryptography-specs at c98bebb1 and
                                 785e5e0e, and more of the same kinds

The short outputs of those cases, copied from there, are the constants PUBLISHED below and must be met.
"""

import hashlib
import json
import os
import sys

PRF, CHAIN, LEAF, NODE, ENCODING, PARAMETER, FILLER, RANDOMIZER = range(8)


def tweak_hash(parameter, kind, place, index, payload):
    tweak = bytes([0, kind, 0, 0]) + place.to_bytes(4, "little") + bytes(4) + index.to_bytes(4, "little")
    return hashlib.blake2s(tweak + parameter + payload).digest()


def public_parameter(seed):
    return tweak_hash(bytes(16), PARAMETER, 0, 0, seed)[:16]


def chain_start(parameter, seed, epoch, chain):
    return tweak_hash(parameter, PRF, chain, epoch, seed)[:16]


def walk(parameter, epoch, chain, position, steps, value):
    for k in range(position, position + steps):
        value = tweak_hash(parameter, CHAIN, 8 * chain + k, epoch, value)[:16]
    return value


def leaf_of(parameter, epoch, ends):
    return tweak_hash(parameter, LEAF, 0, epoch, b"".join(ends))[:16]


def node_of(parameter, level, index, left, right):
    return tweak_hash(parameter, NODE, level, index, left + right)[:16]


def tree_node(seed, first, last, level, index):
    parameter = public_parameter(seed)
    if not first >> level <= index <= last >> level:
        return tweak_hash(parameter, FILLER, level, index, seed)[:16]
    if level == 0:
        ends = [walk(parameter, index, c, 0, 7, chain_start(parameter, seed, index, c)) for c in range(42)]
        return leaf_of(parameter, index, ends)
    children = [tree_node(seed, first, last, level - 1, 2 * index + i) for i in range(2)]
    return node_of(parameter, level, index, *children)


def key_gen(seed, first, last):
    if first > last:
        return None
    return tree_node(seed, first, last, 32, 0) + public_parameter(seed)


def encode(parameter, message, randomness, epoch):
    digest = tweak_hash(parameter, ENCODING, 0, epoch, message + randomness + bytes(8))[:16]
    words = [int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")]
    digits = [word >> 3 * i & 7 for word in words for i in range(21)]
    return digits if all(word >> 63 == 0 for word in words) and sum(digits) == 195 else None


def sign(seed, first, last, epoch, message):
    if not first <= epoch <= last:
        return None
    parameter = public_parameter(seed)
    for trial in range(2**32):
        randomness = tweak_hash(parameter, RANDOMIZER, trial, epoch, seed + message)[:24]
        digits = encode(parameter, message, randomness, epoch)
        if digits:
            break
    values = [walk(parameter, epoch, c, 0, digits[c], chain_start(parameter, seed, epoch, c)) for c in range(42)]
    path = [tree_node(seed, first, last, level, epoch >> level ^ 1) for level in range(32)]
    return b"".join(values) + randomness + b"".join(path)


def verify(public_key, epoch, message, signature):
    if len(public_key) != 32 or len(signature) != 1208:
        return None
    root, parameter = public_key[:16], public_key[16:]
    digits = encode(parameter, message, signature[672:696], epoch)
    if not digits:
        return False
    values = [signature[16 * c : 16 * c + 16] for c in range(42)]
    node = leaf_of(parameter, epoch, [walk(parameter, epoch, c, x, 7 - x, values[c]) for c, x in enumerate(digits)])
    for level in range(32):
        sibling = signature[696 + 16 * level :][:16]
        pair = (sibling, node) if epoch >> level & 1 else (node, sibling)
        node = node_of(parameter, level + 1, epoch >> level + 1, *pair)
    return node == root


# Outputs in tests/xmss of ethereum/cryptography-specs.
PUBLISHED = {
    "blake2s_empty": "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9",
    "blake2s_rfc7693_abc": "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
    "blake2s_63_bytes": "e57cb79487dd57902432b250733813bd96a84efce59f650fac26e6696aefafc3",
    "blake2s_64_bytes": "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e",
    "blake2s_65_bytes": "1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472",
    "tweak_hash_type_0": "26000b15d5a93ff9e0eb8255aacaf976",
    "tweak_hash_type_1": "cb5c1db58a8f0cc5a37a9c261533941b",
    "tweak_hash_type_2": "3c20f9d78a17432c17654e33e2437444",
    "tweak_hash_type_3": "08e39a126c6ab22f5925c8091ebe78a1",
    "tweak_hash_type_4": "b0ea78c3885d06a623febdb07df08bc9",
    "tweak_hash_type_5": "be65c813423a929b2ce62927929dcb7e",
    "tweak_hash_type_6": "692266080807bfb452c7d948ce9f59dc",
    "tweak_hash_type_7": "ca75668a9ce528f7304f79e1a20c2390",
    "tweak_hash_changed_sub_position": "9c5b67c064e85a5ab39908d1b0896c92",
    "tweak_hash_changed_index": "88ddf59f8feed819aa9abb9a899bf07f",
    "tweak_hash_changed_public_param": "b86b0502d8e93803c482834f10e71637",
    "key_gen_epoch_zero": "febc365e0b1f38bd16acba8d13d2915fc487ed3aef7201c095bf4c74aad6b6e3",
    "key_gen_middle_epochs": "07026c81c8fa121eddb228724a98f424c487ed3aef7201c095bf4c74aad6b6e3",
    "key_gen_max_epoch": "894a97973e6be26540ec69b83f72ebb3c487ed3aef7201c095bf4c74aad6b6e3",
    "key_gen_single_epoch": "f492c3ac44d272c0f0a7991cadf19d34c487ed3aef7201c095bf4c74aad6b6e3",
    "key_gen_extended_range": "ed0d3c8e7cf085e06979d7b4754d7638c487ed3aef7201c095bf4c74aad6b6e3",
}
# The starts and ends of the published signatures.
PUBLISHED_SIGNATURES = {
    "sign_range_start": (
        "6468da54c35eee8887cdc88009403325c698b2c29dc56d6bc594a468339e565b",
        "4510566e83292cfcedf7ad805019411d83235da8f084d642e201374",
    ),
    "sign_range_middle": (
        "74292ef1cc758889daf150c936bbcef21c949ab06a7ccabc034147b3e26ce34c",
        "c1466013519893fbf6f53a05b27ccfad01363a2ff599ccd8bd0740873bf54",
    ),
    "sign_range_end": (
        "3ed1f83356073a43e57d13a11552f265b36b71eb85b586a12450a97d484e8d3d",
        "c1466013519893fbf6f53a05b27ccfad01363a2ff599ccd8bd0740873bf54",
    ),
    "verify_valid": (
        "96a558ca6a9a790b9daafd52abb7607aeb7588f798213236f3021d56ef0595d2",
        "8da715e0c77697836d6b05956f8010800925b6ef9e7a9171eebcd08d9",
    ),
}

SEED = bytes(range(32))
MESSAGE, OTHER_MESSAGE = b"\x11" * 32, b"\x22" * 32
LOW, MIDDLE, HIGH = (0, 3), (2**31 - 2, 2**31 + 2), (2**32 - 4, 2**32 - 1)


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def cases():
    def case(handler, name, output, **inputs):
        plain = lambda value: value.hex() if isinstance(value, bytes) else value
        return handler, {"name": name, "input": {k: plain(v) for k, v in inputs.items()}, "output": plain(output)}

    for name, data in [
        ("empty", b""),
        ("rfc7693_abc", b"abc"),
        ("63_bytes", bytes(range(63))),
        ("64_bytes", bytes(range(64))),
        ("65_bytes", bytes(range(65))),
    ]:
        yield case("blake2s", f"blake2s_{name}", hashlib.blake2s(data).digest(), data=data)

    parameter, payload = b"\x5a" * 16, b"\x33" * 32
    calls = [(f"type_{kind}", parameter, kind, 3, 5) for kind in range(8)] + [
        ("changed_sub_position", parameter, 1, 3 + 2**24, 5),
        ("changed_index", parameter, 1, 3, 5 + 2**24),
        ("changed_public_param", b"\xa5" * 16, 1, 3, 5),
        ("unknown_tweak_type", parameter, 8, 3, 5),
    ]
    for name, p, kind, place, index in calls:
        output = tweak_hash(p, kind, place, index, payload)[:16] if kind < 8 else None
        yield case("tweak_hash", f"tweak_hash_{name}", output, public_param=p, tweak_type=kind, sub_position=place,
                   index=index, payload=payload)

    for name, randomness in [("admissible", "ee23"), ("spare_bit_set", "241e"), ("off_target", "04")]:
        randomness = bytes.fromhex(randomness.ljust(48, "0"))
        yield case("wots_encode", f"wots_encode_{name}", encode(parameter, MESSAGE, randomness, 7),
                   public_param=parameter, message=MESSAGE, randomness=randomness, epoch=7)

    # The last three are not in the published set: ranges across the boundary of two bottom trees and on both sides of one.
    ranges = [("epoch_zero", LOW), ("middle_epochs", MIDDLE), ("max_epoch", HIGH), ("single_epoch", (7, 7)),
              ("extended_range", (0, 4)), ("empty_range", (4, 3)), ("boundary", (65530, 65550)),
              ("before_boundary", (131069, 131071)), ("after_boundary", (131072, 131074))]
    for name, (first, last) in ranges:
        yield case("key_gen", f"key_gen_{name}", key_gen(SEED, first, last), seed=SEED, epoch_start=first, epoch_end=last)

    first, last = MIDDLE
    epochs = [("range_start", MIDDLE, first), ("range_middle", MIDDLE, first + 2), ("range_end", MIDDLE, last),
              ("epoch_before_range", MIDDLE, first - 1), ("epoch_after_range", MIDDLE, last + 1),
              ("boundary_left", (65530, 65550), 65535), ("boundary_right", (65530, 65550), 65536)]
    for name, (first, last), epoch in epochs:
        yield case("sign", f"sign_{name}", sign(SEED, first, last, epoch, MESSAGE), seed=SEED, epoch_start=first,
                   epoch_end=last, epoch=epoch, message=MESSAGE)

    key, signature = key_gen(SEED, *LOW), sign(SEED, *LOW, 2, MESSAGE)
    for name, k, epoch, message, s in [
        ("valid", key, 2, MESSAGE, signature),
        ("tampered_chain_value", key, 2, MESSAGE, flip(signature, 0)),
        ("tampered_randomizer", key, 2, MESSAGE, flip(signature, 672)),
        ("tampered_sibling", key, 2, MESSAGE, flip(signature, 696)),
        ("wrong_epoch", key, 3, MESSAGE, signature),
        ("wrong_message", key, 2, OTHER_MESSAGE, signature),
        ("wrong_length_public_key", key[:-1], 2, MESSAGE, signature),
        ("wrong_length_signature", key, 2, MESSAGE, signature[:-1]),
    ]:
        yield case("verify", f"verify_{name}", verify(k, epoch, message, s), public_key=k, epoch=epoch, message=message,
                   signature=s)


def main():
    made = {}
    for handler, case in cases():
        made.setdefault(handler, []).append(case)
        if case["name"] in PUBLISHED:
            assert case["output"] == PUBLISHED[case["name"]], case["name"]
        if case["name"] in PUBLISHED_SIGNATURES:
            first, last = PUBLISHED_SIGNATURES[case["name"]]
            signature = case["input"].get("signature", case["output"])
            assert signature.startswith(first) and signature.endswith(last), case["name"]
    verdicts = [case["output"] for case in made["verify"]]
    assert verdicts == [True, False, False, False, False, False, None, None]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leanvm.json")
    if sys.argv[1:] == ["write"]:
        with open(path, "w") as file:
            json.dump(made, file, indent=1)
            file.write("\n")
    else:
        with open(path) as file:
            assert json.load(file) == made
    print(sum(map(len, made.values())), "cases")


if __name__ == "__main__":
    main()
