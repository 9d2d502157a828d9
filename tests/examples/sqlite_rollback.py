#!/usr/bin/python3
"""Migrates a database in the sqlite3 shell: a step that fails takes the whole migration back.
usage: sqlite_rollback.py DATABASE"""
import sys

import ue

STEPS = [
    "alter table people add column born integer;",
    "update people set born = 1815 where name = 'Ada';",
    "create unique index by_born on people(born);",  # two people have no such thing as one year
]
BROKEN = "insert into people(name, born) values ('Byron', 1815);"


def migrate(db, steps):
    db.ask("begin;", until=r"sqlite> $")
    for step in steps:
        try:
            db.ask(step, until=r"sqlite> $", fail_on=r"(?i)error[^\r\n]*")
        except ue.Failed as failed:
            db.ready()
            db.ask("rollback;", until=r"sqlite> $")
            return "rolled back: " + failed.answer.match["text"]
    db.ask("commit;", until=r"sqlite> $")
    return "committed"


with ue.Client() as client:
    sqlite = client.begin(["sqlite3", "-interactive", sys.argv[1]], until=r"sqlite> $")
    sqlite.ask("create table if not exists people(name text);", until=r"sqlite> $")
    sqlite.ask("insert into people values ('Ada'), ('Grace');", until=r"sqlite> $")
    print(migrate(sqlite, STEPS + [BROKEN]))
    print(migrate(sqlite, STEPS))
    print(sqlite.ask("select name, born from people;", plain=True).strip().splitlines()[0])
    sqlite.line(".quit")
    sqlite.ended(timeout=30)
    sqlite.remove()
