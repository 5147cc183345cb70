"""Arrow arrays and Parquet files, compared with `lydite.Event` and read by pyarrow, Polars, DuckDB and
DataFusion."""

import decimal
import inspect
import os
import subprocess
import sys
from pathlib import Path

import datafusion
import duckdb
import lydite
import lydite.datafusion
import lydite.duckdb
import lydite.polars
import polars
import pyarrow
import pyarrow.parquet
import pytest
import top_tokens
from lydite import arrow

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"
EVENT = lydite.Event(TRANSFER, address="bytes")
KEY = b"\x46" * 32
FIELDS = {"chainId": 1, "nonce": 0, "gasPrice": 1, "gas": 21_000, "to": bytes(20), "value": 0}
RAW = lydite.sign_transaction(FIELDS, KEY)
SENDER = lydite.public_key_to_address(lydite.public_key(KEY))


def word(number):
    return number.to_bytes(32, "big")


def logs(rows):
    """Every third log is of another event. The sender of every fifth one is not an address."""
    return pyarrow.table(
        {
            "block_number": pyarrow.array(range(rows), pyarrow.uint64()),
            "topic0": [bytes(EVENT.topic) if row % 3 else word(row) for row in range(rows)],
            "topic1": [word(row + (1 << 200 if row % 5 == 0 else 0)) for row in range(rows)],
            "topic2": [word(2) for _ in range(rows)],
            "topic3": pyarrow.nulls(rows, pyarrow.binary()),
            "data": [word(2**256 - 1 - row) for row in range(rows)],
        }
    )


def decoded(row):
    """What `lydite.Event` decodes."""
    table = logs(row + 1).to_pylist()[row]
    topics = [table[f"topic{i}"] for i in range(3)]
    try:
        values = EVENT.decode(topics, table["data"])
    except lydite.DecodeError:
        return None
    return {**values, "value": word(values["value"])}


def topics(table):
    return [table[f"topic{i}"] for i in range(4)]


def test_event():
    event = lydite.ArrowEvent(TRANSFER)
    assert event.topic == EVENT.topic
    assert event.names == ["from", "to", "value"]
    assert pyarrow.field(event).type.field("value").type == pyarrow.binary(32)
    table = logs(100)
    structs, failures = event.decode(topics(table), table["data"])
    assert len(structs) == 100
    assert repr(structs).startswith("<ArrowArray of 100 rows, Struct(")
    found = pyarrow.array(structs).to_pylist()
    assert found == [decoded(row) for row in range(100)]
    assert failures == [(row, "byte 0: padding is not zero") for row in range(100) if row % 5 == 0 and row % 3]

    # Chunks, and other libraries.
    chunked = pyarrow.concat_tables([logs(100)[:7], logs(100)[7:]])
    structs, _ = event.decode(topics(chunked), chunked["data"])
    assert pyarrow.array(structs).to_pylist() == found
    frame = polars.from_arrow(table)
    structs, _ = event.decode(topics(frame), frame["data"])
    assert polars.Series(structs).to_list() == found


def test_formats_and_errors():
    event = lydite.ArrowEvent(TRANSFER, uint256="string,decimal,f64")
    assert event.names == ["from", "to", "value_string", "value_decimal", "value_f64"]
    table = logs(2)
    structs, _ = event.decode(topics(table), table["data"])
    row = pyarrow.array(structs).to_pylist()[1]
    assert (row["value_string"], row["value_decimal"], row["value_f64"]) == (str(2**256 - 2), None, 2.0**256)
    with pytest.raises(ValueError, match="^uint256: expected 'binary', 'string', 'decimal' or 'f64', found 'no'$"):
        lydite.ArrowEvent(TRANSFER, uint256="no")
    with pytest.raises(lydite.DecodeError, match="^signature `T\\(`: byte 2: "):
        lydite.ArrowEvent("T(")
    with pytest.raises(lydite.LyditeError, match="^columns differ in length: 1 and 2 rows$"):
        event.decode(topics(table), table["data"][:1])
    with pytest.raises(ValueError, match="^topics: expected at most 4 arrays, found 5$"):
        event.decode([*topics(table), None], table["data"])
    with pytest.raises(lydite.LyditeError, match="^expected a column of binary values or hexadecimal text, found"):
        event.decode([table["block_number"]], table["data"])


