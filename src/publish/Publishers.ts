import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { ZmqSettings } from "../config/zmqOptions.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Notice } from "./Publication.ts"
import { loadZeroMq, openPublisher, type PublisherSocket, type ZeroMqMissing } from "./zeroMq.ts"

/** The ZeroMQ publishers of the node (`-zmqpub…`). */
export class Publishers extends Context.Tag("svcd/Publishers")<Publishers, {
  /** The publishers, with addresses in libzmq's form. Empty if one could not be opened. */
  readonly active: ReadonlyArray<ZmqSettings>
  /** Hands messages to the sockets, in order, and returns at once. */
  readonly publish: (messages: Iterable<Notice>) => void
}>() {}

const UNIX = "unix:"

/** libzmq calls a Unix socket `ipc://`. */
const addressOf = (address: string): string =>
  address.startsWith(UNIX) ? `ipc://${address.slice(UNIX.length)}` : address

/** Messages that wait for a socket, which sends one at a time. Further ones are dropped, with a gap in the numbers. */
const MOST_WAITING = 10_000

/** The socket of an address, shared by its topics. */
class Line {
  readonly #socket: PublisherSocket
  readonly #failed: (reason: string) => void
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(socket: PublisherSocket, failed: (reason: string) => void) {
    this.#socket = socket
    this.#failed = failed
  }

  send(parts: ReadonlyArray<string | Bytes>): void {
    if (this.#waiting >= MOST_WAITING) return
    this.#waiting++
    this.#last = this.#last
      .then(() => this.#socket.send(parts))
      .catch((cause: unknown) => this.#failed(textOf(cause)))
      .finally(() => void this.#waiting--)
  }
}

interface Publisher extends ZmqSettings {
  readonly line: Line
  number: number
}

const numberBytes = (number: number): Bytes => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, number, true)
  return bytes
}

const NONE: typeof Publishers.Service = { active: [], publish: () => undefined }

class Refused extends Data.TaggedError("PublisherRefused")<{
  readonly option: string
  readonly address: string
  readonly reason: string
}> {}

const textOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const open = (wanted: ReadonlyArray<ZmqSettings>) =>
  Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const library = yield* loadZeroMq(`-zmqpub${wanted[0]?.topic ?? ""}`)
    const lines = new Map<string, Line>()
    const publishers: Array<Publisher> = []
    for (const { address: given, hwm, topic } of wanted) {
      const address = addressOf(given)
      const line = lines.get(address) ?? new Line(
        yield* openPublisher(library, { address, hwm }).pipe(
          Effect.mapError(({ cause }) =>
            new Refused({ option: `-zmqpub${topic}`, address: given, reason: textOf(cause) })
          )
        ),
        (reason) => void log(Effect.logWarning("message not published", { address, reason }))
      )
      lines.set(address, line)
      publishers.push({ topic, address, hwm, line, number: 0 })
    }
    return publishers
  })

/** As upstream (`Initialize`), one unusable address leaves the node without publishers. */
const make = (
  wanted: ReadonlyArray<ZmqSettings>
): Effect.Effect<typeof Publishers.Service, ZeroMqMissing, Scope.Scope> =>
  Effect.gen(function*() {
    if (wanted.length === 0) return NONE
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const publishers = yield* Scope.extend(open(wanted), scope).pipe(
      Effect.catchTag("PublisherRefused", ({ address, option, reason }) =>
        Effect.logError("nothing is published by ZeroMQ: an address cannot be used", {
          option,
          address,
          reason,
          allowed: "tcp://HOST:PORT of this machine with a free port, or unix:PATH"
        }).pipe(Effect.zipRight(Scope.close(scope, Exit.void)), Effect.as([])))
    )
    return {
      active: publishers,
      publish: (messages) => {
        for (const { body, topic } of messages) {
          for (const publisher of publishers) {
            if (publisher.topic !== topic) {
              continue
            }
            publisher.line.send([topic, body, numberBytes(publisher.number)])
            publisher.number = (publisher.number + 1) % 2 ** 32
          }
        }
      }
    }
  })

export const layer = (wanted: ReadonlyArray<ZmqSettings>): Layer.Layer<Publishers, ZeroMqMissing> =>
  Layer.scoped(Publishers, make(wanted))

export const layerSilent: Layer.Layer<Publishers> = Layer.succeed(Publishers, NONE)
