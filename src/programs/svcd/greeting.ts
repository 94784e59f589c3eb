import { formatHostPort } from "../../base/addresses.ts"
import { grouped } from "../../base/quantities.ts"
import { shellWord } from "../../base/safeText.ts"
import { readArgv } from "../../config/argv.ts"
import { reachable } from "../../config/connection.ts"
import { OPTIONS } from "../../config/options.ts"
import type { Settings } from "../../config/settings.ts"
import type { NodeStarted } from "../../node/daemon.ts"

/** What a person at a terminal needs to know after a start. It is not logged. */

/** The flags that svcd-cli needs to find this node, without credentials. */
const FINDING = ["network", "datadir", "rpcaddr"] as const

const callOf = (argv: ReadonlyArray<string>): string => {
  const { given } = readArgv(argv, OPTIONS)
  const flags = FINDING.flatMap((name) => {
    const text = given.get(name)?.at(-1)
    return text === undefined ? [] : [`-${name}`, shellWord(text)]
  })
  return ["svcd-cli", ...flags].join(" ")
}

const pageLine = ({ rpc }: Settings): string => {
  const origin = `http://${formatHostPort(reachable(rpc.listenAddr))}/`
  return rpc.statusPage ? `Status page and explorer: ${origin}` : `No pages (-statuspage=0); JSON-RPC is at ${origin}`
}

const syncLine = ({ chain, peers }: Settings, { height, initialDownload }: NodeStarted): string => {
  if (chain.network === "regtest") return "This is a private chain (regtest), so there is nothing to wait for."
  if (peers.maxPeers === 0) return "The node stays offline (-maxpeers 0) and receives no new blocks."
  if (!initialDownload) return `The node has the chain up to block ${grouped(height)} and catches up within minutes.`
  return chain.sync === "light"
    ? "First sync: names resolve after a few minutes."
    : "First sync: names usually resolve after a few minutes. The whole chain takes hours, or over a day on a slow disk."
}

/** Three lines. `argv`: the flags of this start. */
export const greeting = (settings: Settings, facts: NodeStarted, argv: ReadonlyArray<string>): string =>
  [
    pageLine(settings),
    `To check the node, run: ${callOf(argv)} status. To stop it, press Ctrl-C.`,
    syncLine(settings, facts),
    ""
  ].join("\n")
