import { assert } from "@effect/vitest"
import { Chunk, Effect, Schema, Stream } from "effect"
import type { NameClient } from "../../src/client/NameClient.ts"
import { Freshness, NameChange, NameRecord, SyncReport } from "../../src/client/records.ts"

/** An answer is an instance of its class, and comes back from JSON. */
export const sound = <A extends object, I>(schema: Schema.Schema<A, I> & { readonly prototype: A }, answer: A): A => {
  assert.strictEqual(Object.getPrototypeOf(answer), schema.prototype)
  const json = JSON.parse(JSON.stringify(Schema.encodeSync(schema)(answer)))
  assert.deepStrictEqual(json, JSON.parse(JSON.stringify(answer)))
  assert.strictEqual(JSON.stringify(Schema.decodeUnknownSync(schema)(json)), JSON.stringify(answer))
  return answer
}

/** Checks the classes of all that a client answers. It knows a name that is not expired, and changes from the first block on. */
export const assertRecordClasses = (client: typeof NameClient.Service) =>
  Effect.gen(function*() {
    const first = <A, E>(stream: Stream.Stream<A, E>) =>
      Effect.map(Stream.runCollect(Stream.take(stream, 1)), Chunk.toReadonlyArray)
    const listed = yield* client.listNames({ limit: 1 })
    const name = listed[0]?.name ?? assert.fail("there is a name")
    const found = yield* first(client.findNames({ namespace: name, changedSince: 0 }))
    const [change = assert.fail("there is a change")] = yield* first(client.changes({ from: "0" }))
    for (
      const record of [
        ...listed,
        ...found,
        yield* client.resolveName(name),
        change.record ?? assert.fail("it has a record")
      ]
    ) {
      sound(NameRecord, record)
      sound(Freshness, record.asOf)
    }
    assert.lengthOf(found, 1)
    sound(NameChange, change)
    sound(Freshness, yield* client.freshness)
    sound(Freshness, yield* client.ready())
    for (const report of yield* first(client.progress)) yield* Schema.validate(SyncReport)(report)
  })
