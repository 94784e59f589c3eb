import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Layer, Logger, Option, Stream } from "effect"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { decodeConfig } from "../../src/client/config.ts"
import { type ClientConfig, NameClient } from "../../src/client/NameClient.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { embeddedSettings, isLight } from "../../src/node/embedded.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { copyOf, fillDirectory } from "../support/embedded.ts"

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
            Effect.flip(client.resolveDomain("example.bit")),
            Effect.flip(client.listNames()),
            Effect.flip(client.registerName("d/example", "{}")),
            Effect.flip(client.updateName("d/example", "{}"))
          ])
          assert.deepStrictEqual(
            failures.map(({ _tag }) => _tag),
            ["NotSynced", "NotSynced", "NotSynced", "NotSynced", "WalletDisabled", "WalletDisabled"]
          )
          assert.deepStrictEqual(yield* client.freshness, { height: 0, synced: false, proof: "work" })
          const [missing, , , , registering] = failures
          assert.deepInclude({ ...missing }, { height: 0, phase: "headers", percent: 0 })
          assert.include(missing?.message, "fetching headers: 0 % done")
          assert.include(registering?.message, "sync: \"full\"")
          const first = yield* Stream.runHead(client.progress)
          assert.deepInclude(Option.getOrThrow(first), { phase: "headers", synced: false, proof: "work" })
          const never = yield* Effect.flip(client.ready("full"))
          assert.deepInclude({ ...never }, { _tag: "InvalidRequest", field: "level" })
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

  it("takes the block at which headers begin, and says what is wrong with it", () => {
    const hash = "ab".repeat(32)
    const settingsOf = (anchor: string) =>
      Either.flatMap(
        decodeConfig({ network: "regtest", dataDir: "/none", anchor }),
        (config) => Either.map(embeddedSettings(config), ({ chain }) => chain.anchor)
      )
    assert.deepStrictEqual(Either.getOrThrow(settingsOf(`100:${hash}:ca`)), {
      height: 100,
      hash: new Uint8Array(32).fill(0xab),
      chainwork: 0xcan
    })
    assert.strictEqual(Either.getOrThrow(settingsOf("none")), "none")
    for (const wrong of [`0:${hash}:ca`, `100:${hash}`, "100", `100:${hash.slice(1)}:ca`, `100:${hash}:xyz`]) {
      const failure = Option.getOrThrow(Either.getLeft(settingsOf(wrong)))
      assert.deepInclude({ ...failure }, { _tag: "InvalidConfig", field: "anchor" })
      assert.include(failure.message, `"${wrong}" is neither none nor HEIGHT:HASH:WORK`)
    }
    const number: unknown = 100
    // @ts-expect-error: a program without types can write anything
    const failure = Option.getOrThrow(Either.getLeft(decodeConfig({ anchor: number })))
    assert.include(failure.message, "anchor: has to be a text")
  })

  it.scoped("is the default for a new directory on a network with anchors, if nothing needs the whole chain", () =>
    Effect.gen(function*() {
      const light = (config: ClientConfig) =>
        Effect.gen(function*() {
          const decoded = yield* decodeConfig(config)
          return yield* isLight(decoded, yield* embeddedSettings(decoded))
        })
      const dataDir = yield* temporaryDirectory
      const cases: ReadonlyArray<readonly [ClientConfig, boolean]> = [
        [{}, true],
        [{ network: "regtest" }, false],
        [{ network: "testnet" }, false],
        [{ network: "regtest", sync: "light" }, true],
        [{ network: "regtest", anchor: `100:${"ab".repeat(32)}:ca` }, true],
        [{ anchor: "none" }, false],
        [{ sync: "full" }, false],
        [{ requireProof: "signatures" }, true],
        [{ requireProof: "full" }, false],
        [{ wallet: "savings" }, false],
        [{ walletPassphrase: "words" }, false]
      ]
      for (const [config, expected] of cases) {
        assert.strictEqual(yield* light({ dataDir, ...config }), expected, JSON.stringify(config))
      }
      const never = yield* Effect.flip(light({ dataDir, sync: "light", requireProof: "full" }))
      assert.strictEqual(never.field, "requireProof")
      writeFileSync(join(dataDir, "wallet.json"), "")
      assert.isFalse(yield* light({ dataDir }))
      assert.isTrue(yield* light({ dataDir, sync: "light" }))
      for (const folder of ["chainstate_snapshot", "chainstate"]) {
        mkdirSync(join(dataDir, folder))
        writeFileSync(join(dataDir, folder, "chainstate.db"), "")
        assert.isFalse(yield* light({ dataDir, sync: "light" }), folder)
        rmSync(join(dataDir, folder), { recursive: true })
      }
    }))
})
