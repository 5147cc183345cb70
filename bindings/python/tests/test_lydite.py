"""The module itself: known answers, every kind of input, and what is refused."""

import collections
import contextlib
import json
import os
import re
import sys
import threading
import time
import types
from pathlib import Path

import mypy.api
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lydite

KEY = bytes.fromhex("4646464646464646464646464646464646464646464646464646464646464646")
HASH = lydite.keccak256(b"message")
VECTORS = Path(__file__).parents[3] / "vectors"


def test_keccak256_known_answers_and_every_buffer():
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert lydite.keccak256(b"").hex() == empty
    for form in (bytearray, memoryview, lambda data: numpy.frombuffer(data, "u1")):
        assert lydite.keccak256(form(b"abc")) == lydite.keccak256(b"abc")
    for wrong in ("abc", 3, None, [1, 2], numpy.zeros(3, "f8")):
        with pytest.raises(TypeError):
            lydite.keccak256(wrong)


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_keccak256_batch_is_keccak256_of_each(items):
    assert lydite.keccak256_batch(items) == [lydite.keccak256(item) for item in items]


def test_keccak256_rows():
    rows = numpy.arange(320, dtype="u1").reshape(10, 32)
    assert lydite.keccak256_rows(rows, 32) == b"".join(lydite.keccak256(row.tobytes()) for row in rows)
    assert lydite.keccak256_rows(b"", 32) == b""
    for data, row in ((b"123", 2), (b"", 0)):
        with pytest.raises(ValueError, match="expected whole rows"):
            lydite.keccak256_rows(data, row)


def test_batches_of_a_buffer_that_another_thread_changes():
    data = bytearray(32 * 4096)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            data[:] = bytes(len(data))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        expected = lydite.keccak256(bytes(32)) * 4096
        assert all(lydite.keccak256_rows(data, 32) == expected for _ in range(50))
    finally:
        stop.set()
        thread.join()


def _batches():
    """Each function on many items, with enough of them to take some milliseconds."""
    hashes = [lydite.keccak256(bytes([i])) for i in range(200)]
    signatures = b"".join(lydite.sign(hash, KEY) for hash in hashes)
    fields = {"chainId": 1, "nonce": 0, "gasPrice": 1, "gas": 21000, "to": bytes(20), "value": 0}
    raw = lydite.sign_transaction(fields, KEY)
    codec = lydite.Codec("uint256[]")
    numbers = codec.encode([list(range(1000))])
    vectors = json.loads((VECTORS / "xmss/test_2e8_dim4_full.json").read_text())
    (case, *_), key = vectors["signatures"], bytes.fromhex(vectors["pk_ssz"])
    message, signature = bytes.fromhex(case["message"]), bytes.fromhex(case["sig_ssz"])
    return {
        "keccak256_batch": lambda: lydite.keccak256_batch([bytes(100_000)] * 50),
        "keccak256_rows": lambda: lydite.keccak256_rows(bytes(5_000_000), 100_000),
        "ecrecover_batch": lambda: lydite.ecrecover_batch(b"".join(hashes), signatures),
        "senders": lambda: lydite.senders([raw] * 200),
        "decode_batch": lambda: codec.decode_batch([numbers] * 100),
        "xmss_verify_batch": lambda: lydite.xmss_verify_batch(
            [key] * 500, [case["epoch"]] * 500, [message] * 500, [signature] * 500, scheme="leansig-test"
        ),
    }


@pytest.mark.parametrize("name", _batches())
def test_batches_let_another_thread_run(name):
    batch, go, ran = _batches()[name], threading.Event(), threading.Event()

    def other():
        go.wait()
        ran.set()

    # From here on the interpreter never switches threads by itself: the other one runs only if the batch releases it.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=other)
    try:
        thread.start()
        go.set()
        for _ in range(1000):
            lydite.keccak256(b"")
        assert not ran.is_set()
        # The other thread may find no free core while the first batch runs.
        deadline = time.monotonic() + 60
        while not ran.is_set() and time.monotonic() < deadline:
            batch()
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.binary(max_size=70),
        st.text(max_size=70),
        st.sampled_from(["uint256", "(bytes,string)", "E(address indexed a)", "osaka", "leansig-test", "0x" + "11" * 20]),
        st.binary(max_size=40).map(bytearray),
        st.binary(min_size=32, max_size=32),
        st.binary(min_size=65, max_size=65).map(memoryview),
        st.just(numpy.zeros((2, 32), "u1")),
        st.just(numpy.zeros((2, 2), "f8")),
        st.just(object()),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
