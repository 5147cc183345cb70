"""The drop-ins against the packages they stand in for."""

import os
import subprocess
import sys

import eth_abi
import eth_account
import eth_keys
import eth_utils
import pytest
from eth_account.messages import encode_defunct, encode_typed_data
from hypothesis import given, settings
from hypothesis import strategies as st

import lydite
from lydite.compat import eth_abi as fast_abi
from lydite.compat import eth_account as fast_account
from lydite.compat import eth_utils as fast_utils
from lydite.compat.eth_keys import LyditeECCBackend

KEYS = st.integers(1, 2**255).map(lambda key: key.to_bytes(32, "big"))


def outcome(call, *arguments, **keywords):
    """What a call gives: its value, or the class and the text of what it raises."""
    try:
        return call(*arguments, **keywords)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


ELEMENTARY = {
    "uint256": st.integers(-1, 2**256),
    "uint8": st.one_of(st.integers(-1, 256), st.booleans()),
    "int64": st.integers(-(2**63) - 1, 2**63),
    "bool": st.one_of(st.booleans(), st.integers(0, 1)),
    "address": st.one_of(
        st.binary(min_size=20, max_size=20).map(lambda address: "0x" + address.hex()),
        st.binary(min_size=20, max_size=20).map(eth_utils.to_checksum_address),
        st.just("0x9D8A62f656a8d1615C1294fd71e9CFb3E4855A4F"),
        st.binary(min_size=19, max_size=20),
    ),
    "bytes4": st.binary(max_size=5),
    "bytes": st.one_of(st.binary(max_size=70), st.text(max_size=3), st.binary(max_size=3).map(bytearray)),
    "string": st.one_of(st.text(max_size=40), st.binary(max_size=3)),
    "ufixed128x18": st.decimals(0, 5, places=3),
}


@st.composite
def typed(draw, depth=2):
    kind = draw(st.sampled_from(["elementary"] * 3 + (["array", "fixed", "tuple"] if depth else [])))
    if kind == "elementary":
        name = draw(st.sampled_from(sorted(ELEMENTARY)))
        return name, draw(ELEMENTARY[name])
    if kind == "tuple":
        members = draw(st.lists(typed(depth - 1), min_size=1, max_size=3))
        return f"({','.join(name for name, _ in members)})", tuple(value for _, value in members)
    name, value = draw(typed(depth - 1))
    count = draw(st.integers(0 if kind == "array" else 1, 3))
    return f"{name}[{'' if kind == 'array' else count}]", [value] * count


@settings(max_examples=300, deadline=None)
@given(st.lists(typed(), max_size=4))
def test_abi_encodes_like_eth_abi(arguments):
    types, values = [name for name, _ in arguments], [value for _, value in arguments]
    encoded = outcome(fast_abi.encode, types, values)
    assert encoded == outcome(eth_abi.encode, types, values)
    if isinstance(encoded, bytes):
        assert fast_abi.decode(types, encoded) == eth_abi.decode(types, encoded)


@settings(max_examples=300, deadline=None)
@given(st.lists(typed(), min_size=1, max_size=3), st.data())
def test_abi_decodes_like_eth_abi_what_is_damaged(arguments, data):
    types, values = [name for name, _ in arguments], [value for _, value in arguments]
    encoded = outcome(eth_abi.encode, types, values)
    if not isinstance(encoded, bytes) or not encoded:
        return
    damaged = bytearray(encoded)
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    for case in (bytes(damaged), encoded[: data.draw(st.integers(0, len(encoded)))], encoded + b"\1"):
        assert outcome(fast_abi.decode, types, case) == outcome(eth_abi.decode, types, case)


