import { Deferred, Effect, Fiber } from "effect"
import { type MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { type PeerStream, Transport } from "../../../src/network/connect/Transport.ts"
import type { MessageTable } from "../../../src/network/messageTable.ts"
import type { Disconnection, Peer, PeerHandler } from "../../../src/network/Peer.ts"
import { Pace } from "../../../src/network/peer/Pace.ts"
import {
  type ConnectionContext,
  type ConnectionFacts,
  OUTBOX_LIMITS,
  PeerConnection
} from "../../../src/network/peer/PeerConnection.ts"
import { Turns } from "../../../src/network/peer/Turns.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { inTime } from "../../support/eventually.ts"
import { ampleBudget } from "../../support/memory.ts"
import { type RemotePeer, remotePeer } from "../../support/network.ts"
import { messagesTo } from "../../support/receive.ts"

/** A connection and its remote end. */
export interface Pair {
  readonly connection: PeerConnection
  readonly remote: RemotePeer
  readonly ended: Effect.Effect<Disconnection>
  readonly fiber: Fiber.RuntimeFiber<Disconnection>
  /** The peer after the handshake. */
  readonly opened: Effect.Effect<Peer>
  readonly context: ConnectionContext
}

export const UP: ConnectionFacts["introduction"] = {
  services: 0x409n,
  userAgent: "/svcd:test/",
  startHeight: 7,
  nonce: 99n,
  isOwnNonce: () => false,
  nearTip: false
}

/** A handler of peers and of all their messages. */
export interface TestHandler extends PeerHandler {
  readonly received: (peer: Peer, message: Message) => Effect.Effect<void>
}

export interface PairOptions {
  readonly handlers?: ReadonlyArray<TestHandler>
  /** Gives each message to the handlers by default. */
  readonly messages?: MessageTable
  readonly facts?: Partial<ConnectionFacts>
  readonly outbox?: ConnectionContext["outbox"]
  readonly pace?: Pace
  readonly budget?: MemoryBudget
  /** The time measurement; it stands still by default. */
  readonly meter?: () => number
  readonly pardoned?: (reason: string) => void
}

export const pair = (options: PairOptions = {}) =>
  Effect.gen(function*() {
    const { handlers = [] } = options
    const arrived = yield* Deferred.make<PeerStream>()
    const { listen } = yield* Transport
    const { port } = yield* Effect.orDie(
      listen({ host: "127.0.0.1", port: 0 }, (stream) => Deferred.unsafeDone(arrived, Effect.succeed(stream)))
    )
    const remote = yield* remotePeer(port)
    let nonce = 0n
    const context: ConnectionContext = {
      magic: regtest.magic,
      handlers,
      messages: options.messages ?? messagesTo((peer, message) =>
        Effect.forEach(handlers, ({ received }) => received(peer, message), { discard: true })
      ),
      totals: { sent: 0, received: 0 },
      nonce: () => ++nonce,
      outbox: options.outbox ?? OUTBOX_LIMITS,
      pace: options.pace ?? new Pace(0),
      turns: new Turns(() => 0),
      meter: options.meter ?? (() => 0),
      budget: options.budget ?? ampleBudget(),
      peerTimeout: 60_000,
      pardoned: (_, offence) => void options.pardoned?.(offence.reason)
    }
    const connection = yield* PeerConnection.make(yield* Deferred.await(arrived), {
      id: peerId(1),
      type: "inbound",
      address: { network: "ipv4", bytes: Uint8Array.of(127, 0, 0, 1) },
      port: 1234,
      name: "127.0.0.1:1234",
      permissions: new Set(),
      bind: undefined,
      expectedServices: 0n,
      introduction: UP,
      ...options.facts
    }, context)
    const opened = yield* Deferred.make<Peer>()
    const fiber = yield* Effect.fork(connection.run((peer) => Effect.asVoid(Deferred.succeed(opened, peer))))
    const made: Pair = {
      connection,
      remote,
      context,
      fiber,
      ended: inTime(Fiber.join(fiber), "the end of the connection"),
      opened: inTime(Deferred.await(opened), "the handshake")
    }
    return made
  })

/** A pair after its handshake. */
export const openPair = (options: PairOptions = {}) =>
  Effect.gen(function*() {
    const made = yield* pair(options)
    yield* made.remote.call({ features: [{ type: "wtxidrelay" }, { type: "sendaddrv2" }] })
    yield* made.remote.expect("ping")
    return made
  })

/** A handler that records its calls. */
export const recorder = (changes: Partial<TestHandler> = {}) => {
  const heard: Array<string> = []
  const handler: TestHandler = {
    connected: () => Effect.sync(() => void heard.push("connected")),
    received: (_, message) => Effect.sync(() => void heard.push(message.type)),
    gone: () => Effect.sync(() => void heard.push("gone")),
    ...changes
  }
  return { heard, handler }
}
