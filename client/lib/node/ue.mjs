/**
 * ue: drives terminal sessions that muxd holds, from Node 18 and newer. One file, no dependency.
 *
 *     import { Client } from "ue";
 *     const client = new Client();                        // starts muxd when nobody listens
 *     const py = await client.begin(["python3", "-q"], { name: "py" });
 *     console.log(await py.ask("6 * 7", { plain: true })); // types a line, waits for a prompt: 42
 *     const answer = await client.exec_command({ cmd: "make test", yield_time_ms: 60000 });
 *     console.log(answer.exit_code, answer.output);
 *
 * Client    a connection. Each tool of muxd(7) is a method with the tool's own arguments:
 *           client.read_screen({ session_id: "py" }), or client.call("read_screen", { ... }).
 * Session   one session: write, ask, until, ready, read, screen, kill, exitStatus.
 *
 * Shapes    An answer is an object with what the daemon told; what is not known is absent. Members
 *           that a newer daemon adds are to be ignored. ue.d.ts has the types.
 * Units     Milliseconds, bytes for offsets.
 * Bytes     Output is a string; what is no UTF-8 in it is replaced. With encoding: "base64" the
 *           answer's `exact` is a Buffer of its bytes. Input is a string or a Uint8Array.
 * Errors    UeError and its subclasses, with `code`: the stable name of ERRORS in muxd(7).
 * Ownership Sessions belong to the daemon: they outlive this process, its exceptions and the
 *           daemon's own death. What ends one is kill(). An idle client does not keep the process
 *           running.
 * In flight Any number of calls may be waited for at once ([limits] requests_per_connection, 64).
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export const version = "0.1.0";
/** Of the daemon; a higher one is refused. */
export const PROTOCOL = 1;

/** Times and caps, which tests lower. */
export const limits = {
  answerBytes: 64 << 20, // of one line from the daemon
  pieceBytes: 256 << 10, // of input in one request
  restartMs: 10000, // how long a daemon that restarts is waited for
  goneMs: 1500, // the same while the path of its socket is missing
  retryMs: 20,
  losses: 40, // in a row without an answer between them
  stallMs: 30000, // how long the rest of a line is waited for whose beginning is there
  helloMs: 30000, // the same for the answer to hello
};
const BLOCK = 65536;
const ROOM_MS = 3600000; // for room in a session's input queue
const ALL = 16 << 20; // most that a daemon tells in one answer
// Calls that start programs or name files get the caller's directory, environment and umask.
const PLACED = new Set(["exec_command", "write_stdin", "shell_command", "shell", "apply_patch",
  "check_policy", "explain_sandbox", "run_command", "run_steps"]);
const ONCE = new Set(["stop", "upgrade", "approve", "deny"]); // are not sent again
const FRAMED = new Set(["attach", "type_secret"]); // the connection would no longer carry lines
const ABSENT = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR", "ECONNRESET", "EPIPE"]);

/** A refusal or a failure. code: its stable name; data: what else the daemon told. */
export class UeError extends Error {
  constructor(code, message, data = {}) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.data = data;
  }
}
/** Nobody listens, the daemon could not be started, or it went away. code: no_daemon. */
export class NoDaemon extends UeError {}
/** The daemon speaks what this library can't read. code: protocol, or too_large. */
export class ProtocolError extends UeError {}
/** The time is over. code: timeout. answer: what there was by then. */
export class TimedOut extends UeError {}
/** The session has ended before what was waited for. code: ended. answer: how it ended. */
export class Ended extends UeError {}
/** What must not come has come (fail_on). code: fail_on. answer: with `match`. */
export class Failed extends UeError {}
/** The wait was cancelled. code: cancelled. */
export class Cancelled extends UeError {}

