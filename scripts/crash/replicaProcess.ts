// A copy of all names that follows a daemon, kept in a file: replicaProcess.js ADDRESS FILE. It can be killed at any time.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { follow, Refused, type Replica } from "../../examples/replica.ts"

/** Milliseconds between two looks at the copy. */
const INTERVAL = 15

/** Milliseconds before the daemon is asked again. */
const PAUSE = 100

/** The exit status if the daemon refuses the request, such as its cursor. */
export const REFUSED = 3

const [, program = "", address, file] = process.argv

/** The copy of a file; an empty one without it. */
export const readReplica = (path: string): Replica => {
  if (!existsSync(path)) return { names: new Map(), cursor: "0" }
  const { cursor, names }: { readonly cursor: string; readonly names: Iterable<readonly [string, never]> } = JSON.parse(
    readFileSync(path, "utf8")
  )
  return { cursor, names: new Map(names) }
}

const run = async (from: string, path: string): Promise<void> => {
  const replica = readReplica(path)
  let saved = replica.cursor
  // Records and cursor together: a kill leaves the old copy or the new one.
  setInterval(() => {
    if (replica.cursor === saved) return
    writeFileSync(`${path}.new`, JSON.stringify({ cursor: replica.cursor, names: [...replica.names] }))
    renameSync(`${path}.new`, path)
    saved = replica.cursor
  }, INTERVAL)
  for (;;) {
    await follow(from, replica).catch((error: unknown) => {
      if (!(error instanceof Refused)) return
      process.stderr.write(`${String(error)}\n`)
      process.exit(REFUSED)
    })
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
}

if (/replicaProcess\.[jt]s$/.test(program) && address !== undefined && file !== undefined) await run(address, file)