CALLS = {
    **{name: getattr(lydite, name) for name in lydite.__all__ if not name.endswith("Error")},
    **{
        f"{made}.{name}": getattr(made, name)
        for made in (lydite.Codec("(uint8,string[])"), lydite.Event("E(address indexed a,bytes b)"))
        for name in ("encode", "decode", "decode_batch")
        if hasattr(made, name)
    },
    "Tx.decode": lydite.Tx.decode,
}
# Excluded: they write to the files they are given.
del CALLS["xmss_generate"], CALLS["xmss_adopt"]


@pytest.mark.parametrize("name", sorted(CALLS))
@settings(max_examples=60, deadline=None)
@given(arguments=st.lists(ANYTHING, max_size=5))
def test_any_arguments_give_an_answer_or_an_error_of_python(name, arguments):
    # A panic raises an exception that is not a subclass of Exception.
    with contextlib.suppress(ValueError, TypeError, OverflowError, OSError):
        CALLS[name](*arguments)


def test_errors_have_the_messages_of_every_language():
    calls = {
        "address": lambda case: lydite.to_checksum_address(case["text"]),
        "codec": lambda case: lydite.Codec(case["type"]),
        "event": lambda case: lydite.Event(case["signature"]),
        "abi_decode": lambda case: lydite.Codec(case["type"]).decode(case["data"]),
        "tx": lambda case: lydite.Tx.decode(case["raw"]),
        "ecrecover": lambda case: lydite.ecrecover(case["hash"], case["signature"]),
        "sign": lambda case: lydite.sign(case["hash"], case["key"]),
        "typed_data": lambda case: lydite.hash_typed_data(case["json"]),
        "syrup": lambda case: lydite.syrup_content_id(case["data"]),
        "precompile": lambda case: lydite.precompile(case["number"], case["data"], case["gas"], fork=case["fork"]),
        "xmss_verify": lambda case: lydite.xmss_verify(
            case["public_key"], 0, bytes(32), case["signature"], scheme=case["scheme"]
        ),
    }
    cases = json.loads((VECTORS / "errors/messages.json").read_text())
    assert len(cases) >= 36
    for case in cases:
        for name in ("data", "raw", "hash", "key", "public_key", "signature"):
            if name in case and case["operation"] != "event":
                case[name] = bytes.fromhex(case[name])
        with pytest.raises(lydite.LyditeError) as caught:
            calls[case["operation"]](case)
        assert str(caught.value) == case["message"]
        place = re.search(r"(?:^|: )byte (\d+): |\(near byte (\d+)\)$", case["message"])
        offset = place and int(place[1] or place[2])
        assert getattr(caught.value, "offset", None) == offset


def test_addresses():
    checksummed = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
    address = bytes.fromhex(checksummed[2:])
    assert lydite.to_checksum_address(address) == lydite.to_checksum_address(checksummed.lower()) == checksummed
    assert lydite.public_key_to_address(lydite.public_key(KEY)) == address
    with pytest.raises(lydite.DecodeError, match="^byte 3: letter case"):
        lydite.to_checksum_address("0x9D" + checksummed[4:])
    with pytest.raises(lydite.DecodeError):
        lydite.to_checksum_address(b"short")
    # EIP-1014, second example.
    assert lydite.create2_address(
        bytes.fromhex("deadbeef00000000000000000000000000000000"), bytes(32), lydite.keccak256(b"\0")
    ).hex() == "b928f69bb1d91cd65274e3c79d8986362984fda3"