def test_transactions():
    texts = pyarrow.array(["0x" + RAW.hex(), None, "0x05", "0x0", RAW.hex()])
    assert pyarrow.array(arrow.sender(texts)).to_pylist() == [SENDER, None, None, None, SENDER]
    with pytest.raises(lydite.LyditeError, match="^row 2: byte 0: unknown transaction type 0x05$"):
        arrow.sender(texts, null_on_error=False)
    assert polars.Series(arrow.tx_hash(polars.Series([RAW]))).to_list() == [lydite.keccak256(RAW)]
    fields = pyarrow.array(arrow.decode_tx(texts)).to_pylist()
    assert (fields[0]["gas_limit"], fields[0]["to"], fields[1]) == (21_000, bytes(20), None)


def test_functions_are_those_of_single_values():
    values = [b"", b"abc", None, bytes(200)]
    addresses = pyarrow.array([SENDER, None, b"1"])
    hashes = pyarrow.array(arrow.keccak256(polars.Series(values))).to_pylist()
    assert hashes == [None if value is None else lydite.keccak256(value) for value in values]
    assert pyarrow.array(arrow.checksum(addresses)).to_pylist() == [lydite.to_checksum_address(SENDER), None, None]
    created = pyarrow.array(arrow.create_address(addresses, 7)).to_pylist()
    assert created == [lydite.create_address(SENDER, 7), None, None]
    one = [pyarrow.array([value]) for value in (SENDER, word(1), word(2))]
    assert pyarrow.array(arrow.create2_address(*one)).to_pylist() == [lydite.create2_address(SENDER, word(1), word(2))]
    digest = lydite.keccak256(b"message")
    signature = lydite.sign(digest, KEY)
    for columns in (
        [pyarrow.array([signature])],
        [signature[64], pyarrow.array([signature[:32]]), pyarrow.array([signature[32:64]])],
    ):
        assert pyarrow.array(arrow.ecrecover(pyarrow.array([digest]), *columns)).to_pylist() == [SENDER]
    codec = lydite.Codec("string[]")
    decoded = pyarrow.array(arrow.decode_type(pyarrow.array([codec.encode([["a", "b"]])]), "string[]"))
    assert decoded.to_pylist() == [["a", "b"]]
    calls = pyarrow.array(arrow.encode_params([addresses, 7], "transfer(address,uint256)")).to_pylist()
    assert calls == [lydite.selector("transfer(address,uint256)") + SENDER.rjust(32, b"\0") + word(7), None, None]
    pairs = pyarrow.array([{"a": 1, "b": True}])
    encoded = pyarrow.array(arrow.encode_type(pairs, "(uint8,bool)"))
    assert pyarrow.array(arrow.decode_type(encoded, "(uint8 a, bool b)")).to_pylist() == pairs.to_pylist()
    returned = pyarrow.array([word(1), None, b"", word(2)])
    results = pyarrow.array(arrow.decode_output(returned, "f() returns (bool)")).to_pylist()
    assert results == [{"output_0": True}, None, None, None]
    dirty = pyarrow.array([b"\1" * 32])
    topic = lydite.event_topic("E(uint8)")
    for mode, expected in (("strict", None), ("lenient", {"a": 1})):
        event = lydite.ArrowEvent("E(uint8 a)", mode=mode)
        assert pyarrow.array(event.decode([pyarrow.array([topic])], dirty)[0]).to_pylist() == [expected]
    with pytest.raises(ValueError, match="^mode: expected 'strict', 'lenient' or 'canonical', found 'lax'$"):
        lydite.ArrowEvent("E(uint8 a)", mode="lax")
    with pytest.raises(lydite.DecodeError, match="^signature `uint7`: "):
        arrow.decode_type(addresses, "uint7")
    with pytest.raises(lydite.LyditeError, match="^keccak256: expected binary or hexadecimal text for bytes, found Int64$"):
        arrow.keccak256(pyarrow.array([1]))


