import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { pageRequest } from "../../../src/http/Pages.ts"
import { type NameAnswer, NameAnswers } from "../../../src/light/NameAnswers.ts"
import type { ProofLevel } from "../../../src/light/proof.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { makeHostResolver } from "../../../src/rpc/methods/resolveAnswer.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { restResolve } from "../../../src/web/rest/restResolve.ts"
import { askWhile } from "../../support/askNames.ts"
import { servicesOf } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { wholeAnswers } from "../../support/wholeAnswers.ts"

const OPTIONS = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: false
} as const

const VALUES: Readonly<Record<string, unknown>> = {
  "d/addr": { ip: ["192.0.2.1", "192.0.2.2"], ip6: "2001:db8::1" },
  "d/outside": { alias: "host.example.com." },
  "d/cut": { ns: ["ns1.@"], map: { ns1: { ip: "192.0.2.41" } } },
  "d/old": { translate: "tree.bit." },
  "d/tree": { map: { www: { ip: "192.0.2.11" } } },
  "d/imports": { import: "dd/base", ip: "192.0.2.30" },
  "dd/base": { ip6: "2001:db8::31" },
  "d/lapsed": { ip: "192.0.2.9" }
}

const HEIGHT = 1_000

const answerOf = (name: string, proof: ProofLevel): NameAnswer | undefined => {
  const value = VALUES[name]
  return value === undefined ? undefined : {
    proof: name === "dd/base" ? "work" : proof,
    record: {
      name: Buffer.from(name),
      value: Buffer.from(JSON.stringify(value)),
      height: name === "d/lapsed" ? 1 : HEIGHT - 10,
      txid: new Uint8Array(32),
      vout: 0,
      address: new Uint8Array(),
      op: "name_update",
      amount: 0
    }
  }
}

interface State {
  readonly dnsTtl?: number
  readonly proof?: ProofLevel
  readonly complete?: boolean
}

const provided = <A>(
  make: Effect.Effect<A, never, typeof NEEDED>,
  { complete = true, dnsTtl = 600, proof = "full" }: State = {}
) =>
  Effect.gen(function*() {
    const node = yield* MethodNode
    return yield* Effect.gen(function*() {
      const whole = yield* NameAnswers
      return yield* Effect.provideService(make, NameAnswers, {
        ...whole,
        resolve: (name) => Effect.succeed(answerOf(Buffer.from(name).toString(), proof)),
        height: Effect.succeed(HEIGHT),
        complete: Effect.succeed(complete),
        proofOfAbsence: () => proof,
        ask: askWhile(() => complete)
      })
    }).pipe(
      Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
      Effect.provideService(NameDb, node.names),
      Effect.provide(servicesOf(node.chain)),
      Effect.provideService(SyncStatus, { ...node.status, syncing: Effect.succeed(!complete) }),
      Effect.provideService(AnswerOptions, { ...OPTIONS, dnsTtl })
    )
  })

declare const NEEDED: Effect.Effect.Context<typeof makeHostResolver>

const resolver = (state: State = {}) =>
  Effect.map(
    provided(makeHostResolver, state),
    (resolve) => (host: string, type = "A", requireProof?: ProofLevel) =>
      resolve({ host, type, options: { nameEncoding: undefined, valueEncoding: undefined, requireProof } })
  )

