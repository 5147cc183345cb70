"""Syrup, XMSS, precompiled contracts, and the forms in which many items are taken."""

import gc
import json
import math
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lydite
from lydite import Float32, Record, Symbol

VECTORS = Path(__file__).parents[3] / "vectors"


def test_syrup_vectors():
    for case in json.loads((VECTORS / "syrup/vectors.json").read_text()):
        data = bytes.fromhex(case["hex"])
        if case["cls"].startswith(("canonical", "syrup-only")):
            assert lydite.syrup_content_id(data).hex() == case["sha256"]
            try:
                assert lydite.syrup_encode(lydite.syrup_decode(data)) == data, case["id"]
            except lydite.DecodeError as error:
                assert "member" in str(error), case["id"]
        elif case["cls"] in ("invalid", "noncanonical", "truncated", "trailing"):
            for call in (lydite.syrup_decode, lydite.syrup_content_id):
                with pytest.raises(lydite.DecodeError, match="byte"):
                    call(data)


ATOMS = st.one_of(
    st.booleans(),
    st.integers(-(2**80), 2**200),
    st.floats(allow_nan=False),
    st.binary(max_size=5),
    st.text(max_size=5),
    st.text(max_size=5).map(Symbol),
    st.floats(width=32, allow_nan=False).map(Float32),
)
KEYS = st.text(max_size=3)
SYRUP = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.frozensets(KEYS, max_size=3),
        st.lists(inner, min_size=1, max_size=4).map(lambda parts: Record(*parts)),
    ),
    max_leaves=15,
)


@given(SYRUP)
def test_syrup_round_trip(value):
    encoded = lydite.syrup_encode(value)
    decoded = lydite.syrup_decode(encoded)
    # The encoding distinguishes values that are equal in Python: 1, 1.0 and True.
    assert decoded == value and type(decoded) is type(value) and lydite.syrup_encode(decoded) == encoded


@pytest.mark.parametrize("kind", [dict, set])
def test_syrup_encode_takes_a_container_before_it_runs_code(kind):
    class Emptying(int):
        def __abs__(self):
            holder.clear()
            return int(self)

    def container(number):
        return {number: 0, 3: 0} if kind is dict else {number, 3}

    expected, holder = lydite.syrup_encode(container(2**70)), container(Emptying(2**70))
    assert lydite.syrup_encode(holder) == expected and not holder



@given(st.binary(max_size=40))
def test_syrup_takes_nothing_but_canonical_bytes(data):
    try:
        value = lydite.syrup_decode(data)
    except lydite.DecodeError:
        return
    assert lydite.syrup_encode(value) == data


def test_syrup_says_what_is_wrong():
    loop: list = []
    loop.append(loop)
    with pytest.raises(lydite.EncodeError, match="nested deeper"):
        lydite.syrup_encode(loop)
    for value in (None, object(), [1, None]):
        with pytest.raises(TypeError, match="Syrup encoding"):
            lydite.syrup_encode(value)
    with pytest.raises(lydite.DecodeError, match="equal in Python"):
        lydite.syrup_decode(b"{1+t" b"tt}")
    with pytest.raises(lydite.DecodeError, match="key or set member"):
        lydite.syrup_decode(b"#{}$")
    with pytest.raises(lydite.DecodeError) as caught:
        lydite.syrup_decode(b"[01+]")
    assert caught.value.offset is not None and caught.value.kind
    assert lydite.syrup_decode(b"[01+]", lenient=True) == (1,)
    assert math.isnan(lydite.syrup_decode(lydite.syrup_encode(math.nan)))
    assert lydite.syrup_encode([1, bytearray(b"a")]) == b"[1+1:a]"
    for wrap in (lambda value: Record(value), lambda value: Record(0, value), lambda value: Record((value,))):
        value = 0
        with pytest.raises(lydite.EncodeError, match="^containers nested deeper than 1024 levels$"):
            for _ in range(1025):
                value = wrap(value)
        assert isinstance(hash(value), int)
    assert Symbol("a") != "a" and len({Symbol("a"), Symbol("a"), "a"}) == 2


