#!/usr/bin/python3
"""A loop like a notebook's: cells run in one python, which keeps its state; a cell that fails is
told, and one that hangs is interrupted.  usage: notebook.py < cells (a blank line between them)"""
import re
import sys

import ue

SETUP = "import sys; sys.ps1 = '<in>'; sys.ps2 = ''"


def run(python, cell, seconds):
    code = "exec(compile(%r, 'cell', 'exec'))" % cell
    try:
        shown = python.ask(code, until="<in>$", plain=True, timeout=seconds)
    except ue.TimedOut:
        python.press("C-c")
        shown = python.until("<in>$")
    lines = [line for line in re.split(r"\r*\n", shown) if line not in ("", "<in>")]
    failed = any("Traceback" in line for line in lines)
    return lines[-1:] if failed else lines, failed


with ue.Client() as client:
    kernel = client.begin(["python3", "-q"], cols=1000, env={"TERM": "dumb"})
    kernel.ask(SETUP, until="<in>$")
    for number, text in enumerate(sys.stdin.read().strip().split("\n\n"), 1):
        output, error = run(kernel, text, seconds=1 if "hang" in text else 30)
        print("[%d]%s %s" % (number, " error:" if error else "", " | ".join(output)))
    kernel.kill()
    kernel.remove()