def test_integers_of_256_bits():
    numbers = [0, 7, 2**128, 2**256 - 1]
    texts = pyarrow.array([str(number) for number in numbers] + [None, "x"])
    words = pyarrow.array(arrow.uint256(texts))
    assert words.to_pylist() == [word(number) for number in numbers] + [None, None]
    assert pyarrow.array(arrow.uint256_to_string(words)).to_pylist() == texts.to_pylist()[:5] + [None]
    assert pyarrow.array(arrow.uint256_to_bigint(words)).to_pylist() == [0, 7] + [None] * 4
    assert pyarrow.array(arrow.uint256_to_double(words)).to_pylist()[3] == 2.0**256
    products = pyarrow.array(arrow.uint256_mul(words, words)).to_pylist()
    assert products == [word(0), word(49)] + [None] * 4
    assert pyarrow.array(arrow.format_units(words, 18)).to_pylist()[1] == "0.000000000000000007"
    assert pyarrow.array(arrow.parse_units(pyarrow.array(["1.5"]), 6)).to_pylist() == [word(1_500_000)]
    assert pyarrow.array(arrow.uint256_add(words[:2], 2**128)).to_pylist() == [word(2**128), word(2**128 + 7)]
    assert pyarrow.array(arrow.uint256_sub(7, words[:2])).to_pylist() == [word(7), word(0)]
    assert pyarrow.array(arrow.uint256_add(words[:0], 1)).to_pylist() == []
    for wrong in (-1, 2**256):
        with pytest.raises(lydite.LyditeError, match=r"^right: expected an integer from 0 to 2\^256 - 1$"):
            arrow.uint256_add(words, wrong)
    with pytest.raises(lydite.LyditeError, match=r"^decimals: expected an integer from 0 to 2\^64 - 1$"):
        arrow.format_units(words, 2**64)
    for wrong, kind in ((True, "bool"), (1.5, "float")):
        message = f"^expected an Arrow array or an int, found <class '{kind}'>\nwhile processing"
        with pytest.raises(TypeError, match=message):
            arrow.uint256_add(words, wrong)
    assert (arrow.uint256_sum(words), arrow.uint256_sum(words[:3])) == (None, 2**128 + 7)
    assert arrow.uint256_sum(words, signed=True) == 2**128 + 6


