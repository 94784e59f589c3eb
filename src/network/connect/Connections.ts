import * as Effect from "effect/Effect"
import { formatHostPort } from "../../base/addresses.ts"
import { withLoneSpan } from "../../base/spans.ts"
import { misbehavingPeers } from "../../metrics/metrics.ts"
import { type PeerId, peerId } from "../../protocol/keys.ts"
import type { ConnectionType, Disconnection, Hello, Peer } from "../Peer.ts"
import type { Introduction } from "../peer/Handshake.ts"
import { type ConnectionContext, type ConnectionFacts, PeerConnection } from "../peer/PeerConnection.ts"
import { parseNetAddress } from "../wire/addressText.ts"
import { Services } from "../wire/messages/version.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import type { PeerStream } from "./Transport.ts"

export interface ConnectionOutcome {
  readonly disconnection: Disconnection
  /** `undefined` if the handshake was not completed. */
  readonly hello: Hello | undefined
  /** Milliseconds. */
  readonly lasted: number
  /** Whether the connection reached this node itself. */
  readonly self: boolean
}

export type ConnectionPlan = Pick<
  ConnectionFacts,
  "type" | "address" | "port" | "name" | "expectedServices" | "permissions"
>

export interface ConnectionsOptions {
  readonly context: ConnectionContext
  readonly introduce: () => Omit<Introduction, "nonce" | "isOwnNonce">
  /** Runs after the handshake, before the handlers receive the peer. */
  readonly opened: (connection: PeerConnection, peer: Peer) => void
  readonly misbehaved: (facts: ConnectionFacts) => void
}

const SELF: Disconnection = { reason: "self connection: the peer is this node", misbehaving: false }

const TESTED: Disconnection = { reason: "feeler connection: the address was tested", misbehaving: false }

/** Drops the interface name of a link-local IPv6 address. */
export const socketAddress = (text: string | undefined): NetAddress | undefined =>
  text === undefined ? undefined : parseNetAddress(text.replace(/%.*$/, ""))

/** Includes connections before the handshake. */
export class Connections {
  private readonly options: ConnectionsOptions
  private readonly byId = new Map<PeerId, PeerConnection>()
  /** Outbound connections by the nonces in their `version`. */
  private readonly calls = new Map<bigint, PeerConnection>()
  private made = 0

  constructor(options: ConnectionsOptions) {
    this.options = options
  }

  get all(): ReadonlyArray<PeerConnection> {
    return Array.from(this.byId.values()).filter(({ closed }) => !closed)
  }

  get peers(): ReadonlyArray<Peer> {
    return this.all.flatMap(({ facts, peer }) => peer === undefined || facts.type === "feeler" ? [] : [peer])
  }

  count(type: ConnectionType): number {
    return this.all.filter(({ facts }) => facts.type === type).length
  }

  find(id: number): PeerConnection | undefined {
    return this.all.find(({ facts }) => facts.id === id)
  }

  run(socket: PeerStream, plan: ConnectionPlan): Effect.Effect<ConnectionOutcome> {
    return Effect.gen(this, function*() {
      const nonce = this.options.context.nonce()
      const introduction = this.options.introduce()
      const services = introduction.services | (plan.permissions.has("bloomfilter") ? Services.bloom : 0n)
      const blocksOnly = introduction.blocksOnly === true && !plan.permissions.has("relay")
      const connection = yield* PeerConnection.make(socket, {
        ...plan,
        id: peerId(this.made++),
        bind: bindOf(socket),
        introduction: { ...introduction, services, blocksOnly, nonce, isOwnNonce: (theirs) => this.isOwn(theirs) }
      }, this.options.context)
      return yield* Effect.acquireUseRelease(
        Effect.sync(() => this.enter(connection, nonce)),
        () => connection.run((peer) => this.opened(connection, peer)),
        () => Effect.sync(() => this.leave(connection, nonce))
      ).pipe(
        Effect.map((disconnection): ConnectionOutcome => ({
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
        }),
        withLoneSpan("svcd.network.session", { attributes: { peer: connection.facts.id, type: plan.type } })
      )
    })
  }

  private enter(connection: PeerConnection, nonce: bigint): void {
    this.byId.set(connection.facts.id, connection)
    if (connection.facts.type !== "inbound") this.calls.set(nonce, connection)
  }

  private leave({ facts }: PeerConnection, nonce: bigint): void {
    this.byId.delete(facts.id)
    this.calls.delete(nonce)
  }

  private isOwn(nonce: bigint): boolean {
    const call = this.calls.get(nonce)
    call?.disconnect(SELF)
    return call !== undefined
  }

  private opened(connection: PeerConnection, peer: Peer): Effect.Effect<void> {
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

const logEnd = ({ facts, peer }: PeerConnection, { disconnection }: ConnectionOutcome): Effect.Effect<void> =>
  peer === undefined || facts.type === "feeler"
    ? Effect.logDebug("connection ended", { peer: facts.name, reason: disconnection.reason })
    : Effect.logInfo("peer disconnected", { peer: facts.name, reason: disconnection.reason })

const bindOf = ({ localAddress, localPort }: PeerStream): string | undefined =>
  localAddress === undefined || localPort === undefined
    ? undefined
    : formatHostPort({ host: localAddress.replace(/^::ffff:(?=\d+\.)/, ""), port: localPort })
