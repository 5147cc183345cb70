"""The ten tokens with the most holders: `python top_tokens_ray.py LOGS.parquet`, on the Ray cluster of RAY_ADDRESS."""

import sys
from decimal import Decimal

import lydite
import lydite.ray
import pyarrow
import pyarrow.compute as pc
import ray

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"


def sums(transfers: pyarrow.Table) -> pyarrow.Table:
    """What each holder has received in these transfers, less what it has sent."""
    token, sender, holder, value = transfers.select(["address", "from", "to", "value"]).drop_null().columns
    moves = [[token, holder, value], [token, sender, pc.negate(value)]]
    moves = pyarrow.concat_tables(pyarrow.table(columns, ["token", "holder", "value"]) for columns in moves)
    return moves.group_by(["token", "holder"]).aggregate([("value", "sum")])


logs = ray.data.read_parquet(sys.argv[1:])
transfers = lydite.ray.decode_logs(logs, TRANSFER, keep=["address"], uint256="decimal", on_error="drop")
blocks = transfers.map_batches(sums, batch_format="pyarrow", batch_size=None).to_arrow_refs()
balances = pyarrow.concat_tables(ray.get(blocks)).group_by(["token", "holder"]).aggregate([("value_sum", "sum")])
top = balances.filter(pc.field("value_sum_sum") > Decimal(0)).group_by("token").aggregate([("holder", "count")])
for row in top.sort_by([("holder_count", "descending"), ("token", "ascending")])[:10].to_pylist():
    print(f"{lydite.to_checksum_address(row['token'])} {row['holder_count']}")