def test_integers_and_names_that_are_not_valid():
    address = bytes(20)
    assert lydite.create_address(address, numpy.uint64(1)) == lydite.create_address(address, 1)
    calls = (
        (lambda number: lydite.create_address(address, number), 64),
        (lambda number: lydite.keccak256_rows(b"", number), 64),
        (lambda number: lydite.precompile(number, b"", 100), 16),
        (lambda number: lydite.precompile(2, b"", number), 64),
        (lambda number: lydite.xmss_verify(b"", number, bytes(32), b""), 32),
        (lambda number: lydite.xmss_verify_batch([b""], [number], [bytes(32)], [b""]), 32),
        (lambda number: lydite.xmss_generate("", first=number), 64),
        (lambda number: lydite.xmss_adopt("", next=number), 64),
    )
    for call, bits in calls:
        for wrong in (-1, 2**bits):
            message = rf"^expected an integer from 0 to 2\^{bits} - 1\nwhile processing"
            with pytest.raises(lydite.LyditeError, match=message):
                call(wrong)
        for wrong, kind in ((True, "bool"), ("1", "str"), (1.0, "float"), (None, "NoneType")):
            with pytest.raises(TypeError, match=f"^expected an int, found <class '{kind}'>\nwhile processing"):
                call(wrong)
    for call in (
        lambda: lydite.keccak256_rows(b"123", 2),
        lambda: lydite.precompile(2, b"", 100, fork="x"),
        lambda: lydite.Codec("uint8", address="x"),
        lambda: lydite.Event("E(uint8 a, uint8 a)"),
        lambda: lydite.xmss_verify(b"", 0, bytes(32), b"", scheme="x"),
    ):
        with pytest.raises(lydite.LyditeError):
            call()


def test_text_that_has_no_utf8_form():
    for call in (
        lydite.Symbol,
        lydite.syrup_encode,
        lydite.to_checksum_address,
        lydite.hash_typed_data,
        lambda text: lydite.Codec("string").encode([text]),
        lambda text: lydite.sign_transaction({"nonce": text, "gasPrice": 1, "gas": 1, "value": 1}, KEY),
    ):
        with pytest.raises(lydite.EncodeError, match="expected well-formed text, found a lone surrogate$"):
            call("\ud800")


def test_stubs_reject_what_raises_type_errors():
    names = {"MappingProxyType": types.MappingProxyType, "deque": collections.deque, "lydite": lydite}
    calls = (
        "lydite.hash_typed_data(MappingProxyType({'types': {}}))",
        "lydite.TypedData(MappingProxyType({'types': {}}))",
        "lydite.Codec('(uint8[])').encode(deque([[1]]))",
        "lydite.rlp_encode(range(3))",
        "lydite.syrup_encode(MappingProxyType({'a': 1}))",
        "lydite.syrup_encode(range(3))",
        "lydite.syrup_encode({'a': 1}.keys())",
    )
    accepted = (
        "lydite.rlp_encode([b'', (1, [2])])",
        "lydite.syrup_encode({'a': [1, (2.0,), {b''}, frozenset({'x'})]})",
        "lydite.Codec('(uint8[])').encode(([1],))",
    )
    for call in calls:
        with pytest.raises((TypeError, lydite.EncodeError)):
            eval(call, names)
    for call in accepted:
        eval(call, names)
    imports = ("import lydite", "from collections import deque", "from types import MappingProxyType")
    program = "\n".join((*imports, *calls, *accepted))
    report, _, _ = mypy.api.run(["--cache-dir", os.devnull, "-c", program])
    lines = [int(line) for line in re.findall(r"^<string>:(\d+): error:", report, re.MULTILINE)]
    assert lines == list(range(4, 4 + len(calls))), report


