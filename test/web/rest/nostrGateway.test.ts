import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { pageRequest } from "../../../src/http/Pages.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { nameOfHost, nostrGateway, nostrStarting } from "../../../src/web/rest/nostrGateway.ts"
import { restProofs } from "../../../src/web/rest/restProofs.ts"
import { askWhile } from "../../support/askNames.ts"
import { servicesOf } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { wholeAnswers } from "../../support/wholeAnswers.ts"

const KEY = "b0635d6a9851d3aed0cd6c495b282167acf761729078d975fc341b22650b07b9"

const VALUE = { nostr: { names: { alice: KEY }, relays: { [KEY]: ["wss://relay.example"] } } }

const HEIGHT = 1_000

const SUFFIXES = ["example.org"]

/** A gateway of a node that has d/example, and d/lapsed, which has expired. */
const gateway = (complete = true) =>
  Effect.gen(function*() {
    const node = yield* MethodNode
    return yield* Effect.gen(function*() {
      const whole = yield* NameAnswers
      return yield* Effect.provideService(nostrGateway({ suffixes: SUFFIXES, requireProof: "work" }), NameAnswers, {
        ...whole,
        resolve: (bytes) => {
          const name = Buffer.from(bytes).toString()
          const found = name === "d/example" || name === "d/lapsed"
          const record = {
            name: bytes,
            value: Buffer.from(JSON.stringify(VALUE)),
            height: name === "d/lapsed" ? 1 : HEIGHT - 10,
            txid: new Uint8Array(32),
            vout: 0,
            address: new Uint8Array(),
            op: "name_update",
            amount: 0
          } as const
          return Effect.succeed(found ? { record, proof: "full" as const } : undefined)
        },
        height: Effect.succeed(HEIGHT),
        ask: askWhile(() => complete)
      })
    }).pipe(
      Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
      Effect.provideService(NameDb, node.names),
      Effect.provide(servicesOf(node.chain)),
      Effect.provideService(SyncStatus, { ...node.status, syncing: Effect.succeed(!complete) })
    )
  })

const PATH = "/.well-known/nostr.json"

const ask = (host: string | undefined, query = "?name=alice", complete = true) =>
  Effect.gen(function*() {
    const { answer } = yield* gateway(complete)
    const { body, headers, status } = yield* answer(pageRequest(`${PATH}${query}`, { ...host && { host } }))
    return { status, headers, json: JSON.parse(String(body)) }
  })

layer(methodNode({ blocks: false }))("the gateway of NIP-05", (it) => {
  it.effect("answers with the account in the value of a domain, for pages of all sites", () =>
    Effect.gen(function*() {
      const { headers, json, status } = yield* ask("Example.bit.example.org:443")
      assert.deepStrictEqual(json, { names: { alice: KEY }, relays: { [KEY]: ["wss://relay.example"] } })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["Access-Control-Allow-Origin"], "*")
      assert.strictEqual(headers["Content-Type"], "application/json")
    }))

  it.effect("has nothing for other accounts, names, hosts and expired names", () =>
    Effect.gen(function*() {
      for (
        const [host, query] of [
          ["example.bit.example.org", "?name=bob"],
          ["nobody.bit.example.org", "?name=alice"],
          ["lapsed.bit.example.org", "?name=alice"],
          ["www.example.bit.example.org", "?name=alice"],
          ["bit.example.org", "?name=alice"],
          ["example.bit", "?name=alice"],
          [undefined, "?name=alice"]
        ] as const
      ) {
        const { json, status } = yield* ask(host, query)
        assert.deepStrictEqual({ status, json }, { status: 404, json: { names: {} } }, `${host}${query}`)
      }
      for (const query of ["", "?name=", `?name=${"a".repeat(65)}`, "?name=a%2Fb"]) {
        assert.strictEqual((yield* ask("example.bit.example.org", query)).status, 400, query)
      }
    }))

  it.effect("denies nothing while names are not complete", () =>
    Effect.gen(function*() {
      const { headers, status } = yield* ask("nobody.bit.example.org", "?name=alice", false)
      assert.deepStrictEqual([status, headers["Retry-After"]], [503, "30"])
      // An old value may lack an account that a newer one has.
      assert.strictEqual((yield* ask("example.bit.example.org", "?name=bob", false)).status, 503)
      assert.strictEqual((yield* ask("example.bit.example.org", "?name=alice", false)).status, 200)
      const starting = yield* nostrStarting.answer(pageRequest(PATH))
      assert.deepStrictEqual([starting.status, starting.headers["Retry-After"]], [503, "30"])
    }))
})

