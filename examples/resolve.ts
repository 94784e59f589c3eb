/**
 * A command-line script: prints the records of names.
 *
 *     node resolve.js d/example id/alice
 *     node resolve.js --timeout 5 d/example
 *
 * Each name that was found is one line of JSON on standard output; errors are on standard error. The environment
 * variable NAMES may hold the configuration of the client, as JSON:
 * '{"mode":"daemon","rpcAddr":"http://192.0.2.7:8336"}'.
 *
 * Exit codes: 0, every name was found; 1, one is not registered or has expired; 2, the arguments are wrong; 3, there is
 * no answer now: the node still syncs, a daemon is away, or time is up.
 */

import { parseArgs } from "node:util"
import { type ClientConfig, NameExpired, NameNotFound, newClient } from "svcd/promise"

const USAGE = "usage: resolve [--timeout SECONDS] NAME..."

/** The longest accepted timeout, in seconds. */
const MAX_TIMEOUT = 3_600

interface Arguments {
  readonly names: ReadonlyArray<string>
  /** Seconds. */
  readonly timeout: number
}

/** `undefined` where the arguments are invalid. */
const readArguments = (): Arguments | undefined => {
  try {
    const { positionals: names, values } = parseArgs({
      allowPositionals: true,
      options: { timeout: { type: "string", default: "30" } }
    })
    const timeout = Number(values.timeout)
    return names.length > 0 && timeout > 0 && timeout <= MAX_TIMEOUT ? { names, timeout } : undefined
  } catch {
    return undefined
  }
}

/** Prints the records. Resolves to the exit code. */
const resolveAll = async ({ names, timeout }: Arguments): Promise<number> => {
  const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
  // Closed at the end of this function, whatever happens.
  await using client = await newClient(config)
  const signal = AbortSignal.timeout(timeout * 1_000)
  let exitCode = 0
  for (const name of names) {
    try {
      console.log(JSON.stringify(await client.resolveName(name, { signal })))
    } catch (error) {
      if (!(error instanceof NameNotFound || error instanceof NameExpired)) throw error
      console.error(error.message)
      exitCode = 1
    }
  }
  return exitCode
}

const given = readArguments()
if (given === undefined) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  try {
    process.exitCode = await resolveAll(given)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 3
  }
}