def test_signatures():
    signature = lydite.sign(HASH, KEY)
    key = lydite.public_key(KEY)
    assert lydite.recover_public_key(HASH, signature) == key
    assert lydite.ecrecover(HASH, signature) == lydite.public_key_to_address(key)
    v27 = signature[:64] + bytes([signature[64] + 27])
    assert lydite.ecrecover(HASH, v27) == lydite.ecrecover(HASH, signature)
    assert lydite.verify(key, HASH, signature) and lydite.verify(key, HASH, signature[:64])
    assert not lydite.verify(key, lydite.keccak256(b"other"), signature)
    compressed = lydite.public_key_to_sec1(key)
    assert lydite.public_key_to_sec1(compressed, compressed=False) == b"\x04" + key
    for wrong in (bytes(65), signature[:64] + b"\x05", b"\xff" * 64 + b"\0"):
        with pytest.raises(lydite.SignatureError):
            lydite.ecrecover(HASH, wrong)
    with pytest.raises(lydite.SignatureError):
        lydite.sign(HASH, bytes(32))
    for wrong in (b"", signature[:64], signature + b"\0"):
        with pytest.raises(lydite.DecodeError, match="expected 65 bytes"):
            lydite.ecrecover(HASH, wrong)


def test_ecrecover_batch_reports_each_in_its_place():
    hashes = [lydite.keccak256(bytes([i])) for i in range(20)]
    signatures = [lydite.sign(hash, KEY) for hash in hashes]
    signatures[3] = bytes(65)
    signatures[11] = b"\xff" * 65
    addresses, ok = lydite.ecrecover_batch(b"".join(hashes), numpy.frombuffer(b"".join(signatures), "u1"))
    address = lydite.public_key_to_address(lydite.public_key(KEY))
    assert list(ok) == [i not in (3, 11) for i in range(20)]
    assert all(addresses[20 * i : 20 * i + 20] == (address if ok[i] else bytes(20)) for i in range(20))
    assert lydite.ecrecover_batch(b"", b"") == (b"", b"")
    with pytest.raises(lydite.DecodeError, match="byte 32: incomplete row"):
        lydite.ecrecover_batch(bytes(33), bytes(65))
    with pytest.raises(lydite.SignatureError):
        lydite.ecrecover_batch(bytes(64), bytes(65))


def test_codec_and_its_errors():
    codec = lydite.Codec("(uint8,int128,address,bytes4,(string,bool[2])[],bytes)")
    values = (255, -(2**127), "0x" + "11" * 20, b"abcd", (("é", (True, False)),), b"")
    assert len(codec) == 6
    assert codec.decode(codec.encode(values)) == values
    assert codec.decode_batch([codec.encode(values)] * 3) == [values] * 3
    raw = lydite.Codec("address", address="bytes")
    assert raw.decode(raw.encode(["0x" + "11" * 20])) == (b"\x11" * 20,)
    wrong = {
        0: [256, -1, True, "1", 1.0, None],
        1: [2**127, -(2**127) - 1],
        2: ["0x11", b"", 5],
        3: [b"abc", b"abcde", "abcd"],
        4: [[("a", (True,))], [("a", (1, 0))], "text", [("a",)]],
        5: ["0x00", 5],
    }
    for index, cases in wrong.items():
        for case in cases:
            arguments = [*values[:index], case, *values[index + 1 :]]
            with pytest.raises(lydite.EncodeError, match=rf"arguments\[{index}\]"):
                codec.encode(arguments)
    with pytest.raises(lydite.EncodeError, match="expected 6 values"):
        codec.encode([])
    with pytest.raises(lydite.EncodeError, match=r"^arguments\[0\]\[1\]\[0\]: out of range for uint8$"):
        lydite.Codec("((uint8,string)[],bytes4)").encode([[(255, "a"), (256, "b")], b"abcd"])
    small = lydite.Codec("int8")
    for number in (-129, -128, -1, 0, 127, 128):
        if -128 <= number <= 127:
            assert small.decode(small.encode([number])) == (number,)
        else:
            with pytest.raises(lydite.EncodeError, match=r"^arguments\[0\]: out of range for int8$"):
                small.encode([number])
    data = codec.encode(values)
    for end in range(len(data)):
        with pytest.raises(lydite.DecodeError):
            codec.decode(data[:end])
    with pytest.raises(lydite.DecodeError) as caught:
        codec.decode(b"\1" + data[1:])
    error = caught.value
    assert (str(error), error.offset, error.kind) == ("byte 0: integer out of range for its type", 0, "Range")
    with pytest.raises(lydite.DecodeError) as caught:
        codec.decode_batch([data, data[:31]])
    assert caught.value.__notes__ == ["item 1"]
    for text in ("uint7", "(uint8", "", "foo", "uint8[", "(" * 100 + "uint8" + ")" * 100):
        with pytest.raises(lydite.DecodeError):
            lydite.Codec(text)