def test_abi_takes_types_and_data_like_eth_abi():
    for arguments in (
        (["uint256,bool"], [1, True]),
        (["uint"], [1]),
        (("uint8",), (1,)),
        ("uint8", [1]),
        (["uint7"], [1]),
        (["uint8"], 1),
        ([], []),
        (["uint8"], []),
        (["string"], ["\ud800"]),
    ):
        assert outcome(fast_abi.encode, *arguments) == outcome(eth_abi.encode, *arguments)
    for arguments in ((["uint8"], "00"), (["uint8"], memoryview(bytes(32))), (["uint8"], None)):
        assert outcome(fast_abi.decode, *arguments) == outcome(eth_abi.decode, *arguments)
    dirty = bytes(31) + b"\x20" + bytes(31) + b"\1" + b"a" + b"\1" * 31
    for strict in (True, False):
        assert outcome(fast_abi.decode, ["string"], dirty, strict) == outcome(
            eth_abi.decode, ["string"], dirty, strict
        )


@settings(max_examples=10, deadline=None)
@given(KEYS, st.binary(min_size=32, max_size=32))
def test_eth_keys_backend(key, message):
    ours = eth_keys.KeyAPI(LyditeECCBackend())
    theirs = eth_keys.KeyAPI(eth_keys.backends.NativeECCBackend())
    private = theirs.PrivateKey(key)
    assert ours.private_key_to_public_key(private) == private.public_key
    signature = theirs.ecdsa_sign(message, private)
    assert ours.ecdsa_sign(message, private) == signature
    assert ours.ecdsa_recover(message, signature) == private.public_key
    assert ours.ecdsa_verify(message, signature, private.public_key)
    other = bytes([message[0] ^ 1]) + message[1:]
    assert not ours.ecdsa_verify(other, signature, private.public_key)
    assert ours.ecdsa_sign_non_recoverable(message, private) == theirs.ecdsa_sign_non_recoverable(message, private)
    compressed = private.public_key.to_compressed_bytes()
    assert ours.PublicKey.from_compressed_bytes(compressed) == private.public_key
    # No point has x = 5.
    wrong = theirs.Signature(vrs=(0, 5, 1))
    with pytest.raises(eth_keys.exceptions.BadSignature):
        ours.ecdsa_recover(message, wrong)


def test_eth_keys_takes_the_backend_from_the_environment():
    program = (
        "from eth_keys import keys; from eth_account import Account;"
        "print(type(keys.PrivateKey(b'F' * 32).backend).__name__, Account.from_key(b'F' * 32).address)"
    )
    environment = {**os.environ, "ECC_BACKEND_CLASS": "lydite.compat.eth_keys.LyditeECCBackend"}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["LyditeECCBackend", "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"]


TRANSACTION = {
    "nonce": 3,
    "gas": 21000,
    "to": "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F",
    "value": 10**18,
    "data": b"\1\2",
    "chainId": 1,
}


@pytest.mark.parametrize(
    "change",
    [
        {"gasPrice": 7},
        {"gasPrice": 7, "to": b""},
        {"gasPrice": 7, "to": TRANSACTION["to"].lower()},
        {"gasPrice": 7, "data": "0x0102"},
        {"gasPrice": 7, "type": 1, "accessList": ({"address": b"\1" * 20, "storageKeys": (b"\2" * 32,)},)},
        {"type": 2, "maxFeePerGas": 9, "maxPriorityFeePerGas": 1},
        {"maxFeePerGas": 9, "maxPriorityFeePerGas": 1},
        {"maxFeePerGas": 2**256, "maxPriorityFeePerGas": 1},
        {"gasPrice": 7, "unknown": 1},
        {"gasPrice": 7, "from": "0x" + "00" * 20},
        {},
    ],
)
def test_eth_account_signs_and_recovers(change):
    fields = {**TRANSACTION, **change}
    signed = outcome(fast_account.Account.sign_transaction, fields, b"F" * 32)
    assert signed == outcome(eth_account.Account.sign_transaction, fields, b"F" * 32)
    if isinstance(signed, tuple) and hasattr(signed, "raw_transaction"):
        raw = signed.raw_transaction
        for form in (raw, bytes(raw), raw.to_0x_hex()):
            assert fast_account.Account.recover_transaction(form) == eth_account.Account.recover_transaction(form)


