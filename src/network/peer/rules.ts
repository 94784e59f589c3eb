import type { Disconnection } from "../Peer.ts"
import type { Message } from "../wire/message.ts"

/** The messages that are valid before the handshake is complete. */
const HANDSHAKE_COMMANDS: ReadonlySet<string> = new Set(["version", "verack", "wtxidrelay", "sendaddrv2"])

export const isHandshakeCommand = (command: string): boolean => HANDSHAKE_COMMANDS.has(command)

const leave = (reason: string): Disconnection => ({ reason, misbehaving: false })

const BLOOM = leave("unsupported: the peer uses bloom filters")
const FILTERS = leave("unsupported: the peer requests block filters")

/** How to treat a message after the handshake, by its type only (reference/protocol.md 6.5, 6.6). */
export const judgeMessage = (message: Message): "handle" | "ignore" | Disconnection => {
  switch (message.type) {
    case "unknown":
    case "version":
    case "verack":
    case "alert":
    case "sendtxrcncl":
    // Always unsolicited: this node sends no filters and requests none.
    case "merkleblock":
    case "cfilter":
    case "cfheaders":
    case "cfcheckpt":
      return "ignore"
    case "wtxidrelay":
    case "sendaddrv2":
      return leave(`unexpected message: ${message.type} after verack`)
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