def _xmss(name):
    return json.loads((VECTORS / f"xmss/{name}.json").read_text())


def test_xmss_vectors():
    for name, scheme in (("test_2e8_dim4_full", "leansig-test"), ("prod_2e32_offset", "leansig-prod")):
        vectors = _xmss(name)
        key = bytes.fromhex(vectors["pk_ssz"])
        rows = [
            (case["epoch"], bytes.fromhex(case["message"]), bytes.fromhex(case["sig_ssz"]))
            for case in vectors["signatures"]
        ]
        for epoch, message, signature in rows[:6]:
            assert lydite.xmss_verify(key, epoch, message, signature, scheme=scheme)
            assert not lydite.xmss_verify(key, epoch ^ 1, message, signature, scheme=scheme)
        epochs, messages, signatures = map(list, zip(*rows))
        messages[1] = bytes(31) + b"\1"
        signatures[2] = signatures[2][1:]
        keys = numpy.frombuffer(key * len(rows), "u1").reshape(len(rows), -1)
        valid = lydite.xmss_verify_batch(keys, epochs, messages, signatures, scheme=scheme)
        assert valid == [i not in (1, 2) for i in range(len(rows))]
    for case in _xmss("leanvm")["verify"]:
        key, message, signature = (bytes.fromhex(case["input"][name]) for name in ("public_key", "message", "signature"))
        try:
            valid = lydite.xmss_verify(key, case["input"]["epoch"], message, signature, scheme="leanvm")
        except lydite.DecodeError:
            valid = None
        assert valid == case["output"], case["name"]
    for case in _xmss("negative_test_2e8")["cases"]:
        arguments = bytes.fromhex(case["pk_ssz"]), case["epoch"], bytes.fromhex(case["message"])
        try:
            valid = lydite.xmss_verify(*arguments, bytes.fromhex(case["sig_ssz"]), scheme="leansig-test")
        except lydite.DecodeError:
            valid = False
        # leanSig accepts field elements modulo p, which is not canonical.
        expected = case["leansig_release"] == "true" and "noncanonical" not in case["case"]
        assert valid == expected, case["case"]


def test_xmss_key_files(tmp_path):
    path = tmp_path / "key"
    public_key = lydite.xmss_generate(path, epochs=256, scheme="leansig-test", seed=bytes(32))
    other = lydite.xmss_generate(str(tmp_path / "other"), epochs=1, scheme="leansig-test")
    assert other != public_key
    with pytest.raises(FileExistsError):
        lydite.xmss_generate(path, scheme="leansig-test")
    with pytest.raises(FileNotFoundError):
        lydite.XmssKey(tmp_path / "none", scheme="leansig-test")
    with pytest.raises(lydite.KeyFileError, match="not a key"):
        lydite.XmssKey(path)
    with pytest.raises(ValueError, match="unknown scheme"):
        lydite.XmssKey(path, scheme="x")
    key = lydite.XmssKey(path, scheme="leansig-test")
    assert (key.public_key, key.scheme, key.active) == (public_key, "leansig-test", (0, 256))
    with pytest.raises(lydite.KeyFileError, match="another process"):
        lydite.XmssKey(path, scheme="leansig-test")
    signature = key.sign(7, bytes(32))
    assert lydite.xmss_verify(public_key, 7, bytes(32), signature, scheme="leansig-test")
    with pytest.raises(lydite.KeyFileError, match="epoch 7 is spent"):
        key.sign(7, bytes(32))
    key.prepare(100)
    assert key.prepared[0] <= 100 < key.prepared[1] and key.unspent[0] >= 8
    with pytest.raises(lydite.DecodeError, match="expected 32 bytes"):
        key.sign(100, b"short")
    for wrong in (-1.0, math.nan):
        with pytest.raises(ValueError, match="pause"):
            key.prepare_ahead(wrong)
    key.prepare_ahead(0.001)
    key.sign(120, bytes(32))
    del key
    again = lydite.XmssKey(path, scheme="leansig-test")
    with pytest.raises(lydite.KeyFileError):
        again.sign(7, bytes(32))


