"""A program for the tests of typing: sets the modes that its arguments say, then prints each read of its terminal as one line.

keyboard_program.py [SEQUENCE...] [--burst]: the sequences are written after ESC ("[>1u": the kitty protocol). With --burst it takes what comes
within 100 ms of the byte before as pasted, Enter included, as the programs of agents do, and prints only what was submitted."""
import os
import select
import sys
import time
import tty

burst = "--burst" in sys.argv
before = tty.tcgetattr(0)
tty.setraw(0)
for sequence in sys.argv[1:]:
    if sequence != "--burst":
        os.write(1, b"\033" + sequence.encode())
os.write(1, b"up\r\n")
text, last = b"", 0.0
while True:
    data = os.read(0, 65536)
    now = time.monotonic()
    if data in (b"\x04", b""):
        break
    if not burst:
        os.write(1, b"<" + data.hex(" ").encode() + b">\r\n")
        continue
    for byte in data:
        pasted = now - last < 0.1 or len(data) > 1
        if byte == 13 and not pasted:
            os.write(1, b"submitted " + repr(text).encode() + b"\r\n")
            text = b""
        else:
            text += bytes([byte])
    last = now
tty.tcsetattr(0, tty.TCSADRAIN, before)