def test_every_function_of_the_table_is_in_the_module():
    """A name that the native module does not know would be an error of another kind."""
    for name in arrow.__all__:
        parameters = inspect.signature(getattr(arrow, name)).parameters.values()
        required = [p for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
        nothing = pyarrow.nulls(0)
        arguments = [{"type": "bool", "signature": "f()"}.get(p.name, nothing) for p in required]
        if name in ("uint256_sum", "ecrecover"):
            arguments = [nothing] * (1 if name == "uint256_sum" else 2)
        getattr(arrow, name)(*arguments)


def test_stream():
    table = logs(1000)
    rows = [row for row in range(1000) if row % 3]
    missing = {"from": None, "to": None, "value": None}
    expected = [{"block_number": row, **(decoded(row) or missing)} for row in rows]
    invalid = [row for row in rows if row % 5 == 0]
    first = [(row, "byte 0: padding is not zero") for row in invalid[:10]]
    read = 0

    def batches():
        nonlocal read
        for batch in table.to_batches(max_chunksize=100):
            read += 1
            yield batch

    stream = lydite.decode_logs(pyarrow.RecordBatchReader.from_batches(table.schema, batches()), TRANSFER)
    assert pyarrow.schema(stream).names == ["block_number", "from", "to", "value"]
    reader = pyarrow.RecordBatchReader.from_stream(stream)
    assert (reader.read_next_batch().to_pylist(), read) == (expected[:66], 1)
    assert reader.read_all().to_pylist() == expected[66:]
    assert stream.report == {
        "rows": 1000,
        "selected": len(rows),
        "other_layout": 0,
        "failures": {"padding is not zero": len(invalid)},
        "first_failures": first,
        "overflows": 0,
        "different": 0,
    }
    with pytest.raises(ValueError, match="^the stream has been read$"):
        pyarrow.table(stream)

    # Tables, batches and frames; read by other libraries.
    for source in (table, table.to_batches()[0], polars.from_arrow(table)):
        assert pyarrow.table(lydite.decode_logs(source, TRANSFER)).to_pylist() == expected
    stream = lydite.decode_logs(table, TRANSFER, keep=["block_number"], prefix="e_", on_error="drop", uint256="f64")
    found = polars.DataFrame(stream)
    assert (found.columns[1:], len(found)) == (["e_from", "e_to", "e_value"], len(rows) - len(invalid))
    stream = lydite.decode_logs(table, TRANSFER, keep="none")
    assert duckdb.connect().from_arrow(stream).count("*").fetchall() == [(len(rows),)]
    stream = lydite.decode_logs(table.slice(4), TRANSFER, on_error="fail")
    with pytest.raises(pyarrow.ArrowInvalid, match="row 1: byte 0: padding is not zero"):
        pyarrow.table(stream)
    with pytest.raises(lydite.LyditeError, match="^no column for data; expected a column named data$"):
        lydite.decode_logs(table.drop(["data"]), TRANSFER)
    with pytest.raises(lydite.LyditeError, match="^no column `x` to keep$"):
        lydite.decode_logs(table, TRANSFER, keep=["x"])


def test_decimals_of_more_than_38_digits(tmp_path):
    values = [10**38 - 1, 10**38]
    topic = lydite.event_topic("E(uint256)")
    table = pyarrow.table({"topic0": [topic] * 2, "data": [value.to_bytes(32, "big") for value in values]})
    stream = lydite.decode_logs(table, "E(uint256 value)", uint256="decimal")
    assert pyarrow.table(stream)["value"].to_pylist() == [decimal.Decimal(values[0]), None]
    first = [(1, "expected at most 38 digits")]
    assert (stream.report["overflows"], stream.report["first_failures"], stream.report["failures"]) == (1, first, {})
    pyarrow.parquet.write_table(table, tmp_path / "logs.parquet")
    files = [str(tmp_path / "logs.parquet")], str(tmp_path / "out.parquet"), "E(uint256 value)"
    report = lydite.decode_logs_file(*files, uint256="decimal")
    assert (report["overflows"], report["first_failures"][0]["row"]) == (1, 1)
    with pytest.raises(lydite.LyditeError, match="expected at most 38 digits"):
        lydite.decode_logs_file(*files, uint256="decimal", on_error="fail", overwrite=True)


def test_stream_of_transactions():
    call = lydite.selector("f(uint8)") + word(7)
    table = pyarrow.table({"rawTx": [RAW, b"\x05"], "from": [SENDER[::-1], SENDER], "input": [call, b""]})
    stream = lydite.recover_senders(table, hash=True, check=True, keep=["from"])
    assert pyarrow.table(stream).to_pylist() == [
        {"from": SENDER[::-1], "sender": SENDER, "hash": lydite.keccak256(RAW)},
        {"from": SENDER, "sender": None, "hash": None},
    ]
    report = stream.report
    assert (report["different"], report["failures"]) == (1, {"unknown transaction type": 1})
    assert report["first_failures"][1] == (0, f"expected sender 0x{SENDER[::-1].hex()}, found 0x{SENDER.hex()}")
    assert pyarrow.table(lydite.decode_calls(table, "f(uint8 amount)")).to_pylist() == [{"amount": 7}]
    table = table.append_column("output", pyarrow.array([word(1), None]))
    stream = lydite.decode_calls(table, "f(uint8 amount) returns (bool ok)", results=True)
    assert pyarrow.table(stream).to_pylist() == [{"amount": 7, "output_ok": True}]


def test_files(tmp_path):
    pyarrow.parquet.write_table(logs(1000), tmp_path / "logs.parquet", row_group_size=300)
    output = tmp_path / "transfers.parquet"
    report = lydite.decode_logs_file(tmp_path / "logs.parquet", output, TRANSFER)
    rows = [row for row in range(1000) if row % 3]
    assert (report["rows"], report["selected"], report["written"]) == (1000, len(rows), [(output, len(rows))])
    assert report["failures"] == {"padding is not zero": sum(row % 5 == 0 for row in rows)}
    assert report["first_failures"][0] == {
        "file": tmp_path / "logs.parquet",
        "row": 5,
        "block_number": 5,
        "log_index": None,
        "error": "byte 0: padding is not zero",
    }
    missing = {"from": None, "to": None, "value": None}
    expected = [{"block_number": row, **(decoded(row) or missing)} for row in rows[:100]]
    assert pyarrow.parquet.read_table(output).to_pylist()[:100] == expected
    assert polars.read_parquet(output).to_dicts()[:100] == expected
    assert datafusion.SessionContext().read_parquet(output).limit(100).to_pylist() == expected
    found = duckdb.sql(f"select * from read_parquet('{output}') limit 100").fetchall()
    assert found == [tuple(row.values()) for row in expected]

    with pytest.raises(FileExistsError, match="file exists$"):
        lydite.decode_logs_file([tmp_path / "logs.parquet"], output, [TRANSFER])
    with pytest.raises(FileNotFoundError):
        lydite.decode_logs_file(tmp_path / "no", output, TRANSFER, overwrite=True)
    with pytest.raises(lydite.LyditeError, match="row 5: byte 0: padding is not zero$"):
        lydite.decode_logs_file(tmp_path / "logs.parquet", output, TRANSFER, overwrite=True, on_error="fail")
    with pytest.raises(ValueError, match="^columns: expected role=column"):
        lydite.decode_logs_file(tmp_path, output, TRANSFER, columns={"no": "such"})
    report = lydite.decode_logs_file(
        tmp_path / "logs.parquet",
        output,
        TRANSFER,
        overwrite=True,
        keep=["block_number"],
        prefix="event__",
        columns={"data": "topic2"},
        uint256="string",
        threads=1,
    )
    assert polars.read_parquet(output)["event__value"].drop_nulls().unique().to_list() == ["2"]
    assert report["elapsed"] > 0


def test_how_files_are_written(tmp_path):
    pyarrow.parquet.write_table(logs(1000), tmp_path / "logs.parquet")
    folder = tmp_path / "out"
    folder.mkdir()

    def decode(output=folder, **options):
        return lydite.decode_logs_file(tmp_path / "logs.parquet", output, TRANSFER, **options)

    decode(tmp_path / "one", compression="snappy", memory=64 << 20)
    metadata = pyarrow.parquet.ParquetFile(tmp_path / "one").metadata
    assert metadata.row_group(0).column(0).compression == "SNAPPY"
    decode(tmp_path / "two", format="arrow")
    assert pyarrow.ipc.open_file(tmp_path / "two").read_all() == pyarrow.parquet.read_table(tmp_path / "one")

    done = decode(resume=True)
    assert (done["skipped"], done["rows"]) == (0, 1000)
    done = decode(resume=True)
    assert (done["skipped"], done["rows"], done["written"]) == (1, 0, [])
    with pytest.raises(lydite.LyditeError, match="logs.parquet: "):
        decode(resume=True, mode="lenient")

    with pytest.raises(ValueError, match="^format: expected 'parquet' or 'arrow', found 'csv'$"):
        decode(format="csv")
    with pytest.raises(ValueError, match="^compression: expected 'zstd', 'lz4', 'snappy' or 'none', found 'gzip'$"):
        decode(compression="gzip")
    with pytest.raises(ValueError, match="^resume: expected False with overwrite=True$"):
        decode(overwrite=True, resume=True)


def test_files_of_transactions(tmp_path):
    call = lydite.selector("f(uint8)") + word(7)
    table = pyarrow.table({"rawTx": [RAW, b"\x05"], "from": [SENDER, SENDER], "input": [call, b""]})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / "out.parquet"
    report = lydite.senders_file(os.fspath(tmp_path / "in.parquet"), output, hash=True, check=True)
    assert (report["different"], report["failures"]) == (0, {"unknown transaction type": 1})
    assert polars.read_parquet(output).to_dicts() == [
        {"sender": SENDER, "hash": lydite.keccak256(RAW)},
        {"sender": None, "hash": None},
    ]
    report = lydite.decode_calls_file(
        [tmp_path / "in.parquet"], output, ["f(uint8 amount)"], overwrite=True, keep="none"
    )
    assert (report["selected"], polars.read_parquet(output).to_dicts()) == (1, [{"amount": 7}])
    report = lydite.decode_calls_file(
        [tmp_path / "in.parquet"], tmp_path / "calls", ["f(uint8)", "g()"], keep="all", prefix="_"
    )
    assert report["written"] == [(Path(tmp_path / "calls" / "f.parquet"), 1)]


@pytest.mark.parametrize("logs", [top_tokens.made, top_tokens.real])
def test_top_tokens(logs, tmp_path, monkeypatch):
    """The examples on Polars and DuckDB."""
    file, expected = logs(tmp_path)
    assert len(expected) == 10
    command = [sys.executable, top_tokens.EXAMPLES / "top_tokens.py", file]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert top_tokens.printed(output) == expected

    monkeypatch.chdir(tmp_path)
    options = {"keep": ["address"], "uint256": "decimal", "on_error": "drop"}
    lydite.decode_logs_file(file, "transfers.parquet", TRANSFER, **options)
    rows = duckdb.connect().sql((top_tokens.EXAMPLES / "top_tokens.sql").read_text()).fetchall()
    assert [(int(token, 16), holders) for token, holders in rows] == expected


def test_length_of_examples():
    files = top_tokens.EXAMPLES.glob("*.[ps][yq]*")
    lengths = {file.name: len(file.read_text().splitlines()) for file in files}
    assert len(lengths) == 5
    assert all(length < 30 for length in lengths.values()), lengths


def test_polars():
    frame = polars.from_arrow(logs(100))
    rows = [row for row in range(100) if row % 3]
    missing = {"from": None, "to": None, "value": None}
    expected = [{"block_number": row, **(decoded(row) or missing)} for row in rows]
    assert lydite.polars.decode_logs(frame, TRANSFER).to_dicts() == expected
    assert lydite.polars.decode_logs(frame.lazy(), TRANSFER).collect().to_dicts() == expected
    lenient = lydite.polars.decode_logs(frame, TRANSFER, mode="lenient")
    assert (lenient.height, lenient["from"].null_count()) == (len(rows), 0)
    lazy = lydite.polars.decode_logs(
        frame.lazy().rename({"topic2": "second"}),
        TRANSFER,
        keep=[],
        uint256="f64",
        columns={"topic2": "second"},
    )
    assert lazy.collect_schema() == {"from": polars.Binary, "to": polars.Binary, "value": polars.Float64}
    assert lazy.collect()["value"].drop_nulls().unique().to_list() == [2.0**256]
    assert lydite.polars.senders(polars.Series("raw", [RAW, b""])).to_list() == [SENDER, None]


EXPRESSIONS = """
    uint256_to_string(uint256_add(uint256('7'), uint256('0x0a'))), int256_lt(int256('-1'), int256('0')),
    format_units(uint256('1500000'), 6), evm_checksum(evm_hex_decode('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')),
    uint256_to_decimal(uint256('9')), uint256_mul_div(uint256('6'), uint256('7'), uint256('2')) = uint256('21'),
    evm_create_address(evm_sender(raw), 1)
"""
CREATED = pyarrow.array(arrow.create_address(pyarrow.array([SENDER]), 1))[0].as_py()
RESULTS = ("17", True, "1.5", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", 9, True, CREATED)


def test_datafusion():
    context = datafusion.SessionContext()
    lydite.datafusion.register(context)
    context.from_arrow(pyarrow.table({"raw": pyarrow.array([RAW, b"\5", None])}), "t")
    rows = context.sql("select evm_sender(raw) sender, evm_tx_hash(raw) hash from t").to_pylist()
    assert rows == [{"sender": SENDER, "hash": lydite.keccak256(RAW)}] + [{"sender": None, "hash": None}] * 2
    row = context.sql(f"select {EXPRESSIONS} from t limit 1").to_pylist()[0]
    assert tuple(row.values()) == RESULTS

    lydite.datafusion.register_event(context, "transfer", TRANSFER)
    context.from_arrow(logs(100), "logs")
    query = "select transfer(topic0, topic1, topic2, topic3, data) log from logs"
    assert [row["log"] for row in context.sql(query).to_pylist()] == [decoded(row) for row in range(100)]
    lydite.datafusion.register_event(context, "lenient", TRANSFER, mode="lenient")
    query = "select count(lenient(topic0, topic1, topic2, topic3, data)) count from logs"
    assert context.sql(query).to_pylist() == [{"count": 66}]


def test_duckdb():
    connection = duckdb.connect()
    lydite.duckdb.register(connection)
    query = "select evm_sender(raw), evm_tx_hash(raw) from (values (?::blob), ('\\x05'::blob), (null)) t(raw)"
    assert connection.execute(query, [RAW]).fetchall() == [(SENDER, lydite.keccak256(RAW)), (None, None), (None, None)]

    query = f"select {EXPRESSIONS} from (select ?::blob raw)"
    assert connection.execute(query, [RAW]).fetchall() == [RESULTS]

    lydite.duckdb.register_event(connection, "transfer", TRANSFER)
    connection.register("logs", logs(100))
    query = "select transfer(topic0, topic1, topic2, topic3, data) from logs"
    assert [row for (row,) in connection.sql(query).fetchall()] == [decoded(row) for row in range(100)]
    lydite.duckdb.register_event(connection, "lenient", TRANSFER, mode="lenient")
    query = "select count(lenient(topic0, topic1, topic2, topic3, data)) from logs"
    assert connection.sql(query).fetchall() == [(66,)]
    lydite.duckdb.register_event(connection, "batch", "Batch(address[] to, (uint8,bytes4)[2] flags)")
    query = "select batch(null, null, null, null, ''::blob) is null"
    assert connection.sql(query).fetchall() == [(True,)]
