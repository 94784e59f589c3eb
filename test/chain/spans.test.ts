import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../src/protocol/bytes.ts"
import { fundedDirectory, withWallets } from "../support/liveWallets.ts"
import { SpanLog } from "../support/spans.ts"

describe("the spans of a block", () => {
  it.scopedLive("the way of a block is one trace", () =>
    Effect.gen(function*() {
      const log = new SpanLog()
      const directory = yield* fundedDirectory
      yield* withWallets(directory, ({ mine, chain }) =>
        Effect.gen(function*() {
          log.forget()
          yield* mine(1)
          console.log(log.paths)
          console.log(log.spans.map((s) => [s.name, s.traceId, ...s.attributes]))
        })).pipe(Effect.provide(log.layer))
    }))
})