/** What the daemon told. */
export class Answer {
  /** The exact output of a call with encoding: "base64", else what `output` was made of. */
  get exact() {
    return this.output_base64 === undefined ? Buffer.from(this.output ?? "")
      : Buffer.from(this.output_base64, "base64");
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const asAnswer = (told) => Object.setPrototypeOf(told, Answer.prototype);

function errorOf(told) {
  const data = isObject(told.data) ? told.data : {};
  const kind = { no_daemon: NoDaemon, stopping: NoDaemon, cancelled: Cancelled, ended: Ended };
  return new (kind[data.code] ?? UeError)(data.code ?? "internal", String(told.message), data);
}

// --- where the daemon listens, and how it is started

function ownDir(place) {
  try {
    const info = fs.statSync(place);
    return info.isDirectory() && info.uid === process.geteuid();
  } catch {
    return false;
  }
}

/** The sockets to try, in order, and whether the caller has named one. */
function placesOf(given) {
  const named = given || process.env.MUXD_SOCKET;
  if (named)
    return { places: [path.resolve(named)], named: true };
  const uid = process.geteuid(), runtime = process.env.XDG_RUNTIME_DIR ?? "";
  const shared = [`/run/user/${uid}/muxd/muxd.sock`, `/tmp/muxd-${uid}/muxd.sock`];
  const first = path.join(runtime, "muxd/muxd.sock");
  if (runtime.startsWith("/") && ownDir(runtime) && !shared.includes(first))
    return { places: [first], named: false };
  return { places: shared, named: false }; // another login may have started it at the other place
}

function refuseForeign(place, named) {
  const choose = "; choose another socket by the option socket or $MUXD_SOCKET";
  const look = (file) => fs.lstatSync(file, { throwIfNoEntry: false });
  if (Buffer.byteLength(place) > 107)
    throw new UeError("system", `'${place}': the kernel allows 107 bytes for a socket's path; ` +
      "choose a shorter one");
  const uid = process.geteuid(), dir = path.dirname(place);
  let info, sock;
  try {
    [info, sock] = [look(dir), look(place)];
  } catch {
    return; // connecting will tell why
  }
  if (sock && sock.uid !== uid && !(named && uid === 0))
    throw new UeError("system", `'${place}' belongs to user ${sock.uid} and not to us${choose}`);
  if (named || !info)
    return;
  const mode = (info.mode & 0o7777).toString(8).padStart(4, "0");
  const wrong = info.isSymbolicLink() ? "is a symbolic link"
    : !info.isDirectory() ? "is no directory"
      : info.uid !== uid ? `belongs to user ${info.uid} and not to us`
        : info.mode & 0o077 ? `is open to others (mode ${mode})` : null;
  if (wrong)
    throw new UeError("system", `'${dir}' ${wrong}${choose}`);
}

/**
 * The program ue: given, else beside this file, in the bin directory of the prefix that this file
 * is installed below, or in $PATH. Throws UeError (not_available).
 */
export function findUe(given) {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const beside = [path.join(here, "ue")];
  if (path.basename(path.dirname(here)) === "node_modules")
    beside.push(path.join(here, "../../../bin/ue"));
  const inPath = (process.env.PATH ?? "").split(":").filter(Boolean).map((dir) =>
    path.join(dir, "ue"));
  const runs = (file) => {
    try {
      fs.accessSync(file, fs.constants.X_OK);
      return fs.statSync(file).isFile();
    } catch {
      return false;
    }
  };
  const found = (given ? [given] : [...beside, ...inPath]).find(runs);
  if (!found)
    throw new UeError("not_available", `'${given ?? "ue"}': no such program; install ue in ` +
      "$PATH, or name it by the option ue");
  return found;
}

function ownUmask() {
  const line = /^Umask:\s+([0-7]+)/m.exec(fs.readFileSync("/proc/self/status", "latin1"));
  return line ? parseInt(line[1], 8) : undefined;
}

/**
 * A connected socket, which hands what it reads to its onChunk. A write that fails does not end the
 * reading: a daemon that goes away has answered what it could, and counts that as read. All of it
 * has come by then, so it ends once a turn of the loop has brought nothing more.
 */
function connect(place) {
  return new Promise((resolve, reject) => {
    let fresh = false;
    const take = (size, buffer) => {
      fresh = true;
      sock.onChunk?.(Buffer.from(buffer.subarray(0, size)));
      return true;
    };
    const sock = net.connect({ path: place,
      onread: { buffer: Buffer.allocUnsafe(BLOCK), callback: take } });
    const destroy = sock.destroy.bind(sock);
    const drain = (error, turns) => {
      if (turns === 0)
        destroy(error);
      else
        setImmediate(() => {
          const more = fresh;
          fresh = false;
          drain(error, more ? 2 : turns - 1);
        });
    };
    let draining = false;
    sock.destroy = (error) => {
      if (error?.syscall !== "write")
        return destroy(error);
      if (!draining)
        drain(error, 2);
      draining = true;
      return sock;
    };
    sock.once("error", reject);
    sock.once("connect", () => {
      sock.off("error", reject);
      resolve(sock);
    });
  });
}

/** Lines out of chunks. */
class Lines {
  #parts = [];
  #bytes = 0;

  get partial() {
    return this.#bytes > 0;
  }

  /** The lines that chunk completes; throws ProtocolError when one is too long. */
  take(chunk, place) {
    const lines = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...this.#parts, chunk.subarray(from, at)]));
      this.#parts = [];
      this.#bytes = 0;
      from = at + 1;
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#bytes += chunk.length - from;
    }
    if (this.#bytes > limits.answerBytes)
      throw new ProtocolError("too_large", `'${place}': answers with a line longer than ` +
        `${limits.answerBytes} bytes; ask for less`);
    return lines;
  }
}

function parseLine(line, place) {
  try {
    const message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    if (isObject(message) && ("result" in message || "error" in message || "method" in message))
      return message;
  } catch { /* told below */ }
  throw new ProtocolError("protocol", `'${place}': answers what can't be read ` +
    `(${JSON.stringify(line.subarray(0, 60).toString("latin1"))}); is it muxd that listens there?`);
}

/** A connection to the daemon, made at the first call and made again when it is lost. */
export class Client {
  #options;
  #meta;
  #sock = null;
  #lines = new Lines();
  #pending = new Map();
  #opening = null;
  #losses = 0;
  #ids = 0;
  #run = randomBytes(6).toString("hex");
  #stall = null;
  #named = false;
  #self;
  #spare = null; // a client for the calls that one connection can't hold

  /**
   * options: socket (path; default: $MUXD_SOCKET, else $XDG_RUNTIME_DIR/muxd, /run/user/UID/muxd,
   * /tmp/muxd-UID), start (false: don't start the daemon), ue, config, reader, profile, name, verb
   * (false: the clamps of the tools that models know), cwd, env, umask, onApproval (called with an
   * object when a person is asked about a call, and when that is over).
   */
  constructor(options = {}) {
    this.#options = options;
    this.#meta = { client: options.name ?? `ue.mjs/${version}`, verb: options.verb ?? true };
    for (const key of ["reader", "profile"])
      if (options[key] !== undefined)
        this.#meta[key] = options[key];
    if (options.onApproval)
      this.#meta.notify = true;
    /** Path of the socket, once it is connected. */
    this.socket = undefined;
    /** What hello told, once it is connected: version, protocol, max_request, ... */
    this.daemon = undefined;
    this.#self = new Proxy(this, {
      get(client, key) {
        const value = Reflect.get(client, key, client);
        if (value !== undefined || typeof key !== "string" || !/^[a-z]+(_[a-z]+)*$/.test(key) ||
            key === "then" || key === "socket" || key === "daemon")
          return typeof value === "function" ? value.bind(client) : value;
        return (args, how) => client.call(key, args, how);
      },
    });
    return this.#self;
  }

