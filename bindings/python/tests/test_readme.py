"""The programs of the READMEs run."""

import re
from pathlib import Path


def test_readme_programs(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})
    assert "byte" in capsys.readouterr().out


def test_project_readme_program():
    text = (Path(__file__).parents[3] / "README.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})
