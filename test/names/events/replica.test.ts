import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Stream } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { ENCODINGS, follow, Refused, type Replica, take } from "../../../examples/replica.ts"
import type { ConnectedBlock } from "../../../src/chain/write/Follower.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { BEGINNING, readCursorText } from "../../../src/names/events/EventCursor.ts"
import { EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { nameEventText } from "../../../src/rpc/shapes/nameEvent.ts"
import { readEventQuery } from "../../../src/web/events/eventQuery.ts"
import { applyAll, batches, blockAt, type Operation, STRANGE_VALUES, text, withNewDb } from "../blocks.ts"
import { Branches, readAll } from "./world.ts"

/**
 * Depths of reorganizations, up to the longest that a light node follows too. `EVERY_DEPTH` in the environment takes all of
 * them.
 */
const DEPTHS = process.env["EVERY_DEPTH"] === undefined
  ? [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 288]
  : Array.from({ length: 288 }, (_, i) => i + 1)

/** What a daemon with the default settings makes of the example's own query. */
const CONTEXT = {
  ...Either.getOrThrow(
    readEventQuery(new URLSearchParams(ENCODINGS), { network: regtest, nameEncoding: "ascii", valueEncoding: "ascii" })
  ).context,
  params: regtestParams
}

/** One name in three has a byte that is not ASCII, and one in three is not UTF-8. */
const nameOf = (number: number): Uint8Array =>
  Uint8Array.of(...text(`d/${number}`), ...[[], [0xc3, 0xa9, 0x00], [0xff, 0xfe]][number % 3] ?? [])

const valueOf = (number: number, place: string): Uint8Array =>
  number % 2 === 0 ? text(place) : STRANGE_VALUES[(number >> 1) % STRANGE_VALUES.length] ?? text(place)

/** Two operations of a block on some names: registrations where the names can have expired, else updates. */
const operationsAt = (height: number, branch: number): ReadonlyArray<Operation> =>
  [0, 1].map((i) => {
    const number = height * 7 + branch * 3 + i
    const rand = number % 3 === 0 ? { rand: Uint8Array.of(branch % 256) } : {}
    return {
      name: nameOf(number % 40),
      value: valueOf(number, `${branch}.${height}`),
      owner: text(`o${number % 5}`),
      ...rand
    }
  })

const blocksOf = (branch: number, from: number, count: number): ReadonlyArray<ConnectedBlock> =>
  Array.from({ length: count }, (_, i) => ({
    ...blockAt(from + i, operationsAt(from + i, branch)),
    hash: hash256(text(`${branch} ${from + i}`))
  }))

describe("examples/replica.ts", () => {
  it.effect("equals names.db after reorganizations of any depth", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const branches = new Branches()
        let chain = blocksOf(0, 0, 300)
        branches.add(chain)
        branches.tip = chain.at(-1)
        yield* applyAll(db, batches(chain, 100))
        const events = branches.events(db)
        const replica: Replica = { names: new Map(), cursor: "0" }
        const catchUp = Effect.gen(function*() {
          const from = readCursorText(replica.cursor) ?? BEGINNING
          for (const page of yield* readAll(events, from)) {
            for (const event of page.events) take(replica, nameEventText(CONTEXT, event))
          }
          const stored = yield* Stream.runCollect(db.scanByPrefix({ prefix: EMPTY }))
          const records = [...stored].map(({ height, name, txid, value }) =>
            [toHex(name), toHex(value), toHex(txid.slice().reverse()), height].join(" ")
          )
          const copied = [...replica.names].map(([name, record]) => {
            const { height, txid, value } = { height: undefined, ...record }
            return [name, value, txid, height].join(" ")
          })
          return [copied.sort(), records.sort()] as const
        })
        const [first, stored] = yield* catchUp
        assert.deepStrictEqual(first, stored)
        for (const [i, depth] of DEPTHS.entries()) {
          const kept = chain.slice(0, chain.length - depth)
          const fork = kept.at(-1)
          if (fork === undefined) return assert.fail("the chain is long enough")
          const fresh = blocksOf(i + 1, kept.length, depth + 1)
          branches.add(fresh, fork)
          branches.tip = fresh.at(-1)
          yield* db.follower.rewind(fork)
          yield* applyAll(db, batches(fresh, 100))
          chain = [...kept, ...fresh]
          const [copied, records] = yield* catchUp
          assert.deepStrictEqual(copied, records, `${depth} blocks`)
        }
      })
    ), 300_000)

  it.effect("sends the credentials of the address, and tells a refusal from a daemon that is away", () =>
    Effect.promise(async () => {
      const seen: Array<string> = []
      const statuses = [200, 401, 410, 429, 503]
      const server = createServer((request: IncomingMessage, response: ServerResponse) => {
        seen.push(`${request.headers.authorization} ${request.url}`)
        response.writeHead(statuses[seen.length - 1] ?? 500).end(`{"type":"position","cursor":"c${seen.length}"}\n`)
      }).listen(0, "127.0.0.1")
      try {
        await once(server, "listening")
        const bound = server.address()
        const port = typeof bound === "object" ? bound?.port : undefined
        const replica: Replica = { names: new Map(), cursor: "0" }
        const failures: Array<unknown> = []
        for (const path of ["/", "/svcd/", "/svcd", "", "/"]) {
          failures.push(
            await follow(`http://reader:p%40ss@127.0.0.1:${port}${path}`, replica).then(() => "done", (e) => e)
          )
        }
        assert.deepStrictEqual(failures.map((failure) => failure instanceof Refused), [false, true, true, false, false])
        assert.strictEqual(failures[0], "done")
        const user = `Basic ${Buffer.from("reader:p@ss").toString("base64")}`
        const behindOne = `events?${ENCODINGS}&from=c1`
        assert.deepStrictEqual(seen, [
          `${user} /events?${ENCODINGS}&from=0`,
          ...["/svcd/", "/svcd/", "/", "/"].map((folder) => `${user} ${folder}${behindOne}`)
        ])
      } finally {
        server.closeAllConnections()
        server.close()
      }
    }))
})
