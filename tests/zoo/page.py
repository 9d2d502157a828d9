#!/usr/bin/python3
"""page.py DIR: writes the table of the last long run of the zoo (figures.json beside this file, which zoo.py --figures makes) into
DIR/conf/muxd.7, between its marks."""
import json, sys, textwrap
from pathlib import Path

BEGIN, END = '.\\" begin zoo\n', '.\\" end zoo\n'
LINE = "{:<19} {:<24} {:>6} {:>6} {:>7} {:>6} {:>6} {:>7}"


def evidence_of(rounds):
    """All kinds that were seen, the most frequent first."""
    sums = {}
    for each in rounds:
        for kind, count in each["evidence"].items():
            sums[kind] = sums.get(kind, 0) + count
    return ", ".join(sorted(sums, key=lambda kind: -sums[kind]))


def row(label, program):
    rounds = [program[name] for name in ("idle", "busy")]
    counts = [n for each in rounds for n in (each["ok"] + each["early"] + each["missed"], each["early"], each["missed"])]
    return LINE.format(label, evidence_of(rounds), *counts).rstrip()


def table(figures):
    yield from textwrap.wrap(f"{figures['release']}; {figures['fast']} fast and {figures['slow']} slow lines or keys for each program (a third where "
                             f"silence tells), idle and beside {figures['busy']} busy loops on {figures['processors']} processors.", 79)
    yield ".PP"
    yield ".nf"
    yield LINE.format("", "", "idle:", "", "", "busy:", "", "").rstrip()
    yield LINE.format("program", "ready by", "lines", "early", "missed", "lines", "early", "missed")
    for label, program in figures["programs"].items():
        yield row(label, program)
    yield ".fi"


def main():
    page = Path(sys.argv[1]) / "conf" / "muxd.7"
    figures = json.loads((Path(__file__).parent / "figures.json").read_text())
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"'{page}' has no marks"
    lines = "\n".join(line.replace("-", "\\-") for line in table(figures))
    page.write_text(before + begin + lines + "\n" + end + after)


if __name__ == "__main__":
    main()