def test_event():
    event = lydite.Event("event Transfer(address indexed from, address indexed to, uint256 value)")
    assert event.name == "Transfer"
    assert event.topic.hex() == "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    topics = [event.topic, b"\0" * 12 + b"\x11" * 20, b"\0" * 12 + b"\x22" * 20]
    decoded = event.decode(topics, (7).to_bytes(32, "big"))
    assert decoded == {"from": "0x" + "11" * 20, "to": "0x" + "22" * 20, "value": 7}
    with pytest.raises(lydite.DecodeError, match="topics"):
        event.decode(topics[:2], bytes(32))
    with pytest.raises(lydite.DecodeError, match="padding"):
        event.decode([event.topic, b"\xff" * 32, topics[2]], bytes(32))


@given(st.recursive(st.binary(max_size=70), lambda inner: st.lists(inner, max_size=5), max_leaves=20))
def test_rlp_round_trip(value):
    assert lydite.rlp_decode(lydite.rlp_encode(value)) == value


def test_rlp_refuses():
    loop: list = []
    loop.append(loop)
    with pytest.raises(lydite.EncodeError, match="deeper"):
        lydite.rlp_encode(loop)
    with pytest.raises(lydite.EncodeError, match=r"^value\[1\]\[0\]: expected an integer from 0 to 2\^256 - 1$"):
        lydite.rlp_encode([[1, 2], [-1, 3], 4])
    with pytest.raises(TypeError, match=r"^value\[0\]: expected bytes, an int or a list, found <class 'str'>$"):
        lydite.rlp_encode(["text"])
    with pytest.raises(TypeError, match="^value: expected an int, found <class 'bool'>$"):
        lydite.rlp_encode(True)
    for data in (b"", b"\x81\x01", b"\xc1", b"\xb8\x01a", b"\x01\x01"):
        with pytest.raises(lydite.DecodeError, match="byte"):
            lydite.rlp_decode(data)
    deep = lydite.rlp_decode(_deep(100_000))
    while deep:
        (deep,) = deep


