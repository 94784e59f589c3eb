import { Effect, Queue } from "effect"
import type { Permission } from "../../../src/config/permissions.ts"
import type { ConnectionType, Disconnection, Features, Hello, Peer } from "../../../src/network/Peer.ts"
import type { Message, MessageCommand, MessageOf } from "../../../src/network/wire/message.ts"
import { MAX_HEADERS } from "../../../src/network/wire/messages/headers.ts"
import { isBlockItem } from "../../../src/network/wire/messages/inv.ts"
import { Services } from "../../../src/network/wire/messages/version.ts"
import type { NetAddress } from "../../../src/network/wire/netAddress.ts"
import type { Block, BlockHeader } from "../../../src/protocol/block.ts"
import { type Bytes, toHex } from "../../../src/protocol/bytes.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { ampleAccount } from "../../support/memory.ts"
import { type MessagePart, receive } from "../../support/receive.ts"

/** Blocks of a peer: its best chain from genesis on, and all blocks it ever had. */
export class ServedBlocks {
  readonly best: Array<Block>
  private readonly byHash = new Map<string, Block>()

  constructor(genesisToTip: ReadonlyArray<Block>) {
    this.best = [...genesisToTip]
    for (const block of genesisToTip) this.byHash.set(toHex(block.hash), block)
  }

  get tip(): Block {
    const tip = this.best.at(-1)
    if (tip === undefined) throw new Error("a served chain has a genesis block")
    return tip
  }

  /** Continues after the parent of the first block, which may be below the tip. */
  extend(blocks: ReadonlyArray<Block>): void {
    for (const block of blocks) {
      const parent = this.best.findLastIndex(({ hash }) => toHex(hash) === toHex(block.header.prevHash))
      this.best.length = parent + 1
      this.best.push(block)
      this.byHash.set(toHex(block.hash), block)
    }
  }

  find(hash: Bytes): Block | undefined {
    return this.byHash.get(toHex(hash))
  }

  after(locator: ReadonlyArray<Bytes>): ReadonlyArray<BlockHeader> {
    for (const hash of locator) {
      const known = this.find(hash)
      const from = known === undefined ? -1 : this.best.indexOf(known)
      if (from >= 0) return this.best.slice(from + 1, from + 1 + MAX_HEADERS)
    }
    return this.best.slice(1, 1 + MAX_HEADERS)
  }
}

export interface FakePeerOptions {
  readonly type?: ConnectionType
  readonly commonVersion?: number
  readonly services?: bigint
  readonly permissions?: ReadonlyArray<Permission>
  /** The block to send in place of the requested one; `undefined` for no answer. */
  readonly serve?: (block: Block, height: number) => Block | undefined
  /** Whether it says that it lacks a block. */
  readonly lacks?: (height: number) => boolean
  /** Whether it answers `getheaders`. */
  readonly headers?: boolean
  /** Milliseconds before each answer. */
  readonly latency?: number
}

const trafficOf = (received: () => number) => ({
  bytesSent: 0,
  get bytesReceived() {
    return received()
  },
  lastSend: 0,
  lastReceive: 0,
  sentByCommand: new Map<string, number>(),
  receivedByCommand: new Map<string, number>()
})

let connections = 0

/** A peer in memory that answers from a chain and records received messages. */
export class FakePeer implements Peer {
  readonly id = peerId(connections++)
  readonly type: ConnectionType
  readonly inbound: boolean
  readonly address: NetAddress = { network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 1) }
  readonly port = 18_444
  readonly name: string
  readonly permissions: ReadonlySet<Permission>
  readonly bind = undefined
  readonly connectedAt = 0
  readonly hello: Hello
  readonly features: Features = {
    sendHeaders: false,
    compactBlocks: "none",
    feeFilter: 0,
    relay: true,
    bloom: undefined
  }
  /** Ticks of the sync since the peer was connected: each reads its traffic. */
  ticks = 0
  /** Bytes received from it, as the sync sees them. */
  bytes = 0
  readonly traffic = trafficOf(() => {
    this.ticks++
    return this.bytes
  })
  readonly latency = { last: undefined, best: undefined, waiting: undefined }
  readonly memory = ampleAccount()
  readonly sent: Array<Message> = []
  /** Milliseconds charged to it. */
  charged = 0
  /** Verdicts on blocks that were requested from it. */
  readonly verdicts: Array<boolean> = []
  disconnection: Disconnection | undefined
  readonly served: ServedBlocks
  private readonly options: FakePeerOptions
  private readonly inbox = Effect.runSync(Queue.unbounded<Message>())

  constructor(served: ServedBlocks, options: FakePeerOptions = {}) {
    const { commonVersion = 110_016, services = Services.network | Services.witness, type = "manual" } = options
    this.served = served
    this.options = options
    this.type = type
    this.permissions = new Set(options.permissions)
    this.inbound = type === "inbound"
    this.name = `fake ${this.id}`
    this.hello = {
      version: commonVersion,
      commonVersion,
      services,
      userAgent: "/fake:1/",
      startHeight: served.best.length - 1,
      relay: true,
      timeOffset: 0,
      wtxidRelay: true,
      addrV2: true,
      ourAddress: undefined
    }
  }

  get closed(): boolean {
    return this.disconnection !== undefined
  }

  readonly post = (message: Message): void => {
    if (this.closed) return
    this.sent.push(message)
    this.inbox.unsafeOffer(message)
  }

  readonly send = (message: Message): Effect.Effect<void> => Effect.sync(() => this.post(message))

  readonly ready = Effect.void

  readonly spent = (milliseconds: number): void => void (this.charged += milliseconds)

  readonly judged = (good: boolean): void => void this.verdicts.push(good)

  readonly turn = Effect.void

  readonly disconnect = (disconnection: Disconnection): void => {
    if (disconnection.misbehaving && this.permissions.has("noban")) return
    this.disconnection ??= disconnection
    this.inbox.unsafeOffer({ type: "verack" })
  }

  /** The messages of one type sent to it. */
  got<C extends MessageCommand>(type: C): ReadonlyArray<MessageOf<C>> {
    return this.sent.filter((message): message is MessageOf<C> => message.type === type)
  }

  /** Hashes of the blocks requested from it, in hex. */
  get askedBlocks(): ReadonlyArray<string> {
    return this.got("getdata").flatMap(({ items }) => [...items].filter(isBlockItem).map(({ hash }) => toHex(hash)))
  }

  private answers(message: Message): ReadonlyArray<Message> {
    const { headers = true, lacks = () => false, serve = (block) => block } = this.options
    if (message.type === "getheaders") {
      return headers ? [{ type: "headers", headers: this.served.after(message.locator) }] : []
    }
    if (message.type !== "getdata") return []
    return [...message.items].flatMap((item): ReadonlyArray<Message> => {
      const known = this.served.find(item.hash)
      const height = known === undefined ? -1 : this.served.best.indexOf(known)
      if (known === undefined || lacks(height)) return [{ type: "notfound", items: [item] }]
      const block = serve(known, height)
      return block === undefined ? [] : [{ type: "block", block }]
    })
  }

  /** Runs until the peer is disconnected. */
  readonly live = (handler: MessagePart): Effect.Effect<void> =>
    Effect.gen(this, function*() {
      yield* handler.connected(this)
      while (!this.closed) {
        const message = yield* Queue.take(this.inbox)
        if (this.options.latency !== undefined) yield* Effect.sleep(this.options.latency)
        for (const answer of this.answers(message)) {
          if (!this.closed) yield* receive(handler, this, answer)
        }
      }
    }).pipe(Effect.ensuring(Effect.suspend(() => handler.gone(this))))
}
