"""The files that Lydite writes, opened by other readers. Spark is in `engines`."""

import datafusion
import duckdb
import output_files
import polars
import pyarrow.parquet


def test_readers(tmp_path):
    for file, expected in output_files.written(tmp_path):
        assert pyarrow.parquet.read_table(file).to_pylist() == expected, file
        assert polars.read_parquet(file).to_dicts() == expected, file
        assert datafusion.SessionContext().read_parquet(file).to_pylist() == expected, file
        relation = duckdb.connect().sql(f"select * from read_parquet('{file}')")
        assert [dict(zip(relation.columns, row)) for row in relation.fetchall()] == expected, file
