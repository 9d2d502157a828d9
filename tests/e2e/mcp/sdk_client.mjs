// A client made of the official TypeScript SDK: what it is told, as one line of JSON. Arguments: the command of the server.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
const client = new Client({ name: "muxd-tests", version: "1" });
await client.connect(transport);
const told = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions() };
told.tools = (await client.listTools()).tools.map((tool) => tool.name);
await client.ping();
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
told.echo = await call("exec_command", { cmd: "echo hi; exit 3", login: false });
told.started = await call("exec_command", { cmd: "cat", stdin: true, name: "sdk", login: false, yield_time_ms: 250 });
told.typed = await call("write_stdin", { session_id: "sdk", chars: "hello\n", until: "hello\n", yield_time_ms: 30000 });
told.steps = await call("run_steps", { session_id: "sdk", steps: [{ write: "again\n" }, { wait: "again" }, { read: {} }] });
told.unknown = await call("write_stdin", { session_id: 4711, chars: "x" });
told.wrong = await call("nope", {}).catch((error) => ({ thrown: error.code }));
const abort = new AbortController();
const cancelled = call("write_stdin", { session_id: "sdk", yield_time_ms: 60000 }, { signal: abort.signal }).catch((error) => String(error));
setTimeout(() => abort.abort("enough"), 200);
told.cancelled = await cancelled;
let beats = 0;
told.long = await call("exec_command", { cmd: "sleep 6; echo slept", login: false, yield_time_ms: 20000 },
                       { onprogress: () => { beats++; }, resetTimeoutOnProgress: true, timeout: 5600 });
told.beats = beats;
told.listed = await call("list_sessions", {});
await client.close();
console.log(JSON.stringify(told));
