import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { NameClient } from "../../src/client/NameClient.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { copyOf, fillDirectory, temporaryDirectory } from "../support/embedded.ts"

const silent = Layer.provide(Logger.remove(Logger.defaultLogger))

describe("a light client in a program", () => {
  it.scopedLive(
    "denies nothing while it has no block, and asks for the whole chain where coins are needed",
    () =>
      Effect.gen(function*() {
        const dataDir = yield* temporaryDirectory
        const light = EmbeddedNode.layer({ network: "regtest", dataDir, maxPeers: 0, sync: "light" }).pipe(silent)
        yield* Effect.gen(function*() {
          const client = yield* NameClient
          const failures = yield* Effect.all([
            Effect.flip(client.resolveName("d/example")),
            Effect.flip(client.resolveName("d/example", { requireProof: "full" })),
            Effect.flip(client.listNames()),
            Effect.flip(client.registerName("d/example", "{}")),
            Effect.flip(client.updateName("d/example", "{}"))
          ])
          assert.deepStrictEqual(failures.map(({ _tag }) => _tag), Array.from(failures, () => "NotSynced"))
          assert.deepStrictEqual(yield* client.freshness, { height: 0, synced: false, proof: "work" })
        }).pipe(Effect.provide(light))
        assert.isTrue(existsSync(join(dataDir, "names-window.db")))
        assert.isFalse(existsSync(join(dataDir, "chainstate", "chainstate.db")))
      }),
    30_000
  )

  it.scopedLive("leaves a directory with a whole chain as it is", () =>
    Effect.gen(function*() {
      const filled = yield* temporaryDirectory
      yield* fillDirectory(filled, 50)
      const dataDir = yield* copyOf(filled)
      const client = EmbeddedNode.layer({
        network: "regtest",
        dataDir,
        maxPeers: 0,
        disableWallet: true,
        sync: "light"
      }).pipe(silent)
      const freshness = yield* Effect.flatMap(NameClient, (names) => names.freshness).pipe(Effect.provide(client))
      assert.deepStrictEqual(freshness, { height: 50, synced: true, proof: "full" })
    }), 60_000)

  it.scopedLive("names the field that is wrong", () =>
    Effect.gen(function*() {
      const wrong: string = "quick"
      // @ts-expect-error: a program without types can write anything
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(EmbeddedNode.layer({ sync: wrong }))))
      assert.include(String(Exit.isFailure(exit) ? exit.cause : ""), "sync: has to be one of light, full")
    }))
})
