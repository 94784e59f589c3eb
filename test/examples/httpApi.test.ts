import { HttpApiBuilder, HttpApiClient, HttpClient } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  DaemonUnreachable,
  InternalError,
  InvalidRequest,
  NameExpired,
  NameNotFound,
  NameRecord,
  NotSynced
} from "svcd"
import { layerMemory, MemoryNames } from "svcd/testing"
import { NamesApi, NamesApiLive } from "../../examples/http-api.ts"
import { layer } from "../support/layer.ts"

/** The API on a free port, over names in memory. */
const Served = HttpApiBuilder.serve().pipe(
  Layer.provide(NamesApiLive),
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provideMerge(layerMemory({ "d/example": "{\"ip\":\"192.0.2.1\"}", "d/x": "1", "id/x": "2" }))
)

const client = HttpApiClient.make(NamesApi)

layer(Served)("http-api.ts", (it) => {
  it.effect("answers with records", () =>
    Effect.gen(function*() {
      const { names } = yield* client
      const record = yield* names.resolve({ urlParams: { name: "d/example" } })
      assert.instanceOf(record, NameRecord)
      assert.strictEqual(record.value, "{\"ip\":\"192.0.2.1\"}")
      const listed = yield* names.list({ urlParams: { namespace: "d/", limit: 1 } })
      assert.deepStrictEqual(listed.map(({ name }) => name), ["d/x"])
    }))

  it.effect("fails with the classes of svcd, whose statuses are their own", () =>
    Effect.gen(function*() {
      const { names } = yield* client
      const memory = yield* MemoryNames
      const failing = (name: string) =>
        Effect.all([
          Effect.flip(names.resolve({ urlParams: { name } })),
          Effect.map(HttpClient.get("/name", { urlParams: { name } }), ({ status }) => status)
        ])
      const [missing, notFound] = yield* failing("d/missing")
      assert.deepStrictEqual([missing, notFound], [new NameNotFound({ requested: "d/missing" }), 404])
      const [invalid, badRequest] = yield* failing("x".repeat(256))
      assert.instanceOf(invalid, InvalidRequest)
      assert.strictEqual(badRequest, 400)
      yield* memory.expire("d/x")
      const [expired, gone] = yield* failing("d/x")
      assert.instanceOf(expired, NameExpired)
      assert.strictEqual(gone, 410)
      yield* memory.syncing(true)
      const [early, unavailable] = yield* failing("d/missing")
      assert.instanceOf(early, NotSynced)
      assert.strictEqual(unavailable, 503)
      yield* memory.syncing(false)
    }))

  it.effect("tells callers nothing of the failures of its own side", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryNames
      const answer = Effect.flatMap(HttpClient.get("/name?name=d/example"), ({ status, text }) =>
        Effect.map(text, (body) => [status, body]))
      yield* memory.fail(new DaemonUnreachable({ address: "192.0.2.7:8336", reason: "no answer" }))
      assert.deepStrictEqual(yield* answer, [503, ""])
      yield* memory.fail(new InternalError({ reason: "a secret" }))
      assert.deepStrictEqual(yield* answer, [500, ""])
      yield* memory.fail(undefined)
    }))
})
