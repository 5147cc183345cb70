"""Writes encode.json and packed.json: random types and values, encoded by eth-abi 6.0.0.

Run in a virtual environment with `pip install eth-abi==6.0.0`. The seed is fixed: the files come out the same each time.
A vector's "type" is a tuple, the list of arguments; its "value" is JSON, scalars as strings.
"""

import json
import pathlib
import random

from eth_abi import decode, encode
from eth_abi.packed import encode_packed

rng = random.Random(20261120)
here = pathlib.Path(__file__).parent


def scalar_type():
    return rng.choice(
        ["bool", "address", "uint256", "function"]
        + [f"uint{8 * rng.randint(1, 32)}", f"int{8 * rng.randint(1, 32)}", f"bytes{rng.randint(1, 32)}"]
    )


def random_type(depth):
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return scalar_type()
    if kind < 0.5:
        return "bytes"
    if kind < 0.6:
        return "string"
    if kind < 0.72:
        return random_type(depth - 1) + "[]"
    if kind < 0.82:
        return random_type(depth - 1) + f"[{rng.randint(1, 4)}]"
    return "(" + ",".join(random_type(depth - 1) for _ in range(rng.randint(1, 4))) + ")"


def split_members(text):
    members, level, start = [], 0, 0
    for i, c in enumerate(text):
        level += (c == "(") - (c == ")")
        if c == "," and level == 0:
            members.append(text[start:i])
            start = i + 1
    return members + [text[start:]]


def integer(low, high):
    """Edges often, magnitudes of every length else."""
    if rng.random() < 0.3:
        return rng.choice([low, high, 0, 1 if high else 0])
    value = rng.getrandbits(rng.randint(1, 256))
    return low + value % (high - low + 1)


def random_bytes():
    return rng.randbytes(rng.choice([0, 1, 31, 32, 33, 63, 64, 65, rng.randint(0, 200)]))


def random_text():
    letters = 'abc ,[]()"\\\n\x01\u00e9\u4e2d\U0001f600'
    return "".join(rng.choice(letters) for _ in range(rng.choice([0, 1, 31, 32, 33, rng.randint(0, 80)])))


def random_value(ty):
    """The value for eth-abi, and the same for JSON."""
    if ty.endswith("]"):
        element, length = ty[:-1].rsplit("[", 1)
        count = int(length) if length else rng.randint(0, 5)
        values = [random_value(element) for _ in range(count)]
        return [v for v, _ in values], [j for _, j in values]
    if ty.startswith("("):
        values = [random_value(member) for member in split_members(ty[1:-1])]
        return tuple(v for v, _ in values), [j for _, j in values]
    if ty == "bool":
        value = rng.random() < 0.5
        return value, value
    if ty == "string":
        value = random_text()
        return value, value
    if ty.startswith("uint"):
        value = integer(0, 2 ** int(ty[4:]) - 1)
        return value, str(value)
    if ty.startswith("int"):
        bits = int(ty[3:])
        value = integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return value, str(value)
    sizes = {"address": 20, "function": 24}
    value = random_bytes() if ty == "bytes" else rng.randbytes(sizes.get(ty) or int(ty[5:]))
    text = "0x" + value.hex()
    return (text if ty == "address" else value), text


def write(name, vectors):
    lines = ",\n".join(json.dumps(vector) for vector in vectors)
    (here / name).write_text(f"[\n{lines}\n]\n")


vectors = []
while len(vectors) < 400:
    types = [random_type(3) for _ in range(rng.randint(1, 5))]
    values, texts = zip(*(random_value(ty) for ty in types))
    encoded = encode(types, values)
    decode(types, encoded)
    if len(encoded) <= 3000:
        vectors.append({"type": "(" + ",".join(types) + ")", "value": texts, "encoded": "0x" + encoded.hex()})
write("encode.json", vectors)

vectors = []
while len(vectors) < 100:
    # Solidity pads the elements of packed arrays to words, eth-abi does not: only arrays of whole words.
    array = rng.choice(["uint256[]", "int256[]", "bytes32[]", "int256[2]"])
    types = [rng.choice([scalar_type(), "bytes", "string", array]) for _ in range(3)]
    values, texts = zip(*(random_value(ty) for ty in types))
    vectors.append({"type": "(" + ",".join(types) + ")", "value": texts, "encoded": "0x" + encode_packed(types, values).hex()})
write("packed.json", vectors)
