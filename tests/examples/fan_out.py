#!/usr/bin/python3
"""Fifty sessions at once: work is handed out over one connection, and gathered as it ends.
usage: fan_out.py [COUNT]"""
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

import ue

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 50
SCRIPT = "read -r n; i=0; s=0; while [ $i -lt $n ]; do i=$((i + 1)); s=$((s + i)); done; echo $s"


def work(client, number):
    session = client.begin(["sh", "-c", SCRIPT], name="sum%d" % number, tty=False, stdin=True)
    session.line(str(number))
    status = session.ended(timeout=60)
    result = int(session.read())
    session.remove()
    return number, status, result


with ue.Client() as client, ThreadPoolExecutor(COUNT) as pool:
    jobs = [pool.submit(work, client, number) for number in range(1, COUNT + 1)]
    done = [job.result() for job in as_completed(jobs)]

wrong = [row for row in done if row != (row[0], 0, row[0] * (row[0] + 1) // 2)]
print("%d sessions, %d wrong, sum %d" % (len(done), len(wrong), sum(row[2] for row in done)))
sys.exit(bool(wrong))
