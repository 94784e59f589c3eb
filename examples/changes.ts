/**
 * Follows what happens to names, and misses nothing while it does not run:
 *
 *     node changes.js CURSOR-FILE [NAMESPACE]
 *
 * Prints a line a change until SIGINT or SIGTERM. The place behind the last printed change is kept in the file; the first
 * time it begins with the next block. The environment variable NAMES may hold the configuration of the client, as JSON.
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { CursorUnusable, newClient } from "svcd/promise"

const [file, namespace = ""] = process.argv.slice(2)
if (file === undefined) {
  console.error("usage: node changes.js CURSOR-FILE [NAMESPACE]")
  process.exit(2)
}

/** Replaced as a whole: a crash leaves the old place or the new one. A change after it may then be printed again. */
const save = (cursor: string): void => {
  writeFileSync(`${file}.new`, cursor)
  renameSync(`${file}.new`, file)
}

const stop = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort())

const client = await newClient(JSON.parse(process.env["NAMES"] ?? "{}"))
try {
  const from = existsSync(file) ? readFileSync(file, "utf8") : undefined
  console.log(from === undefined ? "waiting for the next block" : `going on behind ${from}`)
  for await (const change of client.changes({ from, namespace, signal: stop.signal })) {
    console.log(change.height, change.type, change.name, change.record?.value ?? "")
    save(change.cursor)
  }
} catch (error) {
  if (error instanceof CursorUnusable) {
    const remedy = error.why === "future" ? "" : `; delete ${file} to begin with the next block`
    console.error(error.message + remedy)
  } else if (!stop.signal.aborted) throw error
  process.exitCode = stop.signal.aborted ? 0 : 1
} finally {
  await client.close()
}
