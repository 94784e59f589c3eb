import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Socket } from "node:net"
import type { PermissionSettings } from "../../src/config/accessKinds.ts"
import { hashedUser } from "../../src/config/hashedUser.ts"
import { eventually } from "../support/eventually.ts"
import { postText, testServer } from "../support/rpcServer.ts"
import { COUNT, sent, together, untilInFlight } from "./manyCalls.ts"

/** Callers that take all places of the listener, and what others get. */

const user = (name: string) => Redacted.make(hashedUser({ user: name, password: Redacted.make(name) }))

const authorization = (name: string): string => `Basic ${Buffer.from(`${name}:${name}`).toString("base64")}`

const READS = ["getblockcount", "waitforever", "write"]

const permissions: PermissionSettings = {
  whitelists: [
    { user: "reader", words: READS },
    { user: "other", words: READS },
    { user: "operator", words: [...READS, "stop"] }
  ],
  rights: [],
  byDefault: undefined
}

const server = (limits: { readonly connections: number; readonly concurrentRequests: number }) =>
  testServer({
    hashedUsers: ["reader", "other", "operator"].map(user),
    permissions,
    // Calls that write go on to the end of a test.
    limits: { ...limits, stopTimeout: 50 }
  })

/** Opens a connection with one call. `fresh`: sent in two pieces, so that Node's server reads it. */
const calling = (port: number, name: string, call: object) =>
  Effect.gen(function*() {
    const socket: Socket = yield* sent(port, "")
    let received = ""
    socket.on("data", (part) => {
      received += part.toString("latin1")
    })
    socket.write(postText(JSON.stringify(call), `Authorization: ${authorization(name)}\r\n`))
    return { socket, received: () => received }
  })

const WAIT = { id: 1, method: "waitforever" }

describe("callers of one user that take all places", () => {
  it.scopedLive("leave the operator, other users, /health and /ready their places", () =>
    Effect.gen(function*() {
      const node = yield* server({ connections: 4, concurrentRequests: 8 })
      const { http, port, post } = node
      const other = yield* calling(port, "other", WAIT)
      yield* untilInFlight(node, 1)
      const waiting = yield* together(30, () => calling(port, "reader", WAIT))
      yield* eventually("the places of calls are full", () => node.dispatch.inFlight() === 8)
      for (const path of ["/health", "/ready"]) assert.strictEqual((yield* http({ path })).status, 200)
      for (const name of ["operator", "other", "reader"]) {
        assert.strictEqual((yield* post(COUNT, { headers: { authorization: authorization(name) } })).status, 200)
      }
      const late = yield* calling(port, "operator", WAIT)
      yield* eventually("a place for the operator", () => node.dispatch.inFlight() === 8)
      const ended = () => waiting.filter(({ received, socket }) => socket.destroyed || received() !== "")
      yield* eventually("the reader has lost the rest", () => ended().length >= 30 - 6)
      assert.include(waiting.map(({ received }) => received()).join(""), "503 Service Unavailable")
      assert.deepStrictEqual([other, late].map(({ received, socket }) => [received(), socket.destroyed]), [
        ["", false],
        ["", false]
      ])
    }))

  it.scopedLive("with calls that run to their end: leave other users half, and the operator more", () =>
    Effect.gen(function*() {
      const node = yield* server({ connections: 50, concurrentRequests: 8 })
      const { port, post } = node
      const slow = { id: 1, method: "write", params: [60_000] }
      const short = { id: 1, method: "write" }
      const tried = (name: string) =>
        Effect.map(post(short, { headers: { authorization: authorization(name) } }), ({ status }) => status)
      yield* together(10, () => calling(port, "reader", slow))
      yield* untilInFlight(node, 4)
      assert.deepStrictEqual([yield* tried("reader"), yield* tried("other")], [503, 200])
      yield* together(10, () => calling(port, "other", slow))
      yield* untilInFlight(node, 7)
      assert.deepStrictEqual([yield* tried("other"), yield* tried("operator")], [503, 200])
    }))

  it.scopedLive("are known by the last of 1,301 lines of headers, in the fast lane and in Node's server", () =>
    Effect.gen(function*() {
      for (const fastLane of [true, false]) {
        const { converse } = yield* testServer({ hashedUsers: [user("reader")], fastLane })
        const head = `${"X: y\r\n".repeat(1_300)}Authorization: ${authorization("reader")}\r\n`
        assert.match(yield* converse(postText(JSON.stringify(COUNT), head), 1), /^HTTP\/1\.1 200 /)
      }
    }))

  it.scopedLive("with connections that wait for nothing: lose those", () =>
    Effect.gen(function*() {
      const { port, post } = yield* server({ connections: 4, concurrentRequests: 8 })
      const operator = yield* calling(port, "operator", COUNT)
      yield* eventually("the operator's answer", () => operator.received().includes("\"result\":0"))
      yield* together(20, () => calling(port, "reader", COUNT))
      yield* together(20, () => sent(port, ""))
      assert.strictEqual((yield* post(COUNT, { headers: { authorization: authorization("operator") } })).status, 200)
      assert.isFalse(operator.socket.destroyed)
    }))
})
