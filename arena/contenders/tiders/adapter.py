"""tiders-core and pyarrow, as their users combine them."""

from importlib.metadata import version

import arena_kit as kit
import bulk_items as bulk
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tiders_core import evm_decode_call_inputs, evm_decode_events, evm_signature_to_topic0

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"
TOPIC = pa.scalar(bytes.fromhex(evm_signature_to_topic0(TRANSFER).removeprefix("0x")), pa.binary())
KEPT = ["block_number", "log_index", "address"]
CALL = "transfer(address to, uint256 value)"
SELECTOR = pa.scalar(bytes.fromhex("a9059cbb"), pa.binary())
READ = [*KEPT, "topic0", "topic1", "topic2", "topic3", "data"]


def decode(batch):
    decoded = evm_decode_events(TRANSFER, batch, allow_decode_fail=True, large_int_as_binary=True)
    columns = [batch.column(name) for name in KEPT] + decoded.columns
    return pa.RecordBatch.from_arrays(columns, names=[*KEPT, "from", "to", "value"])


def transfers(batches):
    return [decode(batch) for batch in batches]


def calls(batches):
    """Other calls are filtered here, and the selector is removed, since tiders expects the arguments alone."""
    decoded = []
    for batch in batches:
        selected = batch.filter(pc.equal(pc.binary_slice(batch["input"], 0, 4), SELECTOR))
        # Without an end, pyarrow 26.0.1 fails where a value is shorter than the start.
        arguments = pc.binary_slice(selected["input"], 4, 1 << 30)
        decoded.append(evm_decode_call_inputs(CALL, arguments, allow_decode_fail=True, large_int_as_binary=True))
    return decoded


def transfers_file(file):
    """Logs of other events are filtered here, and those of ERC-721, which tiders decodes to null."""
    output = bulk.path("output.parquet")
    writer, rows = None, 0
    for batch in pq.ParquetFile(file).iter_batches(bulk.BATCH, columns=READ, use_threads=False):
        selected = pc.and_(pc.equal(batch["topic0"], TOPIC), pc.is_null(batch["topic3"]))
        decoded = decode(batch.filter(selected))
        if writer is None:
            writer = pq.ParquetWriter(output, decoded.schema, compression="zstd", compression_level=1)
        writer.write_batch(decoded)
        rows += decoded.num_rows
    writer.close()
    bulk.sync(output)
    return output, rows


ops = {
    "bulk_transfers": bulk.in_memory(lambda item: bulk.batches(bulk.logs(item)), transfers),
    "bulk_calls": bulk.in_memory(lambda item: bulk.batches(bulk.inputs(item)), calls),
    "bulk_transfers_file": bulk.in_files(lambda item: bulk.write_input(bulk.logs(item)), transfers_file),
}

if __name__ == "__main__":
    kit.run("tiders", f"tiders-core {version('tiders-core')}, pyarrow {version('pyarrow')}", ops)
