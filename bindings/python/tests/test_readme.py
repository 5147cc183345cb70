"""The programs of the READMEs and of the page on CapTP run."""

import re
from pathlib import Path

import pytest


def test_readme_programs(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(programs) == 3
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})
    assert "byte" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/captp.md"])
def test_programs_of_other_pages(page):
    text = (Path(__file__).parents[3] / page).read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(program, page, "exec"), {})