  /**
   * Calls a tool by its name with its own arguments; a Uint8Array as chars is sent exactly,
   * Infinity as yield_time_ms waits as long as it takes. how: { signal, timeoutMs, meta }. Resolves
   * to an Answer; rejects with UeError, with TimedOut when timeoutMs is over, or with the reason of
   * the signal: then the wait was cancelled, and the session goes on. After a restart of the daemon
   * the same request is sent again, and is not done twice.
   */
  call(tool, args = {}, how = {}) {
    if (FRAMED.has(tool))
      return Promise.reject(new UeError("usage", `'${tool}': needs a terminal; run \`ue attach\` ` +
        "or `ue secret`"));
    if (how.signal?.aborted)
      return Promise.reject(how.signal.reason);
    // a cancel has room, too
    if (this.#pending.size >= Math.max(1, (this.daemon?.requests_per_connection ?? 64) - 2)) {
      this.#spare ??= new Client({ ...this.#options, socket: this.socket ?? this.#options.socket });
      return this.#spare.call(tool, args, how);
    }
    return this.#ask(this.#request(tool, args, how), how);
  }

  #request(tool, args, how) {
    const params = Object.fromEntries(Object.entries(args).filter(([, value]) =>
      value !== undefined && value !== null));
    const meta = { ...this.#meta, ...this.#context(tool, params), ...how.meta };
    if (params.yield_time_ms === Infinity) {
      delete params.yield_time_ms;
      meta.no_deadline = true;
    }
    // a NUL is what JSON can't carry here
    if (params.chars instanceof Uint8Array || String(params.chars).includes("\0")) {
      params.chars_base64 = Buffer.from(params.chars).toString("base64");
      delete params.chars;
    }
    const id = ++this.#ids;
    meta.request_id ??= `${this.#run}-${id.toString(16)}`;
    return { id, method: tool, params: { ...params, _meta: meta }, began: performance.now() };
  }