def _deep(levels):
    # Built from the inside out, each header before its contents.
    pieces, length = [b"\xc0"], 1
    for _ in range(levels - 1):
        size = length.to_bytes((length.bit_length() + 7) // 8, "big")
        header = bytes([0xC0 + length]) if length < 56 else bytes([0xF7 + len(size)]) + size
        pieces.append(header)
        length += len(header)
    return b"".join(reversed(pieces))


def _plain(value):
    """A value of the vectors as Python has it: integers are texts there, bytes and addresses hexadecimal ones."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def test_abi_of_the_shared_vectors():
    for case in json.loads((VECTORS / "abi/encode.json").read_text()):
        codec, encoded = lydite.Codec(case["type"]), bytes.fromhex(case["encoded"][2:])
        values = codec.decode(encoded)
        assert _plain(values) == case["value"], case["type"]
        assert codec.encode(values) == encoded


def test_typed_data_of_the_shared_vectors():
    for case in json.loads((VECTORS / "eip712/documents.json").read_text()):
        for form in (case["document"], json.dumps(case["document"])):
            data = lydite.TypedData(form)
            assert "0x" + data.signing_hash.hex() == case["signing_hash"], case["name"]
            assert "0x" + data.domain_separator.hex() == case["domain_separator"]
            assert "0x" + data.struct_hash.hex() == case["hash_struct"]
            assert data.encode_type == case["encode_type"]


def test_known_answers_of_the_report():
    cases = json.loads((VECTORS / "eth-ops/vectors.json").read_text())
    for name, size in (("256b", 256), ("1kb", 1024), ("4kb", 4096)):
        assert "0x" + lydite.keccak256(b"\xab" * size).hex() == cases[f"keccak256_{name}"]["expected"]
    given, expected = cases["secp256k1_sign"]["input"], cases["secp256k1_sign"]["expected"]
    key, hash = (bytes.fromhex(given[name][2:]) for name in ("privkey", "msg_hash"))
    signature = lydite.sign(hash, key)
    assert signature == bytes.fromhex(expected["r"][2:] + expected["s"][2:]) + bytes([expected["v"]])
    public = bytes.fromhex(cases["secp256k1_sign_recover"]["expected"]["pubkey_uncompressed"][2:])
    assert lydite.recover_public_key(hash, signature) == lydite.public_key(key) == public[1:]


def test_transactions_of_the_shared_vectors():
    count = 0
    for path in sorted((VECTORS / "tx").glob("*.json")):
        for case in _cases(json.loads(path.read_text())):
            raw = bytes.fromhex(case["raw"].removeprefix("0x"))
            tx = lydite.Tx.decode(raw)
            assert tx.raw == raw and tx.hash.hex() == case["hash"].removeprefix("0x")
            assert tx.sender.hex() == case["sender"].removeprefix("0x").lower()
            assert lydite.senders([raw, b"\x05", bytearray(raw)]) == [tx.sender, None, tx.sender]
            count += 1
    assert count >= 5


def _cases(node):
    """Wherever a file has them: objects with these three texts."""
    if isinstance(node, dict):
        if all(isinstance(node.get(name), str) for name in ("raw", "hash", "sender")):
            yield node
        for child in node.values():
            yield from _cases(child)
    elif isinstance(node, list):
        for child in node:
            yield from _cases(child)


def test_sign_transaction_refuses_what_it_would_drop():
    fields = {"chainId": 1, "nonce": 0, "gasPrice": 1, "gas": 21000, "to": bytes(20), "value": 0}
    signer = lydite.to_checksum_address(lydite.public_key_to_address(lydite.public_key(KEY)))
    raw = lydite.sign_transaction(fields, KEY)
    assert lydite.Tx.decode(raw).type == 0
    assert lydite.sign_transaction({**fields, "from": signer}, KEY) == raw
    assert lydite.sign_transaction({**fields, "from": None}, KEY) == raw
    for nobody in (None, "", b"", bytearray()):
        assert lydite.Tx.decode(lydite.sign_transaction({**fields, "to": nobody}, KEY)).to is None
    authorization = {"chainId": 1, "address": bytes(20), "nonce": 0, "yParity": 0, "r": 1, "s": 1}
    fees = {"maxFeePerGas": 1, "maxPriorityFeePerGas": 1}
    for change, message in (
        ({"maxFeePerBlobGas": 1}, "does not have"),
        ({"nonce": 2**64}, "nonce: expected an unsigned integer of at most 64 bits"),
        ({"nonce": "x"}, "nonce"),
        ({"to": "0x12"}, "to: expected 40"),
        ({"type": 5}, "type"),
        ({"data": "zz"}, "data"),
        ({"data": "0xzz"}, "data: byte 2"),
        ({"accessList": [{"address": "0x11", "storageKeys": []}], "type": 1}, r"accessList\[0\]: address: expected 40"),
        ({"accessList": [(bytes(20), ["0x11"])], "type": 1}, r"accessList\[0\]: storageKeys\[0\]: word: expected 32 bytes"),
        ({"accessList": 5, "type": 1}, "accessList"),
        (
            {"accessList": [{"address": bytes(20), "storageKeys": [], "keys": []}]},
            r"accessList\[0\]: expected the members address, storageKeys, found",
        ),
        (
            {**fees, "authorizationList": [{**authorization, "v": 27}]},
            r"authorizationList\[0\]: expected the members chainId, address, nonce, yParity, r, s, found",
        ),
        ({"to": []}, "to: expected a buffer of bytes, found <class 'list'>"),
        ({"to": {}}, "to: expected a buffer of bytes, found <class 'dict'>"),
        ({"from": bytes(20)}, f"from: expected the key's address {signer}, found 0x0000"),
        ({"from": "0x12"}, "from: expected 40"),
    ):
        with pytest.raises(lydite.EncodeError, match=message):
            lydite.sign_transaction({**fields, **change}, KEY)
    del fields["nonce"]
    with pytest.raises(lydite.EncodeError, match="nonce: missing"):
        lydite.sign_transaction(fields, KEY)


MAIL = {
    "types": {
        "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}],
        "Mail": [{"name": "to", "type": "address"}, {"name": "body", "type": "bytes"}],
    },
    "primaryType": "Mail",
    "domain": {"name": "Ether Mail", "chainId": 1},
    "message": {"to": "0x" + "11" * 20, "body": b"\x01\x02"},
}


def test_typed_data_from_dict_and_text():
    text = json.dumps({**MAIL, "message": {**MAIL["message"], "body": "0x0102"}})
    data = lydite.TypedData(MAIL)
    assert data.signing_hash == lydite.hash_typed_data(text) == lydite.hash_typed_data(MAIL)
    assert data.signing_hash == lydite.keccak256(b"\x19\x01" + data.domain_separator + data.struct_hash)
    assert data.encode_type == "Mail(address to,bytes body)"
    with pytest.raises(lydite.DecodeError):
        lydite.hash_typed_data("{}")
    with pytest.raises(TypeError):
        lydite.hash_typed_data({"message": object()})


def test_syrup_refuses_long_integers_before_it_converts_them():
    def refused(data, offset, digits, **options):
        message = f"byte {offset}: expected an integer of at most 65536 bits, found {digits} digits"
        with pytest.raises(lydite.DecodeError, match=f"^{message}$") as raised:
            lydite.syrup_decode(data, **options)
        assert raised.value.offset == offset

    def text(value):
        # Python's own conversion raises too.
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            return str(value).encode()
        finally:
            sys.set_int_max_str_digits(limit)

    refused(b"9" * 100_000 + b"+", 0, 100_000)
    # Digits that are not an integer come first: a byte array, and a float.
    nested = b"[12+30000:" + b"9" * 30_000 + b"D@9999999" + b"3'cat" + b"9" * 20_000 + b"-]"
    refused(nested, 30_024, 20_000)
    refused(b"[ 0" + b"9" * 19_729 + b"+ ]", 2, 19_730, lenient=True)
    largest = 2**65536 - 1
    for value in (largest, -largest):
        assert lydite.syrup_decode(lydite.syrup_encode(value)) == value
    refused(text(largest + 1) + b"-", 0, 19_729)
    for value in (largest + 1, -largest - 1):
        with pytest.raises(lydite.EncodeError, match="^expected an integer of at most 65536 bits, found 65537$"):
            lydite.syrup_encode([value])
    # Quadratic time would take minutes.
    start = time.monotonic()
    refused(b"9" * 4_000_000 + b"+", 0, 4_000_000)
    with pytest.raises(lydite.EncodeError):
        lydite.syrup_encode(1 << 40_000_000)
    assert time.monotonic() - start < 5


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the process's memory")
def test_copies_of_keys_are_wiped():
    key = bytearray(32)

    def fill():
        for i in range(32):
            key[i] = i * 37 + 11 & 255

    # The searched bytes exist nowhere in this form: memory is inverted before it is searched. Only the second half of
    # the key is searched, because an allocator does not overwrite it when memory is freed.
    inverted = bytes(255 - (i * 37 + 11 & 255) for i in range(16, 32))
    table = bytes(255 - i for i in range(256))

    def found():
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            places = [line.split() for line in maps]
            for place in places:
                if not place[1].startswith("rw") or place[-1].startswith("["):
                    if place[-1] != "[heap]":
                        continue
                start, end = (int(at, 16) for at in place[0].split("-"))
                memory.seek(start)
                with contextlib.suppress(OSError):
                    if inverted in memory.read(end - start).translate(table):
                        return True
        return False

    fields = {"chainId": 1, "nonce": 0, "gasPrice": 1, "gas": 21000, "to": bytes(20), "value": 0}
    for secret in (key, memoryview(key)):
        fill()
        lydite.sign(HASH, secret)
        lydite.public_key(secret)
        lydite.sign_transaction(fields, secret)
        with pytest.raises(ValueError):
            lydite.sign(b"", secret)
        key[:] = bytes(32)
        assert not found()
    # Control, last because it leaves copies: the search does find a key that is in memory.
    fill()
    assert found()
