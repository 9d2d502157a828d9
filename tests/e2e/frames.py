"""frames: a connection that attach has changed to frames of raw bytes, for the tests that speak them without ue."""
import struct


def frames(mux, name, rows=24, cols=80, read_only=False):
    peer = mux.rpc()
    peer.call("attach", {"session_id": name, "rows": rows, "cols": cols, "read_only": read_only, "_meta": {"client": "tester"}})
    return peer


def send(peer, kind, data=b""):
    peer.send_raw(kind + struct.pack("<I", len(data)) + data)


def receive(peer, kind):
    """The next frame of that kind."""
    while True:
        while len(peer.rest) < 5 or len(peer.rest) < 5 + struct.unpack("<I", peer.rest[1:5])[0]:
            data = peer.sock.recv(1 << 16)
            assert data, "the daemon has closed the connection"
            peer.rest += data
        size = struct.unpack("<I", peer.rest[1:5])[0]
        got, data, peer.rest = peer.rest[:1], peer.rest[5:5 + size], peer.rest[5 + size:]
        if got == kind:
            return data