  #context(tool, params) {
    // input by number begins no session
    if (!PLACED.has(tool) || typeof params.session_id === "number")
      return {};
    const { env = process.env, umask = ownUmask(), cwd } = this.#options;
    const context = { umask, env: Object.fromEntries(Object.entries(env).filter(([, value]) =>
      typeof value === "string" && !value.includes("\ufffd"))) };
    try {
      context.cwd = cwd ? path.resolve(cwd) : process.cwd();
    } catch (e) {
      context.cwd_error = `'.': this working directory is gone (${e.code}); change to another ` +
        "one, or name one (workdir)";
    }
    return context;
  }

  #ask(request, { signal, timeoutMs }) {
    return new Promise((resolve, reject) => {
      let timer;
      const stop = (error) => {
        if (!this.#pending.delete(request.id))
          return;
        this.#cancel(request);
        request.settle(() => reject(error));
      };
      const onAbort = () => stop(signal.reason);
      request.settle = (done) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#rest();
        done();
      };
      request.resolve = (answer) => request.settle(() => resolve(answer));
      request.reject = (error) => request.settle(() => reject(error));
      signal?.addEventListener("abort", onAbort);
      if (timeoutMs !== undefined)
        timer = setTimeout(() => stop(new TimedOut("timeout", `'${request.method}': no answer ` +
          `within ${timeoutMs} ms; its wait was cancelled, the session goes on`)), timeoutMs);
      this.#pending.set(request.id, request);
      this.#send(request);
    });
  }

  #line(request, again) {
    if (again) // a deadline is one, whatever dies: the daemon learns how much of it is over
      request.params._meta.waited_ms = Math.floor(performance.now() - request.began);
    const { id, method, params } = request;
    return JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n";
  }

  #send(request) {
    if (this.#sock) {
      this.#sock.ref();
      this.#sock.write(this.#line(request, false));
      request.sent = true;
    } else {
      this.#opening ??= this.#open().then(() => this.#resend(), (e) => this.#failAll(e)).finally(
        () => {
          this.#opening = null;
          if (!this.#sock && this.#pending.size > 0)
            this.#send(this.#pending.values().next().value);
        });
    }
  }

  #cancel(request) {
    if (this.#sock && request.sent)
      this.#sock.write(JSON.stringify({ jsonrpc: "2.0", id: ++this.#ids, method: "cancel",
        params: { id: request.id } }) + "\n");
  }

  /** An idle connection does not keep the process running. */
  #rest() {
    if (this.#pending.size === 0)
      this.#sock?.unref();
  }

  #resend() {
    for (const request of this.#pending.values()) {
      this.#sock?.write(this.#line(request, request.sent));
      request.sent = true;
    }
    this.#rest();
  }

  #failAll(error) {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    this.#drop();
    for (const request of all)
      request.reject(error);
  }

  #drop() {
    const sock = this.#sock;
    this.#sock = null;
    this.#lines = new Lines();
    clearTimeout(this.#stall);
    sock?.destroy();
  }

  // --- the connection

  async #open() {
    const again = [...this.#pending.values()].some((request) => request.sent);
    if (again)
      return this.#reopen();
    const { places, named } = placesOf(this.#options.socket);
    this.#named = named;
    for (const attempt of [0, 1]) {
      for (const place of places) {
        try {
          return await this.#join(place);
        } catch (e) {
          if (e instanceof UeError)
            throw e;
          if (!ABSENT.has(e.code))
            throw new UeError("system", `'${place}': can't connect: ${e.message}`);
        }
      }
      if (attempt === 0)
        await this.#launch(places.at(-1));
    }
    throw new NoDaemon("no_daemon", `'${places.at(-1)}': a daemon was started, and nobody ` +
      "listens there");
  }

  #launch(place) {
    if (this.#options.start === false)
      throw new NoDaemon("no_daemon", `'${place}': nobody listens there; \`ue start\` starts the ` +
        "daemon, or leave out start: false");
    const words = [...(this.#named ? ["-S", place] : []),
      ...(this.#options.config ? ["-f", this.#options.config] : []), "start"];
    // a lock beside the socket makes it one daemon, however many start it at once
    return new Promise((resolve, reject) => execFile(findUe(this.#options.ue), words,
      (error, _out, said) => error ? reject(new NoDaemon("no_daemon",
        said.trim().replace(/^ue: /, "") || error.message)) : resolve()));
  }

  /** The daemon went away over calls: they go to its successor. */
  async #reopen() {
    const began = performance.now();
    if (++this.#losses > limits.losses)
      throw new UeError("internal", `'${this.socket}': the daemon has ended ${limits.losses} ` +
        "times over this request, so it is not asked again; `ue status` tells where its log is");
    for (;;) {
      try {
        return await this.#join(this.socket);
      } catch (e) {
        if (e instanceof UeError)
          throw e;
        const waited = performance.now() - began;
        if (waited > limits.restartMs || (waited > limits.goneMs && e.code !== "ECONNREFUSED"))
          throw new NoDaemon("no_daemon", `'${this.socket}': the daemon went away before it ` +
            `answered (${e.message}); \`ue list --all\` shows what became of the session`);
      }
      await pause(limits.retryMs); // no event tells when a daemon begins to listen
    }
  }

  /** Connects and asks for the protocol. Another error than UeError: nobody is there. */
  async #join(place) {
    refuseForeign(place, this.#named);
    const sock = await connect(place);
    let rest;
    try {
      [this.daemon, rest] = await this.#hello(sock, place);
    } catch (e) {
      sock.destroy();
      throw e;
    }
    this.socket = place;
    this.#sock = sock;
    this.#lines = new Lines();
    sock.on("error", () => {}); // "close" comes behind it
    sock.on("close", () => this.#lost(sock));
    sock.onChunk = (chunk) => this.#take(sock, chunk);
    if (rest.length > 0)
      this.#take(sock, rest);
  }

  #hello(sock, place) {
    return new Promise((resolve, reject) => {
      let got = Buffer.alloc(0);
      const gone = (e) => end(reject, e ?? Object.assign(new Error("closed at once"),
        { code: "ECONNRESET" }));
      const timer = setTimeout(() => end(reject, new NoDaemon("no_daemon", `'${place}': somebody ` +
        `listens there, and has not answered for ${limits.helloMs} ms`)), limits.helloMs);
      const onData = (chunk) => {
        got = Buffer.concat([got, chunk]);
        const at = got.indexOf(10);
        if (at < 0 && got.length < BLOCK)
          return;
        try {
          end(resolve, [this.#readHello(got.subarray(0, at < 0 ? got.length : at), place),
            got.subarray(at + 1)]);
        } catch (e) {
          end(reject, e);
        }
      };
      const onClose = () => gone();
      const end = (settle, value) => {
        clearTimeout(timer);
        sock.onChunk = null;
        sock.off("error", gone).off("close", onClose);
        settle(value);
      };
      sock.onChunk = onData;
      sock.on("error", gone).on("close", onClose);
      sock.write(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "hello",
        params: { client: "ue.mjs", version, protocol: PROTOCOL } }) + "\n");
    });
  }

  #readHello(line, place) {
    const { result } = parseLine(line, place);
    if (!isObject(result) || !Number.isInteger(result.protocol))
      parseLine(Buffer.from(`no hello: ${line.subarray(0, 40)}`), place);
    if (result.protocol > PROTOCOL)
      throw new ProtocolError("protocol", `'${place}': the daemon (${result.version}) speaks ` +
        `protocol ${result.protocol}, this ue.mjs (${version}) only ${PROTOCOL}; use the ue.mjs ` +
        "that was installed with it");
    return asAnswer(result);
  }

  #lost(sock) {
    if (sock !== this.#sock)
      return;
    this.#drop();
    for (const request of [...this.#pending.values()].filter(({ method }) => ONCE.has(method))) {
      this.#pending.delete(request.id);
      request.reject(new NoDaemon("no_daemon", `'${request.method}': the daemon went away before ` +
        "it answered; look whether it was done"));
    }
    if (this.#pending.size > 0)
      this.#send(this.#pending.values().next().value);
  }

  #take(sock, chunk) {
    if (sock !== this.#sock)
      return;
    clearTimeout(this.#stall);
    try {
      for (const line of this.#lines.take(chunk, this.socket))
        this.#message(parseLine(line, this.socket));
    } catch (e) {
      this.#failAll(e);
      return;
    }
    if (this.#lines.partial)
      this.#stall = setTimeout(() => this.#failAll(new ProtocolError("protocol",
        `'${this.socket}': half an answer, and nothing for ${limits.stallMs} ms`)), limits.stallMs);
  }

  #message(message) {
    const { id, error, result, method } = message;
    if (method !== undefined) {
      if (method === "approval")
        this.#options.onApproval?.(message.params);
      return;
    }
    this.#losses = 0;
    if ((id ?? null) === null && isObject(error))
      throw errorOf(error); // a request that the daemon could not read
    const request = this.#pending.get(id);
    if (!request)
      return; // of a call that was cancelled, or of the cancel
    this.#pending.delete(id);
    if (isObject(error))
      request.reject(errorOf(error));
    else if (isObject(result))
      request.resolve(asAnswer(result));
    else
      request.reject(new ProtocolError("protocol", `'${request.method}': an answer without a ` +
        "result"));
  }

  /** Ends the connection and all waits (Cancelled), never a session. The next call connects. */
  close() {
    this.#failAll(new Cancelled("cancelled", "the client was closed"));
    this.#spare?.close();
    this.#spare = null;
  }

  /** Has the daemon go on from the binary on disk, with all sessions; the new worker's status. */
  async upgrade() {
    try {
      await this.call("upgrade");
    } catch (e) {
      if (!(e instanceof NoDaemon))
        throw e;
    } // it has gone, as it was asked to; its successor answers
    const status = await this.call("status");
    if (status.upgrade_failed)
      throw new UeError("internal", String(status.upgrade_failed));
    return status;
  }

  // --- sessions and events

  /**
   * Starts cmd (a shell's command line, or an array: a program and its arguments) and resolves to
   * its Session. With a terminal (tty, the default) its program waits for input by then, or has
   * ended, and `greeting` is what it has printed; TimedOut after timeoutMs (30000), with the
   * session in .session. wait: false returns at once. Other options: signal, encoding (null:
   * Buffers), and the arguments of exec_command: name, rows, cols, env, workdir, until, ...
   */
  async begin(cmd, options = {}) {
    const { tty = true, timeoutMs = 30000, wait = true, encoding = "utf-8", signal,
      ...rest } = options;
    const waits = wait && (tty || rest.until !== undefined || rest.quiet_ms !== undefined);
    const args = { cmd, tty: tty || undefined, encoding: "base64", ...rest };
    Object.assign(args, waits ? { yield_time_ms: timeoutMs ?? Infinity }
      : { yield_time_ms: 0, max_bytes: 1, ready: tty ? false : undefined });
    const answer = await this.call("exec_command", args, { signal });
    const session = new Session(this.#self, answer.number, { name: answer.name, tty, encoding,
      follow: rest.follow });
    if (waits)
      session.greeting = await session._greet(answer);
    if (cmd === undefined || cmd === null) // what the config describes
      session.tty = (await session.info()).tty === true;
    if (waits && answer.reason === "deadline")
      throw Object.assign(new TimedOut("timeout", `'${session.name}' (session ` +
        `${session.number}): not ready within ${timeoutMs} ms; it goes on`), { answer, session });
    return session;
  }

  /** The Session of that name or number, live or ended; place: offset from which on its output is
   * new to this object (default: its end). Rejects with UeError no_such_session. */
  async session(ref, { place, encoding = "utf-8" } = {}) {
    const row = (await this.call("list_sessions", { all: true, names: [ref] })).sessions.at(-1);
    return new Session(this.#self, row.session_id, { name: row.name, tty: row.tty === true,
      encoding, place: place ?? row.output_bytes ?? 0 });
  }

  /** Rows of list_sessions: live sessions; { all: true }: ended ones, too. */
  async sessions({ all } = {}) {
    return (await this.call("list_sessions", { all })).sessions;
  }

  /**
   * An async iterator over events (objects with seq, type, time, ...) from now on, or from the
   * number since. options: types (none: all but output), session, since, max_bytes, signal. Leaving
   * the loop, or the signal, ends it. Where some were missed, one of type gap says so. `ready`
   * resolves once it listens: what happens after that is not missed.
   */
  events(options = {}) {
    return new Events(this, options);
  }

  /** Calls callback(event) for each event; returns { ready, done, close() }: done resolves when it
   * was closed, and rejects with what the callback has thrown. */
  listen(callback, options = {}) {
    const events = new Events(this, options);
    const done = (async () => {
      for await (const event of events)
        await callback(event);
    })();
    done.catch(() => {}); // whoever is interested awaits it
    return { ready: events.ready, done, close: () => events.return() };
  }
}

