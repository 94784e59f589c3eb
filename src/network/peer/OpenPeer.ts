import type * as Effect from "effect/Effect"
import type { MemoryAccount } from "../../base/MemoryBudget.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { ConnectionType, Disconnection, Features, Hello, Latency, Peer, Permissions, Traffic } from "../Peer.ts"
import type { Message } from "../wire/message.ts"
import type { NetAddress } from "../wire/netAddress.ts"

export interface PeerLink {
  readonly facts: {
    readonly id: PeerId
    readonly type: ConnectionType
    readonly address: NetAddress
    readonly port: number
    readonly name: string
    readonly permissions: Permissions
    readonly bind: string | undefined
  }
  readonly connectedAt: number
  readonly counters: Traffic
  readonly latency: Latency
  readonly closed: boolean
  send(message: Message): Effect.Effect<void>
  readonly ready: Effect.Effect<void>
  post(message: Message): void
  disconnect(disconnection: Disconnection): void
  readonly memory: { readonly account: MemoryAccount }
  spent(milliseconds: number, asked?: boolean): void
  judged(good: boolean): void
  readonly turn: Effect.Effect<void>
}

/** BIP 152. */
const COMPACT_BLOCKS_VERSION = 2n

export class OpenPeer implements Peer {
  readonly id: PeerId
  readonly type: ConnectionType
  readonly inbound: boolean
  readonly address: NetAddress
  readonly port: number
  readonly name: string
  readonly permissions: Permissions
  readonly bind: string | undefined
  readonly connectedAt: number
  readonly hello: Hello
  readonly features: Features
  readonly traffic: Traffic
  private readonly link: PeerLink

  constructor(link: PeerLink, hello: Hello) {
    const { address, bind, id, name, permissions, port, type } = link.facts
    this.id = id
    this.type = type
    this.inbound = type === "inbound"
    this.address = address
    this.port = port
    this.name = name
    this.permissions = permissions
    this.bind = bind
    this.connectedAt = link.connectedAt
    this.hello = hello
    this.features = {
      sendHeaders: false,
      compactBlocks: "none",
      feeFilter: 0,
      relay: hello.relay,
      bloom: undefined
    }
    this.traffic = link.counters
    this.link = link
  }

  get latency(): Latency {
    return this.link.latency
  }

  get closed(): boolean {
    return this.link.closed
  }

  /** BIP 31. */
  get answersPings(): boolean {
    return this.hello.commonVersion > 60_000
  }

  readonly send = (message: Message): Effect.Effect<void> => this.link.send(message)

  get ready(): Effect.Effect<void> {
    return this.link.ready
  }

  readonly post = (message: Message): void => this.link.post(message)

  readonly disconnect = (disconnection: Disconnection): void => this.link.disconnect(disconnection)

  get memory(): MemoryAccount {
    return this.link.memory.account
  }

  readonly spent = (milliseconds: number, asked = false): void => this.link.spent(milliseconds, asked)

  readonly judged = (good: boolean): void => this.link.judged(good)

  get turn(): Effect.Effect<void> {
    return this.link.turn
  }

  note(message: Message): void {
    if (message.type === "sendheaders") this.features.sendHeaders = true
    else if (message.type === "feefilter") this.features.feeFilter = message.feeRate
    else if (message.type === "sendcmpct" && message.version === COMPACT_BLOCKS_VERSION) {
      this.features.compactBlocks = message.highBandwidth ? "high-bandwidth" : "low-bandwidth"
    }
  }
}
