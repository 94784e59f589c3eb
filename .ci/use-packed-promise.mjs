// A program without Effect, where no effect is found: over a daemon it loads no native part. Usage, in a folder where
// svcd is installed: use-packed-promise.mjs

import assert from "node:assert/strict"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const installed = createRequire(join(process.cwd(), "program.js"))
assert.throws(() => installed.resolve("effect"), "effect is not needed, and must not be found here")
const { newDaemonClient } = await import(pathToFileURL(installed.resolve("svcd/promise")).href)

const hex = (text) => Buffer.from(text).toString("hex")
const hash = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
const answers = {
  getblockchaininfo: { chain: "regtest", blocks: 700, headers: 700, bestblockhash: hash, initialblockdownload: false },
  name_show: {
    name: hex("d/example"),
    value: hex("{}"),
    txid: "a".repeat(64),
    address: "n1",
    height: 690,
    expires_in: 20,
    expired: false
  }
}
const daemon = createServer(async (request, response) => {
  let body = ""
  for await (const piece of request) body += piece
  const call = JSON.parse(body || "null")
  const answer = ({ id, method }) =>
    method in answers
      ? { jsonrpc: "2.0", id, result: answers[method] }
      : { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }
  response.end(JSON.stringify(Array.isArray(call) ? call.map(answer) : call === null ? {} : answer(call)))
}).listen(0, "127.0.0.1")
await new Promise((resolve) => daemon.once("listening", resolve))

const client = await newDaemonClient({ network: "regtest", rpcAddr: `http://127.0.0.1:${daemon.address().port}` })
assert.equal((await client.resolveName("d/example")).value, "{}")
await client.close()
daemon.close()

const native = process.report.getReport().sharedObjects.filter((file) => file.endsWith(".node"))
assert.deepEqual(native, [], "native parts were loaded")
console.log("no native part is loaded")