def _sign_in_child(key, connection):
    """Reports the error of each use of a key that the parent opened, and what can still be read."""
    errors = []
    for use in (
        lambda: key.sign(5, bytes(32)),
        lambda: key.prepare(200),
        lambda: key.prepare_ahead(0.001),
        lambda: key.unspent,
        lambda: key.prepared,
    ):
        try:
            use()
            errors.append("none")
        except lydite.KeyFileError as error:
            errors.append(str(error))
    connection.send((errors, (key.public_key, key.active, repr(key))))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_xmss_keys_after_a_fork(tmp_path):
    path = tmp_path / "key"
    public_key = lydite.xmss_generate(path, epochs=256, scheme="leansig-test")
    key = lydite.XmssKey(path, scheme="leansig-test")
    key.prepare_ahead(1000.0)

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_sign_in_child, args=(key, there))
    child.start()
    errors, readable = here.recv()
    child.join()
    assert child.exitcode == 0
    for error in errors:
        assert f"opened by process {os.getpid()} and this is process {child.pid}" in error
    assert readable == (public_key, (0, 256), "<XmssKey leansig-test, epochs 0 to 256>")

    # A child that drops its copy must leave the parent's key open.
    child = os.fork()
    if child == 0:
        code = 1
        try:
            del key
            gc.collect()
            lydite.XmssKey(path, scheme="leansig-test")
        except lydite.KeyFileError as error:
            code = 0 if "another process" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    message = bytes(31) + b"1"
    signature = key.sign(5, message)
    assert lydite.xmss_verify(public_key, 5, message, signature, scheme="leansig-test")


def test_xmss_record_restored_under_a_signer(tmp_path):
    path, record = tmp_path / "key", tmp_path / "key.epoch"
    lydite.xmss_generate(path, epochs=256, scheme="leansig-test")
    key = lydite.XmssKey(path, scheme="leansig-test")
    old = record.read_bytes()
    key.sign(5, bytes(32))
    record.write_bytes(old)
    with pytest.raises(lydite.KeyFileError, match="restored, replaced or damaged"):
        key.sign(6, bytes(32))