layer(methodNode())("name_resolve", (it) => {
  it.effect("has a status for each kind of answer", () =>
    Effect.gen(function*() {
      const resolve = yield* resolver()
      const statuses = [
        ["addr.bit", "A", "records"],
        ["addr.bit", "MX", "no-data"],
        ["none.bit", "A", "no-name"],
        ["lapsed.bit", "A", "no-name"],
        ["www.cut.bit", "A", "delegated"],
        ["outside.bit", "A", "alias-outside"],
        ["www.old.bit", "A", "records"]
      ] as const
      for (const [host, type, status] of statuses) {
        assert.strictEqual((yield* resolve(host, type)).status, status, `${host} ${type}`)
      }
      const { height, host, records, synced, type } = yield* resolve("ADDR.bit", "aaaa")
      assert.deepStrictEqual({ height, host, synced, type }, {
        height: HEIGHT,
        host: "addr.bit.",
        synced: true,
        type: "AAAA"
      })
      assert.deepStrictEqual(records, [
        { name: "addr.bit.", type: "AAAA", ttl: 600, data: "2001:db8::1", address: "2001:db8::1" }
      ])
    }))

  it.effect("has the time to live that the DNS server has", () =>
    Effect.gen(function*() {
      const resolve = yield* resolver({ dnsTtl: 60 })
      assert.deepStrictEqual((yield* resolve("addr.bit", "AAAA")).records, [
        { name: "addr.bit.", type: "AAAA", ttl: 60, data: "2001:db8::1", address: "2001:db8::1" }
      ])
    }))

  it.effect("answers with the weakest proof of its sources, and fails where that is too little", () =>
    Effect.gen(function*() {
      const resolve = yield* resolver()
      const { proof, sources } = yield* resolve("imports.bit", "AAAA")
      assert.strictEqual(proof, "work")
      assert.lengthOf([...Object(sources)], 2)
      assert.strictEqual((yield* Effect.flip(resolve("imports.bit", "A", "signatures"))).code, -10)
      assert.strictEqual((yield* resolve("addr.bit", "A", "full")).proof, "full")
      const weak = yield* resolver({ proof: "signatures" })
      assert.strictEqual((yield* weak("none.bit")).proof, "signatures")
      assert.strictEqual((yield* Effect.flip(weak("none.bit", "A", "full"))).code, -10)
    }))

  it.effect("fails with -10 for a missing name while names are missing, and answers for the others", () =>
    Effect.gen(function*() {
      const resolve = yield* resolver({ complete: false })
      assert.strictEqual((yield* Effect.flip(resolve("none.bit"))).code, -10)
      assert.strictEqual((yield* Effect.flip(resolve("lapsed.bit"))).code, -10)
      assert.deepInclude(yield* resolve("addr.bit"), { status: "records", synced: false })
    }))

  it.effect("refuses other hosts, and types without records", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      assert.deepInclude((yield* call("name_resolve", "none.bit")).value, { status: "no-name", type: "A", records: [] })
      assert.deepStrictEqual(yield* refusal("name_resolve", "example.com"), {
        code: -8,
        message: "host must be a host below .bit, such as www.example.bit"
      })
      assert.deepStrictEqual(yield* refusal("name_resolve", "a.bit", "AXFR"), {
        code: -8,
        message: "type must be a type of records, such as A, AAAA, TXT or TYPE65"
      })
      assert.match((yield* refusal("name_resolve", `${"x".repeat(64)}.bit`)).message, /63 bytes/)
    }))
})

layer(methodNode())("GET /rest/resolve/", (it) => {
  const asked = (path: string, state: State = {}) =>
    Effect.gen(function*() {
      const { answer, serves } = yield* provided(restResolve, state)
      const request = pageRequest(`/rest/resolve/${path}`)
      assert.isTrue(serves(request))
      return yield* Effect.map(answer(request), ({ body, status }) => ({ status, text: String(body) }))
    })

  it.effect("returns what name_resolve returns", () =>
    Effect.gen(function*() {
      const { status, text } = yield* asked("addr.bit?type=AAAA")
      assert.strictEqual(status, 200)
      const json = JSON.parse(text)
      assert.deepInclude(json, { status: "records", host: "addr.bit.", type: "AAAA", height: HEIGHT })
      assert.strictEqual(json.records[0].address, "2001:db8::1")
      assert.deepInclude(json.sources[0], { name: "d/addr", height: HEIGHT - 10 })
      assert.strictEqual(JSON.parse((yield* asked("www.cut.bit")).text).status, "delegated")
      assert.strictEqual(JSON.parse((yield* asked("z%C3%BCrich.bit")).text).host, "xn--zrich-kva.bit.")
    }))

  it.effect("has a status for what it cannot answer", () =>
    Effect.gen(function*() {
      const statuses = [
        ["example.com", 400],
        ["%zz.bit", 400],
        ["addr.bit?type=AXFR", 400],
        ["addr.bit?kind=A", 400],
        ["addr.bit?type=A&type=MX", 400],
        ["addr.bit?requireProof=some", 400],
        ["imports.bit?requireProof=full", 503]
      ] as const
      for (const [path, status] of statuses) assert.strictEqual((yield* asked(path)).status, status, path)
      const missing = yield* asked("none.bit", { complete: false })
      assert.strictEqual(missing.status, 503)
      assert.match(missing.text, /downloading/)
    }))
})
