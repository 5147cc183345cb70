"""The example in SQL, by the command with the feature `sql`, whose path is in `LYDITE_COMMAND`."""

import json
import os
import subprocess

import pytest
import top_tokens


@pytest.mark.parametrize("logs", [top_tokens.made, top_tokens.real])
def test_example(logs, tmp_path):
    file, expected = logs(tmp_path)
    query = (top_tokens.EXAMPLES / "top_tokens_lydite.sql").read_text()
    command = [os.environ["LYDITE_COMMAND"], "sql", "--json", "-t", f"logs={file}", query]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [(int(row["token"], 16), row["holders"]) for row in map(json.loads, lines)] == expected