@pytest.mark.parametrize(
    "change",
    [
        {"gasPrice": 1},
        {"gasPrice": 1, "accessList": [{"address": b"\2" * 20, "storageKeys": [b"\3" * 32]}]},
        {"maxFeePerGas": 1, "maxPriorityFeePerGas": 1},
        {"maxFeePerGas": 1, "maxPriorityFeePerGas": 1, "maxFeePerBlobGas": 1, "blobVersionedHashes": [b"\1" + b"\2" * 31]},
    ],
)
def test_eth_account_recovers_damaged_transactions(change):
    raw = lydite.sign_transaction({**TRANSACTION, **change}, b"F" * 32)
    cases = [bytes([*raw[:i], raw[i] ^ 1, *raw[i + 1 :]]) for i in range(0, len(raw), 3)]
    for case in (raw, *cases):
        ours = outcome(fast_account.Account.recover_transaction, case)
        assert ours == outcome(eth_account.Account.recover_transaction, case), case.hex()


def test_eth_account_recovers_authorizations():
    """A transaction with authorizations, one byte of it changed. Among them is the parity, which eth_account bounds by 1."""
    item = {"chainId": 1, "address": b"\2" * 20, "nonce": 3, "yParity": 0, "r": 5, "s": 6}
    fields = {**TRANSACTION, "maxFeePerGas": 1, "maxPriorityFeePerGas": 1}

    def sign(*authorizations):
        return lydite.sign_transaction({**fields, "authorizationList": list(authorizations)}, b"F" * 32)

    raw = sign(item)
    parity = raw.index(b"\2" * 20 + b"\3\x80\5\6") + 21
    cases = [bytes([*raw[:i], raw[i] ^ 1, *raw[i + 1 :]]) for i in range(0, len(raw), 3)]
    cases += [bytes([*raw[:parity], value, *raw[parity + 1 :]]) for value in (1, 2, 27, 127)]
    cases += [sign({**item, "yParity": value}) for value in (0, 1, 2, 128, 255)]
    cases += [sign(), sign(item, item), sign(item, {**item, "yParity": 2})]
    taken = 0
    for case in cases:
        ours = outcome(fast_account.Account.recover_transaction, case)
        assert ours == outcome(eth_account.Account.recover_transaction, case), case.hex()
        taken += isinstance(ours, str)
    assert 10 < taken < len(cases) - 10


def test_eth_account_messages():
    typed = encode_typed_data(
        {"name": "A", "chainId": 1}, {"M": [{"name": "x", "type": "uint256"}]}, {"x": 5}
    )
    for message in (encode_defunct(text="hello"), encode_defunct(b"\xff"), typed):
        signed = fast_account.Account.sign_message(message, b"F" * 32)
        assert signed == eth_account.Account.sign_message(message, b"F" * 32)
        for signature in (signed.signature, bytes(signed.signature), bytes(65), b"", signed.signature.hex()):
            ours = outcome(fast_account.Account.recover_message, message, signature=signature)
            assert ours == outcome(eth_account.Account.recover_message, message, signature=signature)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=20), st.none(), st.integers(-1, 300)))
def test_eth_utils(value):
    for arguments in ({"primitive": value}, {"text": value}, {"hexstr": value}):
        assert outcome(fast_utils.keccak, **arguments) == outcome(eth_utils.keccak, **arguments)
    assert outcome(fast_utils.to_checksum_address, value) == outcome(eth_utils.to_checksum_address, value)
    assert outcome(fast_utils.is_checksum_address, value) == outcome(eth_utils.is_checksum_address, value)


@given(st.binary(min_size=20, max_size=20), st.booleans())
def test_eth_utils_addresses(address, upper):
    text = address.hex().upper() if upper else address.hex()
    for form in (address, text, "0x" + text, "0X" + text, eth_utils.to_checksum_address(address)):
        assert outcome(fast_utils.to_checksum_address, form) == outcome(eth_utils.to_checksum_address, form)
        assert outcome(fast_utils.is_checksum_address, form) == outcome(eth_utils.is_checksum_address, form)
    assert lydite.to_checksum_address(address) == eth_utils.to_checksum_address(address)