describe("nameOfHost", () => {
  it("reads one label below each suffix", () => {
    assert.strictEqual(nameOfHost("a.bit.example.net.", ["example.org", "Example.NET."]), "d/a")
    assert.isUndefined(nameOfHost("a.bitexample.org", SUFFIXES))
    assert.isUndefined(nameOfHost("-a.bit.example.org", SUFFIXES))
  })
})

layer(methodNode())("GET /rest/name-proof/", (it) => {
  it.effect("answers with the document of name_proof, and says what is wrong with a request", () =>
    Effect.gen(function*() {
      const node = yield* MethodNode
      const { answer } = yield* restProofs.pipe(
        Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
        Effect.provideService(NameDb, node.names),
        Effect.provide(servicesOf(node.chain)),
        Effect.provideService(SyncStatus, node.status)
      )
      const get = (rest: string) =>
        Effect.map(
          answer(pageRequest(`/rest/name-proof/${rest}`)),
          ({ body, status }) => ({ status, body: String(body) })
        )
      const found = yield* get("d%2Fkelp38c6?headers=2&chain=1")
      const { text } = yield* node.call("name_proof", "d/kelp38c6", { headers: 2, chain: true })
      assert.deepStrictEqual([found.status, JSON.parse(found.body)], [200, JSON.parse(text)])
      const absent = yield* get("d/nobody")
      assert.deepStrictEqual([absent.status, JSON.parse(absent.body).svcd], [404, "name-absence/1"])
      for (const wrong of ["", "%zz", "d/a?headers=25", "d/a?headers=x", "d/a?chain=yes", "d/a?other=1"]) {
        assert.strictEqual((yield* get(wrong)).status, 400, wrong)
      }
    }))

  it.effect("makes few proofs at once, and short ones beside a long one", () =>
    Effect.gen(function*() {
      const node = yield* MethodNode
      const open = yield* Effect.makeLatch(false)
      let reading = 0
      const block = (hash: Uint8Array) =>
        Effect.suspend(() => {
          reading += 1
          return Effect.zipRight(open.await, node.chain.block(hash)).pipe(
            Effect.ensuring(Effect.sync(() => void (reading -= 1)))
          )
        })
      const { answer } = yield* restProofs.pipe(
        Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
        Effect.provideService(NameDb, node.names),
        Effect.provide(servicesOf({ ...node.chain, block })),
        Effect.provideService(SyncStatus, node.status)
      )
      const start = (query: string) =>
        Effect.forEach(
          Array.from({ length: 5 }),
          () => Effect.fork(answer(pageRequest(`/rest/name-proof/d%2Fkelp38c6?${query}`)))
        )
      const long = yield* start("chain=1")
      yield* eventually("one long proof is being made", Effect.sync(() => reading === 1))
      const short = yield* start("chain=0")
      yield* eventually("short ones are being made", Effect.sync(() => reading === 3))
      for (let turn = 0; turn < 50; turn++) yield* turnOfEventLoop
      assert.strictEqual(reading, 3)
      const [first, ...others] = long
      // A caller that leaves gives its place to the next.
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* eventually("the next long proof is being made", Effect.sync(() => reading === 3))
      yield* open.open
      for (const { status } of yield* Fiber.join(Fiber.all([...others, ...short]))) assert.strictEqual(status, 200)
    }))
})
