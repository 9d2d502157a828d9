"""A helper of bench-turns: for each line it gets, one round trip of 1+1 in python by pexpect; answers the nanoseconds."""
import sys, time

import pexpect

child = pexpect.spawn("/usr/bin/python3", ["-q"], timeout=60)
child.delaybeforesend = None
child.expect_exact(">>> ")
for _ in sys.stdin:
    start = time.monotonic_ns()
    child.send("1+1\r")
    child.expect_exact("\n2\r\n>>> ")
    print(time.monotonic_ns() - start, flush=True)
child.close(force=True)
