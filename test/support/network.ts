import { Effect, type Scope } from "effect"
import type { ConnectionType, Disconnection, Features, Hello, Peer } from "../../src/network/Peer.ts"
import { formatEndpoint } from "../../src/network/wire/addressText.ts"
import { FrameParser } from "../../src/network/wire/framing.ts"
import {
  decodeMessage,
  encodeMessage,
  type Message,
  type MessageCommand,
  type MessageOf
} from "../../src/network/wire/message.ts"
import { Services, type Version } from "../../src/network/wire/messages/version.ts"
import type { NetAddress } from "../../src/network/wire/netAddress.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { peerId } from "../../src/protocol/keys.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { eventually, inTime } from "./eventually.ts"
import { Loopback, type RemoteSocket } from "./Loopback.ts"
import { ampleAccount } from "./memory.ts"

/** Peers for tests: scripted ones over loopback, and one that only records what it is sent. */

const NOWHERE: NetAddress = { network: "ipv6", bytes: new Uint8Array(16) }

/** A `version` as a full node of our own protocol version sends it. */
export const versionMessage = (changes: Partial<Version> = {}): Version => ({
  type: "version",
  version: 110_016,
  services: Services.network | Services.witness | Services.networkLimited,
  time: Math.floor(Date.now() / 1000),
  receiver: { services: 0n, address: NOWHERE, port: 0 },
  sender: {
    address: { services: 0n, address: NOWHERE, port: 0 },
    nonce: BigInt(1 + Math.floor(Math.random() * 2 ** 48))
  },
  userAgent: "/remote:1.0/",
  startHeight: 0,
  relay: true,
  ...changes
})

export interface HandshakeOptions {
  /** Fields of the `version` that differ. */
  readonly version?: Partial<Version>
  /** The messages between `version` and `verack`. */
  readonly features?: ReadonlyArray<Message>
}

/** The other end of a connection: sends what a test orders and keeps what it receives. */
export class RemotePeer {
  readonly socket: RemoteSocket
  /** Every message so far, in order. */
  readonly received: Array<Message> = []
  /** Whether the other side closed the connection. */
  closed = false
  bytesReceived = 0
  private readonly magic: Bytes
  private taken = 0
  private readonly changed = new Set<() => void>()

  constructor(socket: RemoteSocket, magic: Bytes = regtest.magic) {
    this.socket = socket
    this.magic = magic
    const parser = new FrameParser(magic)
    socket.setNoDelay(true)
    socket.on("data", (chunk) => {
      this.bytesReceived += chunk.length
      for (const framed of parser.push(chunk)) {
        if (framed.type === "frame") this.received.push(decodeMessage(framed.command, framed.payload))
      }
      this.tell()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      this.closed = true
      this.tell()
    })
  }

  send(...messages: ReadonlyArray<Message>): Effect.Effect<void> {
    return Effect.sync(() => {
      for (const message of messages) this.socket.write(encodeMessage(this.magic, message))
    })
  }

  sendBytes(bytes: Bytes): Effect.Effect<void> {
    return Effect.sync(() => void this.socket.write(bytes))
  }

  /**
   * Waits for the next message of a type that matches, and consumes it and all before it: the next `expect` reads what
   * came later.
   */
  expect<C extends MessageCommand>(
    type: C,
    fits: (message: MessageOf<C>) => boolean = () => true
  ): Effect.Effect<MessageOf<C>> {
    const isType = (message: Message): message is MessageOf<C> & Message => message.type === type
    return this.await(`a ${type}`, () => {
      for (let at = this.taken; at < this.received.length; at++) {
        const message = this.received[at]
        if (message === undefined || !isType(message) || !fits(message)) continue
        this.taken = at + 1
        return message
      }
      return undefined
    })
  }

  /** Messages of a type so far. */
  count(type: MessageCommand): number {
    return this.received.filter((message) => message.type === type).length
  }

  /** Checks with a `ping` that the other side answers: it has then handled all that was sent before. */
  readonly alive: Effect.Effect<void> = Effect.suspend(() => {
    const nonce = BigInt(Math.floor(Math.random() * 2 ** 52))
    return Effect.zipRight(
      this.send({ type: "ping", nonce }),
      this.await(
        "a pong",
        () => this.received.some((message) => message.type === "pong" && message.nonce === nonce) ? true : undefined
      )
    )
  })

  /** Waits until the other side ends the connection. */
  readonly disconnected: Effect.Effect<void> = Effect.suspend(() =>
    this.await("the end of the connection", () => this.closed ? true : undefined, true)
  )

  /** Completes the handshake of the side that called; returns the other side's `version`. */
  readonly call = (options: HandshakeOptions = {}): Effect.Effect<Version> =>
    Effect.gen(this, function*() {
      yield* this.send(versionMessage(options.version))
      const theirs = yield* this.expect("version")
      yield* this.send(...(options.features ?? []), { type: "verack" })
      yield* this.expect("verack")
      return theirs
    })

  /** Completes the handshake of the side that was called. */
  readonly answer = (options: HandshakeOptions = {}): Effect.Effect<Version> =>
    Effect.gen(this, function*() {
      const theirs = yield* this.expect("version")
      yield* this.send(versionMessage(options.version), ...(options.features ?? []), { type: "verack" })
      yield* this.expect("verack")
      return theirs
    })

