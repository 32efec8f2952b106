"""The example of docs/measured.md runs as it stands, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "measured.md").read_text(encoding="utf-8")


def test_the_example_prints_the_table_of_the_page(capsys) -> None:
    code = PAGE.split("```python\n")[1].split("```")[0]
    shown = PAGE.split("```\n", 3)[2].split("```")[0]
    names: dict = {}
    exec(compile(code, "docs/measured.md", "exec"), names)
    # Pandas wraps by the width of the terminal: the words are compared.
    table = names["model"].measured_
    for reason in table["reason"]:
        assert reason in shown
    assert [str(f) for f in table["regulator"]] == ["rcweb4", "None", "None"]
    lines = shown.strip().splitlines()[1:]
    for line, q, scale in zip(lines, table["q"], table["scale"]):
        assert f"{q:.3f}" in line
        assert f"{scale:.3f}" in line
    assert "TF A" in capsys.readouterr().out
