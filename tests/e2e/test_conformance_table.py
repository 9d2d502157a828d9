"""The table of differences from Codex (client/verbs/differences.def, ue(1) DIFFERENCES) and its cases: each row has one that shows it, and
each case that says "ours" belongs to a row."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rows():
    text = (ROOT / "client/verbs/differences.def").read_text()
    found = []
    for row in re.findall(r"^DIFFERENCE\((.*?)\)$", text, re.S | re.M):
        fields = re.findall(r'\.(\w+) = ((?:\s*"(?:[^"\\]|\\.)*")+)', row)
        found.append({key: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', value)) for key, value in fields})
    assert text.count("DIFFERENCE(") == len(found) >= 50
    return found


def cases():
    return {name for path in Path(__file__).parent.glob("test_conformance_*.py") for name in re.findall(r"^def (test_ours_\w+)\(", path.read_text(), re.M)}


def test_each_difference_has_its_cases():
    have = cases()
    for row in rows():
        assert set(row) == {"codex", "muxd", "why", "test"}, row
        assert row["test"] and set(row["test"].split()) <= have, f"{row['codex']}: no such test: {set(row['test'].split()) - have}"


def test_each_case_stands_in_the_table():
    told = {name for row in rows() for name in row["test"].split()}
    assert cases() == told, f"in no row: {sorted(cases() - told)}"


def test_each_row_is_told_once():
    whole = [row["codex"] for row in rows()]
    assert len(set(whole)) == len(whole)
