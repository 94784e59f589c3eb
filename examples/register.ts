/**
 * Registers a name, and shows the progress.
 *
 *     node register.js d/example '{"ip":"192.0.2.1"}'
 *
 * A registration takes two transactions with at least twelve blocks between them: some two hours. The wallet of the
 * daemon that answers, or of the node in this process, pays for it. The environment variable NAMES may hold the
 * configuration of the client, as JSON.
 *
 * Ctrl-C ends the waiting and not the registration: the wallet of svcd continues it, with a daemon at once, and with a
 * node in this process when a node runs on the data directory again. With Namecoin Core the registration does end.
 *
 * Exit codes: 0, the name is ours; 1, an error, which is on standard error; 2, the arguments are wrong; 3, Ctrl-C.
 */

import { type ClientConfig, newClient, type RegistrationProgress } from "svcd/promise"

/** A step as text. */
const describe = (progress: RegistrationProgress): string => {
  switch (progress.step) {
    case "queued":
      return progress.reason
    case "announced":
      return `announced by ${progress.txHash}, without telling the name`
    case "waiting":
      return `blocks until it can be claimed: ${progress.blocksLeft}`
    case "claimed":
      return `claimed by ${progress.txHash}`
    case "registered":
      return `registered in block ${progress.height}`
    case "failed":
      return progress.reason
  }
}

/** What the user can do about an error, by its `_tag`. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["InsufficientFunds", "pay something into the wallet first"],
  ["WalletLocked", "give walletPassphrase, or unlock the daemon's wallet"],
  ["WalletDisabled", "this needs a wallet"],
  ["NameUnavailable", "choose another name, or wait"]
])

/** Registers the name. Resolves to the exit code. */
const register = async (name: string, value: string): Promise<number> => {
  const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
  // A wallet needs the whole chain: a light client has none.
  await using client = await newClient({ sync: "full", ...config })

  const waiting = new AbortController()
  process.once("SIGINT", () => waiting.abort())
  try {
    const { txHash } = await client.registerName(name, value, {
      waitFor: "registered",
      onProgress: (progress) => console.error(`${name}: ${describe(progress)}`),
      signal: waiting.signal
    })
    console.log(txHash)
    return 0
  } catch (error) {
    if (!waiting.signal.aborted) throw error
    console.error("not waited for any longer")
    return 3
  }
}

const [name, value, ...rest] = process.argv.slice(2)
if (name === undefined || value === undefined || rest.length > 0) {
  console.error("usage: register NAME VALUE")
  process.exitCode = 2
} else {
  try {
    process.exitCode = await register(name, value)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    const advice = error instanceof Error && "_tag" in error ? ADVICE.get(String(error._tag)) : undefined
    if (advice !== undefined) console.error(advice)
    process.exitCode = 1
  }
}
