import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, FiberRef, Layer, LogLevel } from "effect"
import { readdirSync } from "node:fs"
import { NameClient } from "../../src/client/NameClient.ts"
import { layerRegtest, RegtestNode } from "../../src/testing.ts"
import { temporaryDirectory } from "../support/chain.ts"

/** Where nodes make their directories, until the scope closes. */
const ownTemporary = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const before = process.env["TMPDIR"]
  yield* Effect.acquireRelease(
    Effect.sync(() => void (process.env["TMPDIR"] = directory)),
    () =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["TMPDIR"]
        else process.env["TMPDIR"] = before
      })
  )
  return directory
})

const registered = (name: string, value: string) =>
  Effect.gen(function*() {
    const names = yield* NameClient
    const node = yield* RegtestNode
    const registering = yield* Effect.fork(names.registerName(name, value, { waitFor: "registered" }))
    yield* node.mine(14)
    return yield* Fiber.join(registering)
  })

describe("layerRegtest", () => {
  it.scopedLive("registers and updates a name of a real chain, and leaves no files", () =>
    Effect.gen(function*() {
      const directory = yield* ownTemporary
      yield* Effect.gen(function*() {
        const names = yield* NameClient
        const node = yield* RegtestNode
        const { txHash } = yield* registered("d/example", "one")
        const record = yield* names.resolveName("d/example")
        assert.deepInclude({ ...record }, { value: "one", txid: txHash, expired: false })
        yield* names.updateName("d/example", "two")
        const height = yield* node.mine()
        assert.deepInclude({ ...yield* names.resolveName("d/example") }, { value: "two", height })
        assert.strictEqual((yield* names.freshness).height, height)

        const address = yield* node.newAddress
        yield* names.updateName("d/example", "three", { address })
        yield* node.fund(address, 2.5)
        assert.strictEqual((yield* names.resolveName("d/example")).address, address)
        assert.strictEqual((yield* Effect.flip(node.fund("N1KHAL5C1CRzy58NdJwp1tbLze3XrkFxx9")))._tag, "InvalidRequest")
        assert.strictEqual(yield* node.mine(0), height + 1)

        yield* node.mine(31)
        assert.strictEqual((yield* Effect.flip(names.resolveName("d/example")))._tag, "NameExpired")
        assert.lengthOf(readdirSync(directory), 1)
      }).pipe(Effect.provide(layerRegtest()))
      assert.deepStrictEqual(readdirSync(directory), [])
    }))

  it.scoped("has the clock of the machine in a test with another one, and leaves clock and log level of the test alone", () =>
    Effect.gen(function*() {
      yield* registered("d/example", "{}")
      assert.strictEqual((yield* (yield* NameClient).resolveName("d/example")).value, "{}")
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
      assert.strictEqual(yield* FiberRef.get(FiberRef.currentMinimumLogLevel), LogLevel.Info)
    }).pipe(Effect.provide(layerRegtest())))

  it.scopedLive("two stand side by side", () =>
    Effect.gen(function*() {
      const [one, two] = yield* Effect.all([Layer.build(layerRegtest()), Layer.build(layerRegtest())], {
        concurrency: 2
      })
      yield* Effect.all([
        Effect.provide(registered("d/example", "one"), one),
        Effect.provide(registered("d/example", "two"), two)
      ], { concurrency: 2 })
      const valueIn = (context: Context.Context<NameClient>) =>
        Effect.map(Context.get(context, NameClient).resolveName("d/example"), ({ value }) => value)
      assert.deepStrictEqual([yield* valueIn(one), yield* valueIn(two)], ["one", "two"])
    }))
})