  /** Ends the connection. */
  readonly close: Effect.Effect<void> = Effect.sync(() => void this.socket.destroy())

  private tell(): void {
    for (const look of [...this.changed]) look()
  }

  /** Waits until `find` finds something. */
  private await<A>(what: string, find: () => A | undefined, orClosed = false): Effect.Effect<A> {
    return inTime(
      Effect.async<A>((resume) => {
        const look = (): void => {
          const found = find()
          if (found === undefined && (!this.closed || orClosed)) return
          this.changed.delete(look)
          resume(found === undefined ? Effect.dieMessage(`${what}: the connection is closed`) : Effect.succeed(found))
        }
        this.changed.add(look)
        look()
        return Effect.sync(() => void this.changed.delete(look))
      }),
      what
    )
  }
}

/** Calls a port on loopback. */
export const remotePeer = (
  port: number,
  { from, host = "127.0.0.1", magic }: { readonly host?: string; readonly from?: string; readonly magic?: Bytes } = {}
): Effect.Effect<RemotePeer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { connect } = yield* Loopback
    return new RemotePeer(yield* connect({ host, port }, from), magic)
  })

/** A listener on loopback that keeps the incoming connections. */
export interface RemoteListener {
  readonly port: number
  /** All so far. */
  readonly connections: ReadonlyArray<RemotePeer>
  /** Waits for the next connection that was not consumed yet. */
  readonly accept: Effect.Effect<RemotePeer>
}

/** Listens on loopback, for a node to call. */
export const remoteListener = (
  { host = "127.0.0.1", magic, port = 0 }: {
    readonly port?: number
    readonly host?: string
    readonly magic?: Bytes
  } = {}
): Effect.Effect<RemoteListener, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { listen } = yield* Loopback
    const connections: Array<RemotePeer> = []
    let taken = 0
    const bound = yield* listen({ host, port }, (socket) => void connections.push(new RemotePeer(socket, magic)))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const { socket } of connections) socket.destroy()
      })
    )
    const accept = Effect.suspend(() => {
      const index = taken++
      return Effect.map(eventually("a call", () => connections.length > index), () => {
        const remote = connections[index]
        if (remote === undefined) throw new Error("the call is gone")
        return remote
      })
    })
    return { port: bound.port, connections, accept }
  })

export interface FakePeerOptions {
  readonly id?: number
  readonly type?: ConnectionType
  readonly address?: NetAddress
  readonly port?: number
  readonly hello?: Partial<Hello>
  readonly features?: Partial<Features>
  readonly connectedAt?: number
}

/** A peer without a connection, for tests of message handlers. */
export interface FakePeer {
  readonly peer: Peer
  /** What was sent or posted, in order. */
  readonly sent: Array<Message>
  /** Why it was disconnected; `undefined` as long as it was not. */
  readonly disconnection: () => Disconnection | undefined
  /** Returns the messages of a type that were sent, and removes them. */
  readonly take: <C extends MessageCommand>(type: C) => ReadonlyArray<MessageOf<C>>
}

let nextId = 0

export const fakePeer = (options: FakePeerOptions = {}): FakePeer => {
  const id = options.id ?? nextId++
  const { address = { network: "ipv4", bytes: Uint8Array.of(8, 8, id >> 8 & 0xff, id & 0xff) }, port = 8334 } = options
  const type = options.type ?? "outbound-full-relay"
  const sent: Array<Message> = []
  let disconnection: Disconnection | undefined
  const post = (message: Message): void => {
    if (disconnection === undefined) sent.push(message)
  }
  const peer: Peer = {
    id: peerId(id),
    type,
    inbound: type === "inbound",
    address,
    port,
    name: formatEndpoint(address, port),
    permissions: new Set(),
    bind: undefined,
    connectedAt: options.connectedAt ?? 0,
    hello: {
      version: 110_016,
      commonVersion: 110_016,
      services: Services.network | Services.witness | Services.networkLimited,
      userAgent: "/fake:1.0/",
      startHeight: 0,
      relay: true,
      timeOffset: 0,
      wtxidRelay: true,
      addrV2: true,
      ourAddress: undefined,
      ...options.hello
    },
    features: {
      sendHeaders: false,
      compactBlocks: "none",
      feeFilter: 0,
      relay: true,
      bloom: undefined,
      ...options.features
    },
    traffic: {
      bytesSent: 0,
      bytesReceived: 0,
      lastSend: 0,
      lastReceive: 0,
      sentByCommand: new Map(),
      receivedByCommand: new Map()
    },
    memory: ampleAccount(),
    ready: Effect.void,
    spent: () => {},
    judged: () => {},
    turn: Effect.void,
    latency: { last: undefined, best: undefined, waiting: undefined },
    get closed() {
      return disconnection !== undefined
    },
    send: (message) => Effect.sync(() => post(message)),
    post,
    disconnect: (why) => {
      disconnection ??= why
    }
  }
  return {
    peer,
    sent,
    disconnection: () => disconnection,
    take: <C extends MessageCommand>(wanted: C) => {
      const isWanted = (message: Message): message is MessageOf<C> & Message => message.type === wanted
      const taken = sent.filter(isWanted)
      sent.splice(0, sent.length, ...sent.filter((message) => !isWanted(message)))
      return taken
    }
  }
}
