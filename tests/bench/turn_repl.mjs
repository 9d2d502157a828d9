// A helper of bench-turns: turn_repl.mjs python|bash|sqlite3. For each line it gets, one command and its output at a prompt, by ue.mjs; answers the
// nanoseconds.
import { createInterface } from "node:readline";
import { Client } from "../../client/lib/node/ue.mjs";

const [argv, prompt, text, wanted] = {
  python: [["/usr/bin/python3", "-q"], ">>> ", "1+1", "2"],
  bash: [["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"], process.env.PS1 ?? "", "echo hi", "hi"],
  sqlite3: [["/usr/bin/sqlite3"], "sqlite> ", "select 1+1;", "2"],
}[process.argv[2]];
const client = new Client(), session = await client.begin(argv, { timeoutMs: 60000 });
const until = prompt.replace(/[^A-Za-z0-9 ]/g, "\\$&") + "$";
for await (const _ of createInterface({ input: process.stdin })) {
  const start = process.hrtime.bigint();
  const shown = await session.ask(text, { until, timeoutMs: 60000 });
  const took = process.hrtime.bigint() - start;
  if (!shown.includes(wanted))
    throw new Error(shown);
  process.stdout.write(`${took}\n`);
}
await session.kill();
