import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { isStream, type PageAnswer, type PageHandler, pageRequest } from "../../../src/http/Pages.ts"
import { NameAnswers } from "../../../src/light/NameAnswers.ts"
import type { ProofLevel } from "../../../src/light/proof.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import type { Bytes } from "../../../src/protocol/bytes.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { restNames, restStarting } from "../../../src/web/rest/restNames.ts"
import { servicesOf } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"
import { wholeAnswers } from "../../support/wholeAnswers.ts"

const names = items(at(recordedJson("regtest-names/tip-names.json"), "names"))

const OPTIONS = {
  nameEncoding: "hex",
  valueEncoding: "hex",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: false
} as const

const handler = (syncing = false, change: Partial<typeof NameDb.Service> = {}) =>
  Effect.gen(function*() {
    const node = yield* MethodNode
    return yield* restNames.pipe(
      Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
      Effect.provideService(NameDb, { ...node.names, ...change }),
      Effect.provide(servicesOf(node.chain)),
      Effect.provideService(SyncStatus, { ...node.status, syncing: Effect.succeed(syncing) }),
      Effect.provideService(AnswerOptions, OPTIONS)
    )
  })

const get = ({ answer }: PageHandler, rest: string): Effect.Effect<readonly [number, string | undefined, string]> =>
  Effect.map(
    answer(pageRequest(`/rest/name/${rest}`)),
    ({ body, headers, status }: PageAnswer) => [
      status,
      headers["Content-Type"],
      isStream(body) ? assert.fail("a stream") : Buffer.from(body).toString("latin1")
    ]
  )

const escaped = (hex: string): string => hex.replaceAll(/../g, "%$&")

layer(methodNode())("GET /rest/name/", (it) => {
  it.effect("from a window says what a record rests on, and refuses one that rests on too little", () =>
    Effect.gen(function*() {
      const node = yield* MethodNode
      const [first = assert.fail("there is no name")] = names
      const encoded = escaped(stringAt(first, "nameHex"))
      const proof = (level: ProofLevel) =>
        Effect.gen(function*() {
          const whole = yield* NameAnswers
          const resolve = (bytes: Bytes) =>
            Effect.map(whole.resolve(bytes), (found) => found === undefined ? undefined : { ...found, proof: level })
          return yield* Effect.provideService(restNames, NameAnswers, { ...whole, resolve })
        }).pipe(
          Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
          Effect.provideService(NameDb, node.names),
          Effect.provide(servicesOf(node.chain)),
          Effect.provideService(SyncStatus, { ...node.status, syncing: Effect.succeed(false) }),
          Effect.provideService(AnswerOptions, OPTIONS)
        )
      const asked = (page: PageHandler, query: string) =>
        Effect.map(
          page.answer(pageRequest(`/rest/name/${encoded}.json${query}`)),
          ({ body, status }: PageAnswer) =>
            [status, isStream(body) ? assert.fail("a stream") : Buffer.from(body).toString("latin1")] as const
        )
      const weak = yield* proof("work")
      const [status, json] = yield* asked(weak, "")
      assert.strictEqual(status, 200)
      assert.match(json, /"proof":"work"\}/)
      assert.strictEqual((yield* asked(weak, "?requireProof=signatures"))[0], 503)
      assert.strictEqual((yield* asked(yield* proof("signatures"), "?requireProof=signatures"))[0], 200)
      assert.strictEqual((yield* asked(yield* proof("signatures"), "?requireProof=full"))[0], 503)
      assert.strictEqual((yield* asked(weak, "?requireProof=none"))[0], 400)
    }))

  it.effect("returns the value of every name, expired or not, and its record without the wallet's part", () =>
    Effect.gen(function*() {
      const rest = yield* handler()
      for (const name of names) {
        const target = escaped(stringAt(name, "nameHex"))
        const value = stringAt(name, "show", "value")
        assert.deepStrictEqual(yield* get(rest, `${target}.hex`), [200, "text/plain", `${value}\n`])
        assert.deepStrictEqual(yield* get(rest, `${target}.bin`), [
          200,
          "application/octet-stream",
          Buffer.from(value, "hex").toString("latin1")
        ])
        const text = `${recordedText(at(name, "show"))}\n`
        assert.deepStrictEqual(yield* get(rest, `${target}.json`), [200, "application/json", text])
      }
    }))

  it.effect("shows callers nothing about files that cannot be read", () =>
    Effect.gen(function*() {
      const trouble = new StorageUnavailable({ file: "/secret/names.db", doing: "reading", reason: "EIO" })
      const rest = yield* handler(false, { resolve: () => Effect.fail(trouble) })
      assert.deepStrictEqual(yield* get(rest, "d/a.json"), [500, "text/plain", "Internal error\r\n"])
      const { headers } = yield* rest.answer(pageRequest("/rest/name/d/a.bin"))
      assert.strictEqual(headers["X-Content-Type-Options"], "nosniff")
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))

  it.effect("refuses in the reference node's words", () =>
    Effect.gen(function*() {
      const rest = yield* handler()
      const name = escaped(stringAt(names[0] ?? assert.fail(), "nameHex"))
      for (
        const [target, status, text] of [
          ["d/absent.json", 404, "'d/absent' not found\r\n"],
          ["d/absent", 404, "'d/absent' not found\r\n"],
          ["%00%ff.hex", 404, "0x00ff not found\r\n"],
          [".json", 404, "'' not found\r\n"],
          ["d/%zz.json", 400, "Invalid encoded name: d/%zz\r\n"],
          ["%.xyz", 400, "Invalid encoded name: %.xyz\r\n"],
          [name, 404, "output format not found (available: .bin, .hex, .json)\r\n"],
          [`${name}.`, 404, "output format not found (available: .bin, .hex, .json)\r\n"]
        ] as const
      ) assert.deepStrictEqual(yield* get(rest, target), [status, "text/plain", text], target)
    }))

  it.effect("does not report a name as free while blocks are missing", () =>
    Effect.gen(function*() {
      const rest = yield* handler(true)
      const text = "Service temporarily unavailable: Namecoin is downloading blocks...\r\n"
      assert.deepStrictEqual(yield* get(rest, "d/absent.json"), [503, "text/plain", text])
      const known = escaped(stringAt(names[0] ?? assert.fail(), "nameHex"))
      assert.strictEqual((yield* get(rest, `${known}.json`))[0], 200)
    }))
})

describe("GET /rest/name/ while the node starts", () => {
  it.effect("reports the step of the start", () =>
    Effect.gen(function*() {
      const rest = restStarting(() => ({ _tag: "WarmUp", step: "Loading block index…" }))
      assert.isTrue(rest.serves(pageRequest("/rest/name/x")))
      const { body, status } = yield* rest.answer(pageRequest("/rest/name/x"))
      assert.deepStrictEqual([status, body], [503, "Service temporarily unavailable: Loading block index…\r\n"])
    }))
})
