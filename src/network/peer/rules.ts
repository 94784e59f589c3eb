import type { Disconnection } from "../Peer.ts"
import type { Message } from "../wire/message.ts"

/** The messages that have a meaning before the handshake is complete. */
const HANDSHAKE_COMMANDS: ReadonlySet<string> = new Set(["version", "verack", "wtxidrelay", "sendaddrv2"])

export const isHandshakeCommand = (command: string): boolean => HANDSHAKE_COMMANDS.has(command)

const leave = (reason: string): Disconnection => ({ reason, misbehaving: false })

const BLOOM = leave("unsupported: it uses bloom filters")
const FILTERS = leave("unsupported: it asks for block filters")

/**
 * What is to be done with a message after the handshake, as far as that does not depend on what it says: to go on with
 * it, to ignore it, or to disconnect (reference/protocol.md 6.5, 6.6).
 */
export const judgeMessage = (message: Message): "handle" | "ignore" | Disconnection => {
  switch (message.type) {
    case "unknown":
    case "version":
    case "verack":
    case "alert":
    case "sendtxrcncl":
    // Nobody asked for these: we send no filters and request none.
    case "merkleblock":
    case "cfilter":
    case "cfheaders":
    case "cfcheckpt":
      return "ignore"
    case "wtxidrelay":
    case "sendaddrv2":
      return leave(`${message.type} came after verack`)
    case "mempool":
    case "filterload":
    case "filteradd":
    case "filterclear":
      return BLOOM
    case "getcfilters":
    case "getcfheaders":
    case "getcfcheckpt":
      return FILTERS
    default:
      return "handle"
  }
}
