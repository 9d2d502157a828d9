// The steps of test_lib_node.py: node lib_node.mjs PATH-OF-ue.mjs STEP DIRECTORY
import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { pathToFileURL } from "node:url";

const [library, step, dir, capMs] = process.argv.slice(2);
const lib = await import(pathToFileURL(library));
const { Client, UeError } = lib, CAP = Number(capMs);
const cap = { timeoutMs: CAP };

async function waitFor(question, what) {
  const end = Date.now() + CAP;
  for (;;) {
    const value = await question();
    if (value)
      return value;
    assert(Date.now() < end, `waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const code = (name, words = /./) => (e) => {
  assert(e instanceof UeError && e.code === name && words.test(e.message), `${e.code} ${e.message} ${e.stack}`);
  return true;
};

const steps = {
  async tools() {
    process.chdir(dir);
    process.env.FROM_HERE = "yes";
    await assert.rejects(new Client({ start: false }).list_sessions(), code("no_daemon", /nobody listens/));
    const client = new Client();
    const there = await client.exec_command({ cmd: "pwd; echo $FROM_HERE; exit 3" });
    assert.equal(there.output, `${dir}\nyes\n`);
    assert.equal(there.exit_code, 3);
    assert.deepEqual((await client.exec_command({ cmd: ["printf", "\\377\\000x"], encoding: "base64" })).exact, Buffer.from([255, 0, 120]));
    const py = await client.begin(["python3", "-q"], { name: "py", ...cap });
    assert.equal(py.greeting, ">>> ");
    assert.equal(await py.ask("6 * 7", cap), "6 * 7\r\n42\r\n>>> ");
    assert.equal(py.last.reason, "ready");
    assert.match(await py.ask("6 * 7", { plain: true, ...cap }), /^42\n/);
    await py.line("import time; print(10 ** 3); time.sleep(0.2); print(10 ** 6)");
    const shown = await py.until("1000000\\r\\n", cap) + await py.ready(cap);
    assert.match(shown, /^import time.*\r\n1000\r\n1000000\r\n>>> $/s);
    await assert.rejects(py.wait({ until: "never", timeoutMs: 50 }), (e) => e instanceof lib.TimedOut && e.answer.reason === "deadline");
    await assert.rejects(py.ask("1 / 0", { until: "nothing", fail_on: "Zero\\w+", ...cap }),
      (e) => e instanceof lib.Failed && e.answer.match.text === "ZeroDivisionError");
    await py.ready(cap);
    const both = await client.begin("echo one; echo two; sleep 1000", { tty: false, until: "one\n" });
    await waitFor(async () => (await both.info()).output_bytes === 8, "both lines");
    assert.equal(both.greeting + await both.until("two\n", cap), "one\ntwo\n");
    await assert.rejects(both.until("two", { timeoutMs: 50 }), code("timeout"));
    await both.kill();
    await py.resize(10, 40);
    assert.equal((await (await client.session("py")).info()).cols, 40);
    assert.match(await py.screen(), />>>\s*$/);
    const ran = await py.run("6 * 7", cap);
    assert.deepEqual([ran.output, ran.status, ran.by], ["42\n", 0, "marks"]);
    // more calls than one connection may have, and room for what ends them
    const many = await client.begin(["cat"], { wait: false });
    const waits = [...Array(150)].map(() => client.read_output({ session_id: many.number, until: "go", yield_time_ms: CAP, peek: true }));
    await waitFor(async () => (await client.status()).waits === 150, "the waits");
    await many.line("go");
    for (const answer of await Promise.all(waits))
      assert.equal(answer.reason, "until");
    await many.kill();
    // any bytes, of any length, in; a character that comes in two pieces, out
    const cat = await client.begin(["cat"], { tty: false, stdin: true, wait: false, encoding: null });
    const data = Buffer.alloc(768000, Buffer.from([...Array(256).keys()]));
    await cat.write(data, { eof: true });
    assert.equal(await cat.ended(cap), 0);
    assert(data.equals(await cat.read()) && cat.place === data.length);
    const nul = await client.begin("od -An -c", { tty: false, stdin: true, wait: false });
    await nul.write("a\0b", { eof: true });
    assert.equal(await nul.ended(cap), 0);
    assert.deepEqual((await nul.read()).trim().split(/ +/), ["a", "\\0", "b"]);
    const half = await client.begin("printf '\\303'; read -r x; printf '\\244'", { tty: false, stdin: true, wait: false });
    await waitFor(async () => (await half.info()).output_bytes === 1, "half a character");
    assert.equal(await half.read(), "");
    await half.line();
    assert.equal(await half.read(cap), "ä");
    // signals and deadlines end waits, and no programs
    const stop = new AbortController(), asking = new Client();
    const waiting = py.wait({ until: "never", timeoutMs: null, signal: stop.signal });
    await waitFor(async () => (await asking.status()).waits === 1, "the wait");
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    await assert.rejects(client.call("read_output", { session_id: "py", until: "never", yield_time_ms: Infinity }, { timeoutMs: 30 }), code("timeout"));
    await waitFor(async () => (await asking.status()).waits === 0, "the end of the waits");
    assert(await py.running());
    await assert.rejects(py.ask("exit(4)", { until: "never", ...cap }), (e) => e instanceof lib.Ended && e.answer.exit_code === 4);
    assert.equal(await py.exitStatus(), 4);
    for (const [name, tool, args] of [["no_such_session", "read_output", { session_id: "nobody" }], ["no_such_method", "nonsense", {}],
      ["arguments", "exec_command", { cmd: 5 }], ["pattern", "exec_command", { cmd: "true", until: "(" }], ["usage", "attach", {}]])
      await assert.rejects(client[tool](args), code(name));
    // events
    const events = client.events({ types: ["created", "end"] }), got = [];
    await events.ready;
    await client.exec_command({ cmd: "exit 5", name: "one" });
    for await (const event of events)
      if (got.push(`${event.type} ${event.name}`) === 2)
        break;
    assert.deepEqual(got, ["created one", "end one"]);
    const listener = client.listen((event) => { throw new Error(event.type); }, { types: ["end"] });
    await listener.ready;
    await client.exec_command({ cmd: "true" });
    await assert.rejects(listener.done, /end/);
    const closed = client.listen(() => {}, { types: ["end"] });
    await closed.ready;
    closed.close();
    await closed.done;
  }, // idle clients: the process ends by itself

  /** Calls in flight while the worker is killed and the daemon upgraded: each is done exactly once. */
  async workers() {
    const client = new Client(), asking = new Client(), log = `${dir}/log`, rounds = 20, many = 20;
    let done = 0;
    const work = async (i) => {
      const shell = await client.begin(["sh"], { tty: false, stdin: true, wait: false });
      for (let k = 0; k < rounds; k++, done++) {
        await client.write_stdin({ session_id: shell.number, chars: `echo ${i}.${k} >>${log}; echo done${k}\n`, until: `done${k}\n`, yield_time_ms: CAP });
        assert.equal((await client.exec_command({ cmd: `echo ${i}:${k} >>${log}; exit ${k}` })).exit_code, k);
      }
      await shell.write("", { eof: true });
      assert.equal(await shell.ended(cap), 0);
      assert.equal(await shell.read(), [...Array(rounds).keys()].map((k) => `done${k}\n`).join(""));
    };
    const pids = new Set([(await asking.status()).pid]);
    const all = Promise.all([...Array(many).keys()].map(work));
    all.catch(() => {});
    for (const turn of [1, 2, 3]) {
      await waitFor(() => done >= turn * many * rounds / 5, "some calls");
      if (turn === 3)
        assert((await asking.upgrade()).version);
      else
        process.kill((await asking.status()).pid, "SIGKILL");
      pids.add((await asking.status()).pid);
    }
    await all;
    const lines = fs.readFileSync(log, "utf8").trim().split("\n");
    assert.equal(lines.length, many * rounds * 2);
    assert.equal(new Set(lines).size, lines.length);
    assert(pids.size >= 3);
  },

  async faults() {
    Object.assign(lib.limits, { stallMs: 300, answerBytes: 1 << 17 });
    const socket = `${dir}/fake`;
    const serve = async (reply, { protocol = 1, hold = false } = {}) => {
      const asked = [], server = net.createServer((conn) => {
        let text = "";
        conn.on("error", () => {}).on("data", (chunk) => {
          text += chunk;
          for (let at; (at = text.indexOf("\n")) >= 0; text = text.slice(at + 1)) {
            const request = JSON.parse(text.slice(0, at));
            asked.push(request);
            if (request.method === "hello")
              conn.write(JSON.stringify({ id: request.id, new: 1, result: { protocol, version: "9.9", x: [] } }) + "\n");
            else if (hold)
              conn.write(reply(request));
            else
              conn.end(reply(request));
          }
        });
      }).listen(socket);
      await once(server, "listening");
      return { asked, close: () => new Promise((resolve) => server.close(resolve)) };
    };
    for (const [reply, how, name, words] of [
      [() => "no json\n", {}, "protocol", /can't be read/],
      [() => "[1]\n", {}, "protocol", /can't be read/],
      [() => Buffer.from([255, 254, 10]), {}, "protocol", /can't be read/],
      [(r) => `{"id": ${r.id}, "result": 5}\n`, {}, "protocol", /without a result/],
      [() => '{"id": null, "error": {"message": "odd", "data": {"code": "parse"}}}\n', {}, "parse", /odd/],
      [() => '{"jsonrpc": "2.0", "id"', { hold: true }, "protocol", /half an answer/],
      [() => "x".repeat(1 << 18), { hold: true }, "too_large", /ask for less/],
      [() => '{"jsonrpc": "2.0", "id"', {}, "internal", /has ended 40 times/],
      [() => "", { protocol: 2 }, "protocol", /speaks protocol 2/]]) {
      const fake = await serve(reply, how), client = new Client({ socket, start: false });
      await assert.rejects(client.list_sessions({}, cap), code(name, words));
      client.close();
      await fake.close();
      const asked = fake.asked.filter((r) => r.method === "list_sessions");
      if (name === "internal") {
        assert.equal(asked.length, 41);
        assert.equal(new Set(asked.map((r) => r.params._meta.request_id)).size, 1);
        assert(asked[0].params._meta.waited_ms === undefined && asked[40].params._meta.waited_ms >= 0);
      }
    }
    const told = [], fake = await serve((r) => '{"method":"approval","params":{"state":"asked"}}\n{"id":999,"result":{}}\n' +
      `{"id":${r.id},"result":{"sessions":[],"later":{"a":1}},"more":[]}\n`, { hold: true });
    const client = new Client({ socket, onApproval: (what) => told.push(what) });
    assert.deepEqual((await client.list_sessions()).later, { a: 1 });
    assert.deepEqual(told, [{ state: "asked" }]);
    client.close();
    await fake.close();
    // an answer that came before the end counts, also when a write has failed by then: it is asked for once
    let ones = 0;
    const leaving = net.createServer((conn) => conn.on("error", () => {}).on("data", (lines) => {
      for (const line of lines.toString().trim().split("\n")) {
        const { id, method } = JSON.parse(line);
        conn.write(JSON.stringify({ id, result: method === "hello" ? { protocol: 1 } : { n: method === "one" ? ++ones : 0 } }) + "\n");
        if (method === "one")
          return conn.destroy();
      }
    })).listen(socket), busy = new Client({ socket, start: false });
    await busy.status();
    for (let turn = 1; turn <= 30; turn++) {
      const answer = busy.call("one");
      for (let k = 0; k < 6; k++) {
        busy.status().catch(() => {});
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await answer).n, turn);
    }
    busy.close();
    leaving.close();
    // the default places, and who may write there
    delete process.env.MUXD_SOCKET;
    const here = new Client();
    await here.list_sessions();
    assert.equal(here.socket, `${process.env.XDG_RUNTIME_DIR}/muxd/muxd.sock`);
    fs.chmodSync(`${process.env.XDG_RUNTIME_DIR}/muxd`, 0o755);
    await assert.rejects(new Client().list_sessions(), code("system", /open to others \(mode 0755\)/));
    fs.mkdirSync(`${dir}/other`, 0o700);
    fs.symlinkSync(`${process.env.XDG_RUNTIME_DIR}/muxd`, `${dir}/other/muxd`);
    process.env.XDG_RUNTIME_DIR = `${dir}/other`;
    await assert.rejects(new Client({ start: false }).list_sessions(), code("system", /symbolic link/));
    await assert.rejects(new Client({ socket: `/tmp/${"x".repeat(108)}` }).list_sessions(), code("system", /107 bytes/));
    await assert.rejects(new Client({ socket: `${dir}/none/s` }).list_sessions(), code("no_daemon", /does not exist/));
    await assert.rejects(new Client({ socket: `${dir}/t`, ue: "/nowhere/ue" }).list_sessions(), code("not_available"));
    await here.stop();
  },
};

await steps[step]();
console.log("done");
