"""Writes documents.json: typed-data documents and their hashes by eth-account.

    python3 -m venv venv && venv/bin/pip install eth-account==0.14.0
    venv/bin/python generate.py

Fixed seed: the same output at every run.
"""

import json
import random

from eth_account._utils.encode_typed_data.encoding_and_hashing import encode_type, hash_type
from eth_account.messages import _hash_eip191_message, encode_typed_data

rng = random.Random(712)

DOMAIN_FIELDS = [
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
    ("salt", "bytes32"),
]


def atomic_type():
    kind = rng.randrange(7)
    if kind == 0:
        return "bool"
    if kind == 1:
        return "address"
    if kind == 2:
        return f"uint{8 * rng.randint(1, 32)}"
    if kind == 3:
        return f"int{8 * rng.randint(1, 32)}"
    if kind == 4:
        return f"bytes{rng.randint(1, 32)}"
    return "bytes" if kind == 5 else "string"


def member_type(later_structs):
    base = rng.choice(later_structs) if later_structs and rng.random() < 0.4 else atomic_type()
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        base += rng.choice(["[]", f"[{rng.randint(1, 4)}]"])
    return base


def text():
    alphabet = "abc XYZ 019_\"\\/\n\u00e9\u4e2d\u0000\U0001f600"
    return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 5, 31, 32, 33, 135, 136, 137, 300])))


def integer(bits, signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    value = rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(low, high) >> rng.randint(0, bits)])
    value = max(low, min(high, value))
    form = rng.randrange(3)
    if form == 0:
        return value
    if form == 1 and value >= 0:
        return hex(value)
    return str(value)


def value_of(type_, types, depth=0):
    if type_.endswith("]"):
        element, _, length = type_[:-1].rpartition("[")
        count = int(length) if length else rng.choice([0, 1, 2, 3, 9])
        if depth > 3 and not length:
            count = 0
        return [value_of(element, types, depth + 1) for _ in range(count)]
    if type_ in types:
        return {m["name"]: value_of(m["type"], types, depth + 1) for m in types[type_]}
    if type_ == "bool":
        return rng.random() < 0.5
    if type_ == "address":
        return "0x" + rng.randbytes(20).hex()
    if type_ == "string":
        return text()
    if type_ == "bytes":
        return "0x" + rng.randbytes(rng.choice([0, 1, 32, 100, 136, 200])).hex()
    if type_.startswith("bytes"):
        return "0x" + rng.randbytes(int(type_[5:])).hex()
    signed = type_.startswith("int")
    return integer(int(type_[3:] if signed else type_[4:]), signed)


def random_document():
    names = rng.sample(["Person", "Mail", "Asset", "_x", "$y", "Z9", "a", "Order", "OrderComponents"], rng.randint(1, 5))
    types = {}
    for i, name in enumerate(names):
        later = names[i + 1 :]
        members = [{"name": f"m{j}", "type": member_type(later)} for j in range(rng.choice([1, 2, 3, 4, 6]))]
        # Every struct is reachable: eth-account finds the primary type by itself.
        if later:
            members.append({"name": "next", "type": later[0] + rng.choice(["", "[]", "[2]"])})
        rng.shuffle(members)
        types[name] = members
    return types, names[0]


def document(types, primary, message, fields):
    declared = [{"name": n, "type": t} for n, t in DOMAIN_FIELDS if n in fields]
    domain = {n: value_of(t, {}) for n, t in DOMAIN_FIELDS if n in fields}
    return {
        "types": {"EIP712Domain": declared, **types},
        "primaryType": primary,
        "domain": domain,
        "message": message,
    }


def entry(name, doc):
    signable = encode_typed_data(full_message=doc)
    types = {k: v for k, v in doc["types"].items() if k != "EIP712Domain"}
    return {
        "name": name,
        "document": doc,
        "encode_type": encode_type(doc["primaryType"], types),
        "type_hash": "0x" + hash_type(doc["primaryType"], types).hex(),
        "domain_separator": "0x" + signable.header.hex(),
        "hash_struct": "0x" + signable.body.hex(),
        "signing_hash": "0x" + _hash_eip191_message(signable).hex(),
    }


entries = []
for mask in range(1, 32):
    fields = [n for i, (n, _) in enumerate(DOMAIN_FIELDS) if mask >> i & 1]
    types = {"Note": [{"name": "text", "type": "string"}]}
    entries.append(entry(f"domain fields {mask:05b}", document(types, "Note", {"text": text()}, fields)))

every = [f"uint{8 * i}" for i in range(1, 33)] + [f"int{8 * i}" for i in range(1, 33)]
every += [f"bytes{i}" for i in range(1, 33)] + ["bytes", "string", "bool", "address"]
types = {"Every": [{"name": f"m{i}", "type": t} for i, t in enumerate(every)]}
for i in range(4):
    entries.append(entry(f"every atomic type {i}", document(types, "Every", value_of("Every", types), ["name"])))

types = {"Node": [{"name": "value", "type": "int8"}, {"name": "next", "type": "Node"}]}
chain = None
for value in [-128, -1, 127]:
    chain = {"value": value, "next": chain}
entries.append(entry("recursive through null", document(types, "Node", chain, ["chainId"])))
types = {"Tree": [{"name": "label", "type": "string"}, {"name": "children", "type": "Tree[]"}]}
tree = {"label": "root", "children": [{"label": "a", "children": []}, {"label": "b", "children": [{"label": "c", "children": []}]}]}
entries.append(entry("recursive through an array", document(types, "Tree", tree, ["chainId"])))

while len(entries) < 120:
    types, primary = random_document()
    fields = [n for n, _ in DOMAIN_FIELDS if rng.random() < 0.6] or ["name"]
    random_one = document(types, primary, value_of(primary, types), fields)
    if len(json.dumps(random_one)) < 6000:
        entries.append(entry(f"random {len(entries)}", random_one))

with open("documents.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries) + "\n]\n")
