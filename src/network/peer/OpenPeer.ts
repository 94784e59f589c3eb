import type { MemoryAccount } from "../../base/MemoryBudget.ts"
import type { Hello, Peer } from "../Peer.ts"
import type { Message } from "../wire/message.ts"

type Facts = Pick<Peer, "id" | "type" | "address" | "port" | "name" | "permissions" | "bind">

type Live = Pick<Peer, "latency" | "closed" | "send" | "ready" | "post" | "disconnect" | "spent" | "judged" | "turn">

export interface PeerLink extends Live {
  readonly facts: Facts
  readonly connectedAt: number
  readonly counters: Peer["traffic"]
  readonly memory: { readonly account: MemoryAccount }
}

/** BIP 152. */
const COMPACT_BLOCKS_VERSION = 2n

export interface OpenPeer extends Peer {
  /** BIP 31. */
  readonly answersPings: boolean
  readonly note: (message: Message) => void
}

export const openPeer = (link: PeerLink, hello: Hello): OpenPeer => {
  const { address, bind, id, name, permissions, port, type } = link.facts
  const features: Peer["features"] = {
    sendHeaders: false,
    compactBlocks: "none",
    feeFilter: 0,
    relay: hello.relay,
    bloom: undefined
  }
  return {
    id,
    type,
    inbound: type === "inbound",
    address,
    port,
    name,
    permissions,
    bind,
    connectedAt: link.connectedAt,
    hello,
    features,
    traffic: link.counters,
    answersPings: hello.commonVersion > 60_000,
    memory: link.memory.account,
    get latency() {
      return link.latency
    },
    get closed() {
      return link.closed
    },
    get ready() {
      return link.ready
    },
    get turn() {
      return link.turn
    },
    send: (message) => link.send(message),
    post: (message) => link.post(message),
    disconnect: (disconnection) => link.disconnect(disconnection),
    spent: (milliseconds, asked = false) => link.spent(milliseconds, asked),
    judged: (good) => link.judged(good),
    note: (message) => {
      if (message.type === "sendheaders") features.sendHeaders = true
      else if (message.type === "feefilter") features.feeFilter = message.feeRate
      else if (message.type === "sendcmpct" && message.version === COMPACT_BLOCKS_VERSION) {
        features.compactBlocks = message.highBandwidth ? "high-bandwidth" : "low-bandwidth"
      }
    }
  }
}
