import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { FrameParser } from "../../../src/network/wire/framing.ts"
import { decodeMessage, encodeMessage, type Message, type MessageCommand } from "../../../src/network/wire/message.ts"
import { Services } from "../../../src/network/wire/messages/version.ts"
import type { NetAddress } from "../../../src/network/wire/netAddress.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import type { Endpoint } from "./SimConnection.ts"
import type { SimNetwork } from "./SimNetwork.ts"
import type { SimSocket } from "./SimSocket.ts"

/** A peer that only a script runs: it sends what the script says, and answers what the script answers. */

const NOWHERE: NetAddress = { network: "ipv6", bytes: new Uint8Array(16) }

/** How long a script waits for a call. */
const PATIENCE = "1 minute"

/** What a script does with a message. */
export type Answer = (message: Message) => ReadonlyArray<Message>

export interface ScriptOptions {
  readonly network: SimNetwork
  /** The address of the peer. */
  readonly from: string
  readonly to: Endpoint
  /** The time of day, in milliseconds since 1970. */
  readonly time: () => number
  readonly nonce: bigint
  readonly answer: Answer
}

export class ScriptedPeer {
  isClosed = false
  private readonly socket: SimSocket
  private readonly waiting = new Set<() => void>()
  private readonly seen = new Set<MessageCommand | "unknown">()

  constructor(socket: SimSocket, answer: Answer) {
    this.socket = socket
    const parser = new FrameParser(regtest.magic)
    socket.on("data", (chunk: Uint8Array) => {
      for (const framed of parser.push(chunk)) {
        if (framed.type !== "frame") continue
        const message = decodeMessage(framed.command, framed.payload)
        this.seen.add(message.type)
        if (message.type === "ping") this.send({ type: "pong", nonce: message.nonce })
        this.send(...answer(message))
      }
      this.tell()
    })
    socket.on("close", () => {
      this.isClosed = true
      this.tell()
    })
  }

  send(...messages: ReadonlyArray<Message>): void {
    for (const message of messages) if (!this.isClosed) this.socket.write(encodeMessage(regtest.magic, message))
  }

  /** Waits until the other side has sent such a message, or has ended the connection. */
  has(type: MessageCommand): Effect.Effect<void> {
    return Effect.async((resume) => {
      const look = (): void => {
        if (!this.isClosed && !this.seen.has(type)) return
        this.waiting.delete(look)
        resume(Effect.void)
      }
      this.waiting.add(look)
      look()
      return Effect.sync(() => void this.waiting.delete(look))
    })
  }

  private tell(): void {
    for (const look of [...this.waiting]) look()
  }
}

const connected = ({ answer, from, network, to }: ScriptOptions): Effect.Effect<ScriptedPeer, string, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): { socket: SimSocket | undefined; cancel: () => void } => ({ socket: undefined, cancel: () => {} })),
    (call) =>
      Effect.sync(() => {
        call.cancel()
        call.socket?.destroy()
      })
  ).pipe(Effect.flatMap((call) =>
    Effect.async<ScriptedPeer, string>((resume) => {
      call.cancel = network.dial(from, to, {
        connected: (socket) => {
          call.socket = socket
          resume(Effect.succeed(new ScriptedPeer(socket, answer)))
        },
        failed: (code) => resume(Effect.fail(code))
      })
    })
  ))

const shakeHands = (peer: ScriptedPeer, { nonce, time }: Pick<ScriptOptions, "nonce" | "time">) =>
  Effect.gen(function*() {
    const services = Services.network | Services.witness
    peer.send({
      type: "version",
      version: 110_016,
      services,
      time: Math.floor(time() / 1000),
      receiver: { services: 0n, address: NOWHERE, port: 0 },
      sender: { address: { services, address: NOWHERE, port: 0 }, nonce },
      userAgent: "/script:1.0/",
      startHeight: 0,
      relay: true
    })
    yield* peer.has("version")
    peer.send({ type: "verack" })
    yield* peer.has("verack")
    if (peer.isClosed) return yield* Effect.fail("EPROTO")
    return peer
  })

/** Calls a node and completes the handshake. Fails with the code of the system, or `EPROTO`. */
export const scriptedPeer = (options: ScriptOptions): Effect.Effect<ScriptedPeer, string, Scope.Scope> =>
  Effect.flatMap(connected(options), (peer) => shakeHands(peer, options))

/** The port at which a scripted peer is called. */
export const SCRIPT_PORT = 18_446

/** Waits until a node has called, once `invite` made it, and completes the handshake. Fails with `EPROTO`. */
export const calledPeer = <E>(
  { answer, from, network, ...options }: Omit<ScriptOptions, "to">,
  invite: Effect.Effect<void, E>
): Effect.Effect<ScriptedPeer, E | string, Scope.Scope> =>
  Effect.gen(function*() {
    const called = yield* Deferred.make<SimSocket>()
    const at = { host: from, port: SCRIPT_PORT }
    yield* Effect.acquireRelease(
      Effect.sync(() => network.listen(at, (socket) => Deferred.unsafeDone(called, Effect.succeed(socket)))),
      (stop) => Effect.sync(() => stop?.())
    )
    yield* invite
    const socket = yield* Effect.acquireRelease(
      Effect.timeoutFail(Deferred.await(called), { duration: PATIENCE, onTimeout: () => "ETIMEDOUT" }),
      (connection) => Effect.sync(() => void connection.destroy())
    )
    return yield* shakeHands(new ScriptedPeer(socket, answer), options)
  })
