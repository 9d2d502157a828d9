#!/usr/bin/python3
"""Two agents and a person in one session: each agent reads at a place of its own; while the person
has the keyboard, an agent that types is told so, and waits for it."""
import os, pty

import ue


def shows(keys, text):
    """The person sees the text."""
    seen = b""
    while text not in seen:
        seen += os.read(keys, 4096)


with ue.Client(name="writer") as one, ue.Client(name="reviewer") as two:
    writer = one.begin(["bash", "--norc"], name="shared", env={"PS1": "$ ", "TERM": "dumb"})
    reviewer = two.session("shared", place=0)
    writer.ask("echo from the writer")
    events = two.events("keyboard", session="shared")
    person, keys = pty.fork()
    if person == 0:
        os.execv(ue.find_ue(), ["ue", "attach", "shared"])
    shows(keys, b"from the writer")
    os.write(keys, b"echo from the person\r\x1ct")  # C-\ t: takes the keyboard
    next(event for event in events if event.owner == "person")
    try:
        reviewer.line("echo too early")
    except ue.Error as refused:
        print(refused.code)
    os.write(keys, b"\x1cg")  # C-\ g: gives it back
    two.write_stdin(session_id="shared", chars="echo from the reviewer\n", wait_keyboard=True,
                    until="\nfrom the reviewer", yield_time_ms=30000)
    shown = two.session("shared", place=0).read()
    print([who for who in ("writer", "person", "reviewer") if "\nfrom the " + who in shown])
    os.write(keys, b"\x1cd")  # C-\ d: detaches
    print("detached:", os.waitpid(person, 0)[1] == 0, "- it goes on:", writer.running)
    writer.kill()
    writer.remove()
