"""Servers of the zoo's own, each in a directory that only its user can reach, or on a port of the loopback. Each is started when the first
program asks for it; why: the reason why there is none, or None; words: what stands in the lines of its clients."""
import contextlib, glob, os, shutil, socket, socketserver, ssl, subprocess, threading, time

from conftest import CAP, PATH

QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A program that serves; it tells nobody when it is up, so it is asked until it is."""
    programs, root = (), True  # what must be there; whether root may run it
    executable = None  # where it is another than the first word of its command

    def __init__(self, place):
        self.place, self.why, self.process, self.words = place, None, None, {}
        self.missing = next((program for program in self.programs if not shutil.which(program, path=PATH)), None)
        if self.missing or not self.installed():
            self.why = "not installed"
        elif os.geteuid() == 0 and not self.root:
            self.why = "its server does not run as root"
        else:
            self.process = subprocess.Popen(self.command(), executable=self.executable and shutil.which(self.executable, path=PATH), **QUIET)
            self.wait_until_up()

    def installed(self):
        return True

    def wait_until_up(self):
        end = time.monotonic() + CAP
        while subprocess.run(self.probe(), capture_output=True).returncode:
            assert self.process.poll() is None and time.monotonic() < end, f"{type(self).__name__} does not come up"
            time.sleep(0.05)

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait(CAP)


class Postgres(Server):
    programs, root = ("psql",), False

    def installed(self):
        self.bin = max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)
        return self.bin

    def command(self):
        data = str(self.place / "postgres")
        subprocess.run([self.bin + "/initdb", "-A", "trust", "-N", "-D", data], check=True, capture_output=True)
        self.words = {"socket": str(self.place)}
        return [self.bin + "/postgres", "-D", data, "-h", "", "-k", str(self.place)]

    def probe(self):
        return ["psql", "-X", "-h", str(self.place), "-d", "postgres", "-c", "select 1"]


class Mariadb(Server):
    programs, root = ("mariadb", "mariadbd", "mariadb-install-db"), False

    def command(self):
        data, self.words = str(self.place / "mariadb"), {"socket": str(self.place / "mariadb.s")}
        subprocess.run(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", f"--datadir={data}"],
                       check=True, env={**os.environ, "PATH": PATH}, **QUIET)
        return [shutil.which("mariadbd", path=PATH), "--no-defaults", f"--datadir={data}", "--skip-networking", f"--socket={self.words['socket']}",
                f"--pid-file={data}/pid", "--innodb-buffer-pool-size=8M", "--skip-grant-tables"]

    def probe(self):
        return ["mariadb", "--no-defaults", "-S", self.words["socket"], "-e", "select 1"]


class Redis(Server):
    """Debian has the server in the package of the tools, too, under the name of one of them; it goes by the name that it is called by."""
    programs = ("redis-cli", "redis-check-rdb")

    executable = "redis-check-rdb"

    def command(self):
        self.words = {"socket": str(self.place / "redis.s")}
        return ["redis-server", "--port", "0", "--unixsocket", self.words["socket"], "--save", "", "--dir", str(self.place)]

    def probe(self):
        return ["redis-cli", "-s", self.words["socket"], "ping"]


class Sshd(Server):
    """As its own user, who can log in as itself only."""
    programs = ("ssh", "ssh-keygen", "sshd")

    def command(self):
        key, host = self.place / "ssh.key", self.place / "ssh.host"
        for path in (key, host):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, **QUIET)
        self.words = {"port": str(free_port())}
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        (self.place / "sshd.conf").write_text(
            f"Port {self.words['port']}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\n"
            "PidFile none\nPasswordAuthentication no\nPermitRootLogin yes\nPrintMotd no\nPrintLastLog no\n")
        return [shutil.which("sshd", path=PATH), "-D", "-f", str(self.place / "sshd.conf")]

    def probe(self):
        return ["ssh", "-F", "none", "-i", str(self.place / "ssh.key"), "-p", self.words["port"], "-o", "StrictHostKeyChecking=no", "-o",
                f"UserKnownHostsFile={self.place / 'known'}", "-o", "LogLevel=ERROR", "127.0.0.1", "true"]

    def wait_until_up(self):
        super().wait_until_up()
        terminal = self.probe()
        terminal[-1:] = ["true"]
        terminal.insert(1, "-tt")
        if subprocess.run(terminal, stdin=subprocess.DEVNULL, capture_output=True).returncode:
            self.why = "an sshd without root can't make terminals where devpts is mounted without gid=5"


class Parrot:
    """Answers a line N with aNz and a prompt, `slow N` after a while."""

    class Line(socketserver.StreamRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                self.wfile.write(b"? ")
                for line in self.rfile:
                    words = line.split()
                    if words[:1] == [b"slow"]:
                        time.sleep(0.3)
                    self.wfile.write(b"a%sz\r\n? " % b" ".join(words[-1:]))

    class Socket(socketserver.ThreadingTCPServer):
        daemon_threads = allow_reuse_address = True
        context = None

        def get_request(self):
            client, address = super().get_request()
            return (self.context.wrap_socket(client, server_side=True) if self.context else client), address

    def __init__(self, place):
        self.why, self.server = None, self.Socket(("127.0.0.1", 0), self.Line)
        self.server.context = self.secure(place)
        self.words = {"port": str(self.server.server_address[1])}
        if not self.why:
            threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def secure(self, place):
        return None

    def close(self):
        if not self.why:
            self.server.shutdown()
        self.server.server_close()


class TlsParrot(Parrot):
    def secure(self, place):
        if not shutil.which("openssl", path=PATH):
            self.why = "not installed"
            return None
        key, certificate = str(place / "tls.key"), str(place / "tls.crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
                        "-days", "2", "-keyout", key, "-out", certificate], check=True, **QUIET)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


class Servers:
    """Those of one round."""
    kinds = {"postgres": Postgres, "mariadb": Mariadb, "redis": Redis, "sshd": Sshd, "parrot": Parrot, "tls parrot": TlsParrot}

    def __init__(self, place):
        self.place, self.running = place, {}

    def get(self, kind):
        if kind not in self.running:
            self.running[kind] = self.kinds[kind](self.place)
        return self.running[kind]

    def close(self):
        for server in self.running.values():
            server.close()