_USE_SECRET = """
import io, sys, lydite
secret = bytearray(32)
io.FileIO(0, closefd=False).readinto(secret)
lydite.xmss_generate(sys.argv[1], epochs=1, scheme="leansig-test", seed=secret)
lydite.public_key(secret)
lydite.sign(bytes(32), secret)
lydite.sign_transaction({"chainId": 1, "nonce": 0, "gasPrice": 1, "gas": 21000, "to": None, "value": 0, "data": b""}, secret)
if sys.argv[2] == "forget":
    secret[:] = bytes(32)
sys.stdout.write("ready")
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_secrets_in_bytearrays_are_not_left_in_memory(tmp_path):
    found = {}
    for mode in ("keep", "forget"):
        secret = os.urandom(32)
        arguments = [sys.executable, "-c", _USE_SECRET, str(tmp_path / mode), mode]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
            child.stdin.write(secret)
            assert child.stdout.read(5) == b"ready"
            count = 0
            with open(f"/proc/{child.pid}/maps") as maps, open(f"/proc/{child.pid}/mem", "rb", 0) as memory:
                for line in maps:
                    area, permissions = line.split()[:2]
                    if "rw" not in permissions:
                        continue
                    start, end = (int(x, 16) for x in area.split("-"))
                    memory.seek(start)
                    data = memory.read(end - start)
                    # The allocator overwrites the first bytes of freed memory.
                    count += sum(data.count(secret[i : i + 8]) for i in range(0, 32, 8))
            child.stdin.close()
        found[mode] = count
    assert found["keep"] >= 4
    assert found["forget"] == 0, found


def test_xmss_keys_made_elsewhere(tmp_path):
    vectors = _xmss("test_2e8_dim4_full")
    path = tmp_path / "key"
    path.write_bytes(bytes.fromhex(vectors["sk_ssz"]))
    path.chmod(0o644)
    for call in (lydite.XmssKey, lambda *a, **k: lydite.xmss_adopt(*a, next=0, **k)):
        with pytest.raises(lydite.KeyFileError, match="chmod 600"):
            call(path, scheme="leansig-test")
    path.chmod(0o600)
    with pytest.raises(lydite.KeyFileError, match="the spent epochs are unknown"):
        lydite.XmssKey(path, scheme="leansig-test")
    lydite.xmss_adopt(path, next=vectors["signatures"][4]["epoch"], scheme="leansig-test")
    with pytest.raises(FileExistsError):
        lydite.xmss_adopt(path, next=0, scheme="leansig-test")
    key = lydite.XmssKey(path, scheme="leansig-test")
    assert key.public_key.hex() == vectors["pk_ssz"]
    with pytest.raises(lydite.KeyFileError, match="spent"):
        key.sign(vectors["signatures"][3]["epoch"], bytes(32))
    case = vectors["signatures"][4]
    assert key.sign(case["epoch"], bytes.fromhex(case["message"])).hex() == case["sig_ssz"]


def test_precompiles():
    vectors = json.loads((VECTORS / "precompiles/report.json").read_text())
    for case in vectors:
        number, data = int(case["addr"]), bytes.fromhex(case["input"])
        if case["expected"] == "FAIL":
            with pytest.raises(lydite.PrecompileError):
                lydite.precompile(number, data, 10**7)
        else:
            output, gas = lydite.precompile(number, data, 10**7)
            assert output.hex() == case["expected"], case["name"]
            assert lydite.precompile(number, data, gas) == (output, gas)
            with pytest.raises(lydite.PrecompileError, match="out of gas"):
                lydite.precompile(number, data, gas - 1)
    with pytest.raises(lydite.PrecompileError):
        lydite.precompile(5, b"", 1000, fork="frontier")
    with pytest.raises(ValueError, match="unknown fork; expected one of"):
        lydite.precompile(5, b"", 1000, fork="x")


def test_many_items_in_every_form():
    rows = numpy.arange(96, dtype="u1").reshape(3, 32)
    hashes = [lydite.keccak256(row.tobytes()) for row in rows]
    every = (rows, list(rows), tuple(map(bytes, rows)), (bytearray(row) for row in rows), rows[::-1][::-1])
    for form in every:
        assert lydite.keccak256_batch(form) == hashes
    assert lydite.keccak256_batch(rows[:, ::2]) == [lydite.keccak256(row[::2].tobytes()) for row in rows]
    assert lydite.keccak256_batch(numpy.zeros((0, 32), "u1")) == []
    assert lydite.keccak256_batch(numpy.zeros((2, 0), "u1")) == [lydite.keccak256(b"")] * 2
    for wrong in (b"abc", rows[0], rows.reshape(3, 4, 8), 5, [b"a", "b"], numpy.zeros((2, 2), "f8")):
        with pytest.raises(TypeError):
            lydite.keccak256_batch(wrong)
    words = numpy.zeros((4, 32), "u1")
    words[:, 31] = [1, 2, 3, 4]
    codec = lydite.Codec("uint256")
    assert codec.decode_batch(words) == [(1,), (2,), (3,), (4,)]
    with pytest.raises(TypeError) as caught:
        codec.decode_batch([bytes(32), "x"])
    assert caught.value.__notes__ == ["item 1"]
    raw = numpy.frombuffer(b"\x05" * 10, "u1").reshape(2, 5)
    assert lydite.senders(raw) == [None, None]
