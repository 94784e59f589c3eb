/**
 * A light client: the first answer within a minute of the first start, from headers and the last blocks of the chain.
 *
 *     node light-client.js d/example id/alice
 *
 * Shows on standard error how far the node is, then prints each name with what the answer rests on. The environment
 * variable NAMES may hold the configuration of the client, as JSON.
 *
 * Exit codes: 0, every name was found; 1, one is not registered or has expired; 3, there is no answer.
 */

import { type ClientConfig, NameExpired, NameNotFound, newClient, type PromiseClient } from "svcd/promise"

/** Whether to draw a bar, or to write a line for each phase. */
const isTerminal = process.stderr.isTTY === true

const BAR = 30

/** Shows the progress until the names are known; their signatures are checked in the background. */
const showProgress = async (client: PromiseClient): Promise<void> => {
  let last = ""
  for await (const { percent, phase, secondsLeft, synced } of client.progress()) {
    if (synced) break
    const left = secondsLeft === undefined ? "" : `, ${secondsLeft} s left`
    const bar = "#".repeat(BAR * percent / 100).padEnd(BAR, ".")
    if (isTerminal) process.stderr.write(`\r\u001b[2K[${bar}] ${percent.toFixed(1)} % ${phase}${left}`)
    else if (phase !== last) console.error(phase)
    last = phase
  }
  if (isTerminal) process.stderr.write("\r\u001b[2K")
}

const show = async (client: PromiseClient, name: string): Promise<void> => {
  try {
    const { asOf, value } = await client.resolveName(name)
    console.log(`${name}: ${value} (block ${asOf.height}, ${asOf.proof})`)
  } catch (error) {
    if (!(error instanceof NameNotFound || error instanceof NameExpired)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

try {
  const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
  await using client = await newClient({ sync: "light", ...config })
  await showProgress(client)
  for (const name of process.argv.slice(2)) await show(client, name)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 3
}
