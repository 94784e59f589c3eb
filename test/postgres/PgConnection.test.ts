import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createServer, type Server } from "node:net"
import { connectTo } from "../../src/postgres/PgConnection.ts"

/** A message of PostgreSQL: its type, its length, and what it has. */
const message = (type: string, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const numberOf = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeIntBE(value, 0, bytes)
  return buffer
}

/** A pool that names a process of its own to each client, and lends all of them the same one of the server. */
const sharedPool = Effect.acquireRelease(
  Effect.promise(() =>
    new Promise<Server>((resolve) => {
      let clients = 0
      const ready = message("Z", Buffer.from("I"))
      const pid = Buffer.from("4711")
      const row = Buffer.concat([
        // One column "pid": no table, type integer, text.
        message(
          "T",
          numberOf(1, 2),
          Buffer.from("pid\0"),
          Buffer.alloc(6),
          numberOf(23, 4),
          numberOf(4, 2),
          Buffer.alloc(6)
        ),
        message("D", numberOf(1, 2), numberOf(pid.length, 4), pid),
        message("C", Buffer.from("SELECT 1\0")),
        ready
      ])
      const listener = createServer((socket) => {
        const key = message("K", numberOf(++clients, 4), Buffer.alloc(4))
        socket.once("data", () => {
          socket.write(Buffer.concat([message("R", Buffer.alloc(4)), key, ready]))
          socket.on("data", (bytes) => bytes.toString("latin1", 0, 1) === "Q" ? socket.write(row) : socket.end())
        })
        socket.on("error", () => {})
      })
      listener.listen(0, "127.0.0.1", () => resolve(listener))
    })
  ),
  (listener) => Effect.sync(() => void listener.close())
)

describe("connectTo", () => {
  it.scopedLive("refuses a pool that lends its connections to many clients", () =>
    Effect.gen(function*() {
      const address = (yield* sharedPool).address()
      const port = typeof address === "object" ? address?.port : undefined
      const target = { shown: "pool", url: Redacted.make(`postgres://svcd@127.0.0.1:${port}/names`) }
      const { message: words } = yield* Effect.flip(connectTo(target))
      assert.include(words, "a pool that lends each of its connections to many clients")
      assert.include(words, "Give the address of PostgreSQL itself")
    }))
})
