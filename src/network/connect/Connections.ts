import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import { formatAddress } from "../../base/addresses.ts"
import { misbehavingPeers } from "../../metrics/metrics.ts"
import type { ConnectionType, Disconnection, Hello, Peer } from "../Peer.ts"
import { Connection, type ConnectionContext, type ConnectionFacts } from "../peer/Connection.ts"
import type { Introduction } from "../peer/Handshake.ts"
import { parseAddress } from "../wire/addressText.ts"
import type { NetAddress } from "../wire/netAddress.ts"

/** What came of a connection. */
export interface Outcome {
  readonly disconnection: Disconnection
  /** `undefined` where the handshake did not come to its end. */
  readonly hello: Hello | undefined
  /** Milliseconds. */
  readonly lasted: number
  /** Whether it was ourselves who answered. */
  readonly self: boolean
}

/** What a connection is to be. */
export type Plan = Pick<ConnectionFacts, "type" | "address" | "port" | "name" | "expectedServices">

export interface ConnectionsOptions {
  readonly context: ConnectionContext
  /** What we say of ourselves, as it is now. */
  readonly introduce: () => Omit<Introduction, "nonce" | "isOwnNonce">
  /** Runs when a handshake is complete, before the handlers hear of the peer. */
  readonly opened: (connection: Connection, peer: Peer) => void
  /** Runs when a connection ended because the peer broke the rules. */
  readonly misbehaved: (facts: ConnectionFacts) => void
}

/** How a call of our own ends that we answer ourselves. */
const SELF: Disconnection = { reason: "self connection: it is this node", misbehaving: false }

const TESTED: Disconnection = { reason: "feeler connection: the address was tested", misbehaving: false }

/** An address of a socket. Link-local IPv6 comes with the name of its interface, which is left out. */
export const socketAddress = (text: string | undefined): NetAddress | undefined =>
  text === undefined ? undefined : parseAddress(text.replace(/%.*$/, ""))

/** All connections of the node, from the moment there is a socket. */
export class Connections {
  private readonly options: ConnectionsOptions
  private readonly byId = new Map<number, Connection>()
  /** Calls of our own by the nonces that they carry. */
  private readonly calls = new Map<bigint, Connection>()
  private nextId = 0

  constructor(options: ConnectionsOptions) {
    this.options = options
  }

  /** Those that are not ending. */
  get all(): ReadonlyArray<Connection> {
    return Array.from(this.byId.values()).filter(({ closed }) => !closed)
  }

  /** Peers whose handshake is complete. */
  get peers(): ReadonlyArray<Peer> {
    return this.all.flatMap(({ facts, peer }) => peer === undefined || facts.type === "feeler" ? [] : [peer])
  }

  count(type: ConnectionType): number {
    return this.all.filter(({ facts }) => facts.type === type).length
  }

  find(id: number): Connection | undefined {
    return this.all.find(({ facts }) => facts.id === id)
  }

  /** Runs a connection over a socket to its end. */
  run(socket: Socket, plan: Plan): Effect.Effect<Outcome> {
    return Effect.gen(this, function*() {
      const nonce = this.options.context.nonce()
      const connection = yield* Connection.make(socket, {
        ...plan,
        id: this.nextId++,
        bind: bindOf(socket),
        introduction: { ...this.options.introduce(), nonce, isOwnNonce: (theirs) => this.isOwn(theirs) }
      }, this.options.context)
      return yield* Effect.acquireUseRelease(
        Effect.sync(() => this.enter(connection, nonce)),
        () => connection.run((peer) => this.opened(connection, peer)),
        () => Effect.sync(() => this.leave(connection, nonce))
      ).pipe(
        Effect.map((disconnection): Outcome => ({
          disconnection,
          hello: connection.peer?.hello,
          lasted: connection.age,
          self: disconnection === SELF
        })),
        Effect.tap((outcome) => {
          if (outcome.disconnection.misbehaving) {
            misbehavingPeers.increase()
            this.options.misbehaved(connection.facts)
          }
          return logEnd(connection, outcome)
        })
      )
    })
  }

  private enter(connection: Connection, nonce: bigint): void {
    this.byId.set(connection.facts.id, connection)
    if (connection.facts.type !== "inbound") this.calls.set(nonce, connection)
  }

  private leave({ facts }: Connection, nonce: bigint): void {
    this.byId.delete(facts.id)
    this.calls.delete(nonce)
  }

  private isOwn(nonce: bigint): boolean {
    const call = this.calls.get(nonce)
    call?.disconnect(SELF)
    return call !== undefined
  }

  private opened(connection: Connection, peer: Peer): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.options.opened(connection, peer)
      if (peer.type === "feeler") {
        connection.disconnect(TESTED)
        return Effect.void
      }
      return Effect.logInfo("peer connected", {
        peer: peer.name,
        direction: peer.inbound ? "inbound" : "outbound",
        type: peer.type,
        userAgent: peer.hello.userAgent,
        version: peer.hello.version,
        height: peer.hello.startHeight
      })
    })
  }
}

const logEnd = ({ facts, peer }: Connection, { disconnection }: Outcome): Effect.Effect<void> =>
  peer === undefined || facts.type === "feeler"
    ? Effect.logDebug("connection ended", { peer: facts.name, reason: disconnection.reason })
    : Effect.logInfo("peer disconnected", { peer: facts.name, reason: disconnection.reason })

const bindOf = ({ localAddress, localPort }: Socket): string | undefined =>
  localAddress === undefined || localPort === undefined
    ? undefined
    : formatAddress({ host: localAddress.replace(/^::ffff:(?=\d+\.)/, ""), port: localPort })
