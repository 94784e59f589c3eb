import { shellWord } from "../../base/safeText.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../../consensus/names.ts"
import { TARGET_SPACING } from "../../consensus/readerParams.ts"
import type { NetworkName } from "../../protocol/networks.ts"

/** The steps after preparing a value, as `svcd-cli` commands and JSON-RPC bodies (reference/protocol.md 9.3). */

export interface Prepared {
  /** With its namespace. ASCII, without characters that a shell interprets. */
  readonly name: string
  readonly value: string
  /** Flags that lead `svcd-cli` to the same daemon. */
  readonly flags: ReadonlyArray<string>
}

const commandLine = ({ flags }: Prepared, ...words: ReadonlyArray<string>): string =>
  ["svcd-cli", ...flags, ...words].map(shellWord).join(" ")

const body = (method: string, ...params: ReadonlyArray<string>): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })

/** The first two answers of `name_new`, in order. */
const TXID = "TXID"
const RAND = "RAND"

const lines = (...texts: ReadonlyArray<string>): string => texts.map((text) => `${text}\n`).join("")

/** Twelve until a block may hold the name, and that one. */
const BLOCKS = MIN_FIRSTUPDATE_DEPTH + 1

const timeText = (network: NetworkName): string =>
  network === "regtest"
    ? `${BLOCKS} blocks, which you mine on regtest`
    : `${BLOCKS} blocks, about ${Math.round(BLOCKS * TARGET_SPACING / 3_600)} hours on ${network}`

export const registerInstructions = (
  prepared: Prepared & { readonly network: NetworkName; readonly lookup: ReadonlyArray<string> }
): string => {
  const { lookup, name, network, value } = prepared
  const takes = timeText(network)
  return lines(
    value,
    "",
    `# 1. Register the name with svcd. The command shows the cost, asks, and pays from the node's wallet. It takes ${takes}:`,
    "#    The wallet sends both transactions automatically, even across restarts, and renews the name before it expires.",
    commandLine(prepared, "register", name, value),
    "",
    "# 2. Check the progress. When the registration is done, check where mail for the name goes.",
    commandLine(prepared, "registrations"),
    ["svcd-mail", ...prepared.flags, ...lookup].map(shellWord).join(" "),
    "",
    `# With Namecoin Core, instead of step 1; it takes ${takes} too:`,
    `# 1. Commit to the name. The result is ${TXID} and ${RAND}.`,
    commandLine(prepared, "name_new", name),
    "",
    `# 2. When eleven blocks have come after the one with ${TXID}, claim the name; fill in the results of step 1.`,
    commandLine(prepared, "name_firstupdate", name, RAND, TXID, value),
    "",
    "# The same over JSON-RPC, each as the body of a POST to the daemon: one call for svcd, then two for Namecoin Core.",
    body("name_autoregister", name, value),
    body("name_new", name),
    body("name_firstupdate", name, RAND, TXID, value)
  )
}

export const updateInstructions = (prepared: Prepared & { readonly isMerged: boolean }): string => {
  const { name, value } = prepared
  return lines(
    value,
    "",
    prepared.isMerged
      ? "# The other items of the value stay as they are."
      : "# This replaces the whole current value, which no daemon here knows.",
    commandLine(prepared, "update", name, value),
    "",
    "# The same over JSON-RPC, as the body of a POST to the daemon:",
    body("name_update", name, value)
  )
}
