import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach } from "vitest"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { ElectrumServer } from "../../src/node.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { resolve } from "../../src/verify/resolve.ts"
import { eventually } from "../support/eventually.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { settingsOf } from "../support/nameProofs.ts"
import { filledDirectory, onNode } from "./servedNode.ts"

/** Names that a program resolves over the WebSockets of two nodes, with the WebSocket that Node.js has as browsers do. */

const HEIGHT = 600

const served = onNode(filledDirectory(HEIGHT), { listen: [], webSocket: ["127.0.0.1:0"] })

const url = Effect.map(ElectrumServer, ({ addresses: { ws: [first] } }) => `ws://127.0.0.1:${first?.port ?? 0}`)

const OPTIONS = { network: "regtest", now: namedChain.now, timeout: 20_000 } as const

const names = livingNames.filter((name) => /^d\/[a-z0-9]+$/.test(Buffer.from(name).toString("latin1"))).slice(0, 8)

const resolved = async (name: Uint8Array, servers: ReadonlyArray<string>, agree = 2) => {
  const found = await resolve(Buffer.from(name).toString(), { ...OPTIONS, servers, agree })
  return "failed" in found ? assert.fail(JSON.stringify(found)) : found
}

/** A name with an operation after its registration, and the newest one. */
const renewed = () => {
  for (const name of names) {
    const [newest, before] = settingsOf(namedChain, name)
    if (newest !== undefined && before !== undefined && before.height < newest.height) return { name, newest }
  }
  return assert.fail("no name was renewed")
}

/** The sockets that the verifier opened. */
const opened: Array<WebSocket> = []

const own = globalThis.WebSocket

class Watched extends own {
  constructor(address: string) {
    super(address)
    opened.push(this)
  }
}

afterEach(() => void Object.assign(globalThis, { WebSocket: own }))

it.scopedLive(
  "two nodes prove their names, and the newest proof counts while one is behind or gone",
  () =>
    served(Effect.gen(function*() {
      Object.assign(globalThis, { WebSocket: Watched })
      const one = yield* url
      const gone = yield* served(Effect.gen(function*() {
        const servers = [one, yield* url]
        assert.isAbove(names.length, 4)
        for (const name of names) {
          const [newest = assert.fail()] = settingsOf(namedChain, name)
          const found = yield* Effect.promise(() => resolved(name, servers))
          assert.deepInclude(found, { nameHex: toHex(name), height: newest.height, vout: newest.vout, agreeing: 2 })
          assert.deepStrictEqual(found.problems, [])
          assert.strictEqual(found.confirmations, Math.min(7, HEIGHT - newest.height + 1))
        }
        const missing = yield* Effect.promise(() => resolve("d/missing", { ...OPTIONS, servers }))
        assert.deepInclude("failed" in missing ? missing : {}, { absent: true })

        const { invalidate } = yield* ChainControl
        const { name, newest } = renewed()
        yield* invalidate((namedChain.blocks[newest.height] ?? assert.fail()).hash)
        const { cursor } = yield* NameDb
        yield* eventually("the names are behind", Effect.map(cursor, (at) => at?.height === newest.height - 1))
        const found = yield* Effect.promise(() => resolved(name, servers))
        assert.deepInclude(found, { height: newest.height, agreeing: 1 })
        const heights = found.answers.map((answer) => "verified" in answer ? answer.verified.height : undefined)
        assert.lengthOf(heights, 2)
        assert.isBelow(Math.min(...heights.map((height) => height ?? Infinity)), newest.height)
        return servers[1] ?? ""
      }))
      const [name = assert.fail()] = names
      const alone = yield* Effect.promise(() =>
        resolve(Buffer.from(name).toString(), { ...OPTIONS, servers: [one, gone] })
      )
      assert.deepInclude("failed" in alone ? alone : {}, {
        failed: "1 of 2 servers gave a valid answer",
        absent: false
      })
      assert.deepInclude(yield* Effect.promise(() => resolved(name, [one, gone], 1)), { agreeing: 1 })
      yield* eventually(
        "no connection is left",
        Effect.sync(() => opened.every(({ readyState }) => readyState === own.CLOSED))
      )
      return undefined
    })),
  120_000
)
