"""Writes mainnet.bin.gz from the block data of ethereum/portal-spec-tests; see SOURCE.md.

    pip install rlp==5.0.0 coincurve==21.0.0 pycryptodome==3.23.0 PyYAML==6.0.3
    python generate.py PATH/TO/portal-spec-tests

Roots, bloom filters and block hashes are those of the headers; the arena's tests recompute them from the other fields.
"""

import gzip
import pathlib
import sys

import rlp
import yaml
from coincurve import PublicKey
from Crypto.Hash import keccak

here = pathlib.Path(__file__).parent
# Number of fields without a signature.
UNSIGNED = {0: 6, 1: 8, 2: 9, 3: 11, 4: 10}


def keccak256(data):
    return keccak.new(digest_bits=256, data=data).digest()


def lp(data):
    return len(data).to_bytes(4, "little") + data


def number(data):
    return int.from_bytes(data, "big")


def sender(raw):
    kind = raw[0] if raw[0] < 0xC0 else 0
    fields = rlp.decode(raw[1:] if kind else raw)
    unsigned, (v, r, s) = fields[: UNSIGNED[kind]], fields[UNSIGNED[kind] :]
    parity = number(v)
    if kind == 0:
        if parity >= 35:
            # EIP-155
            unsigned += [(parity - 35) // 2, b"", b""]
        parity = 1 - parity % 2
    signed = (bytes([kind]) if kind else b"") + rlp.encode(unsigned)
    signature = r.rjust(32, b"\0") + s.rjust(32, b"\0") + bytes([parity])
    key = PublicKey.from_signature_and_message(signature, keccak256(signed), hasher=None)
    return keccak256(key.format(compressed=False)[1:])[-20:]


def receipt(item):
    kind, status, gas, logs = item
    out = bytes([number(kind), number(status)]) + number(gas).to_bytes(8, "little") + len(logs).to_bytes(4, "little")
    for address, topics, data in logs:
        out += address + bytes([len(topics)]) + b"".join(topics) + lp(data)
    return out


out = b""
for path in sorted(pathlib.Path(sys.argv[1], "tests/mainnet/history/block_data").glob("block-data-*.yaml")):
    block = yaml.load(path.read_text(), yaml.BaseLoader)
    header, body, receipts = [bytes.fromhex(block[field][2:]) for field in ("header", "body", "receipts")]
    transactions = [item if isinstance(item, bytes) else rlp.encode(item) for item in rlp.decode(body)[0]]
    receipts = [receipt(item) for item in rlp.decode(receipts)]
    assert len(transactions) == len(receipts)
    out += lp(header)
    out += lp(b"".join(map(lp, transactions)))
    out += lp(b"".join(map(sender, transactions)))
    out += lp(b"".join(receipts))
(here / "mainnet.bin.gz").write_bytes(gzip.compress(out, mtime=0))