/** An async iterator over events; made by Client.events. nextSeq goes on without a gap. */
class Events {
  #client;
  #args;
  #queue = [];
  #abort = new AbortController();

  constructor(client, { types, session, since, max_bytes, signal }) {
    this.#client = client;
    this.#args = { types, session_id: session, max_bytes };
    this.nextSeq = since;
    signal?.addEventListener("abort", () => this.#abort.abort(signal.reason), { once: true });
    if (signal?.aborted)
      this.#abort.abort(signal.reason);
    this.ready = since === undefined ? this.#ask(0) : Promise.resolve();
    this.ready.catch(() => {}); // next() tells
  }

  async #ask(waitMs) {
    const answer = await this.#client.call("events", { ...this.#args, since: this.nextSeq,
      yield_time_ms: waitMs }, { signal: this.#abort.signal });
    this.nextSeq = answer.next;
    this.#queue.push(...answer.events);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    try {
      await this.ready;
      while (this.#queue.length === 0)
        await this.#ask(30000);
    } catch (e) {
      if (this.#abort.signal.aborted)
        return { done: true, value: undefined };
      throw e;
    }
    return { done: false, value: this.#queue.shift() };
  }

  async return() {
    this.#abort.abort();
    return { done: true, value: undefined };
  }
}

/**
 * One session; made by Client.begin or Client.session. It remembers how far its output was returned
 * (place), apart from every other reader; omitted counts bytes that muxd no longer had. Output is
 * text in `encoding`, or a Buffer when that is null. Forgetting this object leaves the session as
 * it is.
 */
export class Session {
  #decoder;
  #follow;

  constructor(client, number, { name, tty = true, place = 0, encoding = "utf-8", follow } = {}) {
    Object.assign(this, { client, number, name, tty, place, mark: place, omitted: 0, last: {},
      greeting: "" });
    this.#decoder = encoding ? new TextDecoder(encoding, { ignoreBOM: true }) : null;
    this.#follow = follow;
  }

  // --- input

  /**
   * Types text (a string or a Uint8Array, of any length), then the named keys (["C-c", "Up"]), then
   * Enter; all of it or an error. Resolves without output; a wait that follows counts what is
   * printed from now on. It waits for room in the session's queue. options: keys, enter, paste,
   * eof.
   */
  async write(text = "", { keys, enter = false, paste, eof } = {}) {
    const [data, pressed] = this.#entered(Buffer.from(text), keys, enter);
    const most = Math.max(1024, Math.min(limits.pieceBytes,
      Math.floor((this.client.daemon?.max_request ?? 65536) / 8)));
    let at = 0;
    for (; data.length - at > most; at += most)
      await this.#type(data.subarray(at, at + most), { paste });
    await this.#type(data.subarray(at), { paste, keys: pressed, eof });
  }

  /** Types text and presses Enter. */
  line(text = "") {
    return this.write(text, { enter: true });
  }

  /** Presses named keys: press("C-c"), press("Up", "Enter"). */
  press(...keys) {
    return this.write("", { keys });
  }

  /** A wait begins where the output has ended before. */
  async #type(data, more) {
    const { output_bytes } = await this.info();
    const args = { session_id: this.number, yield_time_ms: 0, ready: this.tty ? false : undefined,
      peek: true, max_output_tokens: 0, ...this.#chars(data), ...more };
    await this.client.call("write_stdin", args).catch(async (e) => {
      if (e.code === "input_full")
        return this.client.call("write_stdin", { ...args, wait_room: ROOM_MS });
      if (e.code !== "too_large" || data.length < 2)
        throw e;
      const half = data.length >> 1;
      await this.#type(data.subarray(0, half), { paste: more.paste });
      return this.#type(data.subarray(half), more);
    });
    this.mark = output_bytes ?? this.mark;
  }

  #entered(data, keys, enter) {
    if (enter && !this.tty)
      return [Buffer.concat([data, Buffer.from("\n")]), keys];
    return [data, enter ? [...(keys ?? []), "Enter"] : keys];
  }

  #chars(data) {
    try {
      return { chars: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data) };
    } catch {
      return { chars: data };
    }
  }

  // --- waits

  /**
   * Types text and Enter (enter: false: only text), waits in the same call, and resolves to the
   * output that this object has not returned yet. options: until (a PCRE2 expression, or several),
   * fail_on, ready (the default on a terminal), quietMs, keys, plain (as a person reads it, without
   * echo and control sequences), timeoutMs (30000; null: none), signal, and those of write_stdin.
   * Rejects with TimedOut, Ended, Failed (with .answer); .last is the answer.
   */
  async ask(text = "", options = {}) {
    const { keys, enter = true, plain = false, signal, ...waits } = options;
    const bytes = Buffer.from(text);
    if (bytes.length > 8192) { // fits a request, whatever [limits] max_request is
      await this.write(bytes, { keys, enter });
      return this.wait({ ready: this.#asksReady(waits) || undefined, signal, ...waits });
    }
    const [data, pressed] = this.#entered(bytes, keys, enter);
    const args = { session_id: this.number, keys: pressed, ...this.#chars(data),
      ...this.#conditions({ ready: this.#asksReady(waits) || undefined, ...waits }),
      follow: undefined };
    if (plain)
      Object.assign(args, { encoding: undefined, max_bytes: undefined, text: true,
        max_output_tokens: 262144 });
    const answer = await this.client.call("write_stdin", args, { signal });
    const shown = plain ? answer.output ?? "" : null, fresh = await this.#rest(answer);
    return this.#judge(answer, shown ?? fresh, waits);
  }

  /**
   * Types a command into its shell or REPL, waits for its end, and resolves to an Answer with its
   * own output, without echo and prompt, its status (absent: not known), `by` what these are known
   * (marks, prompt, ...), and the reason: done; ready, when it asks for input; incomplete; exit.
   * Rejects with TimedOut (with .answer) when it has not ended within timeoutMs (30000); it goes
   * on. Other options: signal, and those of run_command.
   */
  async run(command, { timeoutMs = 30000, signal, ...rest } = {}) {
    const answer = await this.client.call("run_command", { session_id: this.number, command,
      yield_time_ms: timeoutMs ?? Infinity, ...rest }, { signal });
    this.last = answer;
    this.place = Math.max(this.place, answer.to ?? 0);
    this.mark = Math.max(this.mark, this.place);
    if (answer.reason === "deadline")
      throw Object.assign(new TimedOut("timeout", `'${this.name}' (session ${this.number}): the ` +
        `command has not ended within ${timeoutMs} ms; it goes on`), { answer });
    return answer;
  }

  #asksReady({ until, ready, quietMs, exit }) {
    return this.tty && until === undefined && ready === undefined && quietMs === undefined && !exit;
  }

  #conditions({ quietMs, timeoutMs = 30000, ...rest }) {
    return { since: this.place, peek: true, follow: this.#follow, encoding: "base64",
      max_bytes: ALL, quiet_ms: quietMs, yield_time_ms: timeoutMs ?? Infinity, ...rest };
  }

  /**
   * Waits until the first of the conditions is true (those of ask; exit: the program's end, which
   * is the default) and resolves to all output that this object has not returned yet. Conditions
   * count what was printed since the last write, or behind the last match. Rejects as ask does.
   */
  async wait(options = {}) {
    const { signal, ...waits } = options;
    const { until, ready, quietMs, fail_on } = waits;
    if (until === undefined && ready === undefined && quietMs === undefined)
      waits.exit = true;
    const since = until || quietMs || fail_on ? this.mark : this.place;
    const begun = this.place < since ? await this._raw({ to: since, yield_time_ms: 0 }, { signal })
      : Buffer.alloc(0);
    const answer = await this.client.call("read_output",
      { ...this.#conditions(waits), session_id: this.number, since }, { signal });
    return this.#judge(answer, Buffer.concat([begun, await this.#rest(answer)]), waits);
  }

  /** wait({ until: pattern }). */
  until(pattern, options = {}) {
    return this.wait({ ...options, until: pattern });
  }

  /** Waits until the program waits for input. */
  ready(options = {}) {
    return this.wait({ ...options, ready: true });
  }

  /** Waits for the program's end (timeoutMs: as long as it takes); resolves to its exit status. Its
   * output is still to be read. */
  async ended({ timeoutMs = null, signal } = {}) {
    const answer = await this.client.call("read_output", { ...this.#conditions({ timeoutMs }),
      session_id: this.number, exit: true, max_bytes: 1 }, { signal });
    this.#judge(answer, "", { exit: true, timeoutMs });
    this.last = answer;
    return answer.exit_code;
  }

  _greet(answer) {
    return this.#rest(answer).then((data) => this.#text(data));
  }

  /** An answer's new bytes; what one answer can't hold is fetched. The next wait counts from the
   * end of what has matched, not from the end of what has come with it. */
  async #rest(answer) {
    const pieces = [this.#took(answer)];
    while (this.#full())
      pieces.push(await this._raw({ yield_time_ms: 0, max_bytes: ALL }));
    this.mark = answer.match?.to ?? this.mark;
    return Buffer.concat(pieces);
  }

  #full() {
    return this.last.to - this.last.from - (this.last.omitted_bytes ?? 0) >= ALL;
  }

  /** The bytes of an answer that this object has not returned yet. */
  #took(answer) {
    const first = answer.from + (answer.omitted_bytes ?? 0);
    const data = answer.exact.subarray(Math.max(0, this.place - first));
    delete answer.output_base64;
    this.place = Math.max(this.place, answer.to);
    this.omitted += answer.omitted_bytes ?? 0;
    this.name = answer.name ?? this.name;
    this.last = answer;
    this.mark = Math.max(this.mark, this.place);
    return data;
  }

  async _raw(args, how) {
    const ready = args.until === undefined && this.tty ? false : undefined;
    return this.#took(await this.client.call("read_output", { session_id: this.number,
      since: this.place, peek: true, encoding: "base64", follow: this.#follow, ready,
      ...args }, how));
  }

  #judge(answer, data, { exit, timeoutMs = 30000 }) {
    const who = `'${this.name}' (session ${this.number})`;
    answer.output = typeof data === "string" ? data : this.#text(data);
    const failure = {
      deadline: () => new TimedOut("timeout", `${who}: what was waited for did not come within ` +
        `${timeoutMs} ms; it goes on`),
      fail_on: () => new Failed("fail_on", `${who}: what must not come has come: ` +
        JSON.stringify(answer.match)),
      exit: () => exit ? null : new Ended("ended", `${who}: has ended before what was waited for`),
    };
    const error = failure[answer.reason]?.();
    if (error)
      throw Object.assign(error, { answer });
    return answer.output;
  }

  #text(data) {
    return this.#decoder ? this.#decoder.decode(data, { stream: true }) : data;
  }

  // --- output and state

  /** What was printed since this object returned output last; empty for nothing. timeoutMs: how
   * long to wait for the first byte (0; null: as long as it takes). */
  async read({ timeoutMs = 0, signal } = {}) {
    const wait = timeoutMs === null ? Infinity : timeoutMs, pieces = [];
    do {
      const first = pieces.length === 0;
      pieces.push(await this._raw({ max_bytes: ALL, yield_time_ms: first ? wait : 0,
        until: first && wait ? "(?s)." : undefined, ready: this.tty ? false : undefined },
      { signal }));
    } while (this.#full());
    return this.#text(Buffer.concat(pieces));
  }

  /** What a person would see on its terminal now; args: those of read_screen. */
  async screen(args = {}) {
    return (await this.client.call("read_screen", { session_id: this.number, ...args })).screen;
  }

  /** Its row of list_sessions: state, cmd, cwd, pid, rows, cols, keyboard, ... */
  async info() {
    const told = await this.client.call("list_sessions", { all: true, names: [this.number] });
    return told.sessions[0];
  }

  /** Whether its program runs. */
  async running() {
    return (await this.info()).state === "running";
  }

  /** As a shell tells it: the exit code, or 128+N after signal N; undefined while it runs, or where
   * it is not known. */
  async exitStatus() {
    return this.last.exit_code ?? (await this.info()).exit_code;
  }

  /** Ends it with all its processes; or only sends the signal ("INT", 15, ...). Resolves to how it
   * ended: ended_by, exit_code, signal, survivors. */
  async kill(signal) {
    const answer = await this.client.call("kill_session", { session_id: this.number,
      signal: signal === undefined ? undefined : String(signal) });
    return answer.sessions[0] ?? answer;
  }

  /** Gives its terminal another size. */
  async resize(rows, cols) {
    await this.client.call("resize_session", { session_id: this.number, rows, cols });
  }

  /** Gives it another name. */
  async rename(name) {
    await this.client.call("rename_session", { session_id: this.number, name });
    this.name = name;
  }

  /** Forgets it with its output, once it has ended. */
  async remove() {
    await this.client.call("remove_session", { sessions: [this.number] });
  }
}
