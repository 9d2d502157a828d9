#!/usr/bin/env node
// Watches a dev server and starts it again whenever its output says that it has to be.
// usage: dev_server.mjs PATH-OF-ue.mjs TIMES COMMAND...
import { pathToFileURL } from "node:url";

const [library, times, ...command] = process.argv.slice(2);
const { Client, Ended, Failed } = await import(pathToFileURL(library));
const client = new Client();

async function start(round) {
  const server = await client.begin(command, {
    name: "dev-server", until: String.raw`listening on (?<port>\d+)`, env: { ROUND: String(round) },
  });
  console.log(`round ${round}: ${server.last.match.text}`);
  return server;
}

for (let round = 1; round <= Number(times); round++) {
  const server = await start(round);
  try {
    await server.wait({
      until: "never this", fail_on: { stale: "config changed", crash: "(?i)unhandled \\w+" },
      timeoutMs: null,
    });
  } catch (why) {
    if (why instanceof Ended)
      console.log(`round ${round}: it has ended with ${why.answer.exit_code}`);
    else if (why instanceof Failed)
      console.log(`round ${round}: ${why.answer.match.name}: ${why.answer.match.text}`);
    else
      throw why;
  }
  await server.kill();
  await server.remove();
}
