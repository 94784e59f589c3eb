import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { fromHex } from "../../../src/protocol/bytes.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { mempoolFileMethods } from "../../../src/rpc/methods/mempoolMethods.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { pay, reward } from "../../support/mempool.ts"
import { callsOf, MethodNode } from "../../support/methodNode.ts"
import { spendableNode } from "../../support/spendableNode.ts"

layer(spendableNode)("importmempool", (it) => {
  it.scoped("imports what savemempool wrote, with as much of the rest as its caller allows", () =>
    Effect.gen(function*() {
      const { call, pool } = yield* MethodNode
      yield* Effect.orDie(pool.load)
      const transaction = pay([reward(1)])
      const { txidKey } = transaction
      yield* pool.prioritise(txidKey, 1_000)
      yield* Effect.orDie(pool.accept(transaction))
      pool.broadcastLater(txidKey)
      const filename = yield* Effect.orDie(pool.save)
      pool.broadcastDone(txidKey)
      yield* pool.prioritise(txidKey, -1_000)
      assert.deepStrictEqual((yield* call("importmempool", filename)).value, {})
      assert.strictEqual(pool.get(txidKey)?.modifiedFee, pool.get(txidKey)?.fee)
      assert.isFalse(pool.isUnbroadcast(txidKey))
      yield* call("importmempool", filename, { apply_fee_delta_priority: true, apply_unbroadcast_set: true })
      assert.strictEqual(pool.prioritised().get(txidKey), 1_000)
      assert.isTrue(pool.isUnbroadcast(txidKey))
    }))

  it.scoped("refuses a file that is missing, or something else", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const directory = yield* temporaryDirectory
      const unusable = { code: -1, message: "Unable to import mempool file, see debug.log for details." }
      assert.deepStrictEqual(yield* refusal("importmempool", join(directory, "none")), unusable)
      const other = join(directory, "other")
      for (const hex of ["", "0300000000000000", "01000000000000000100000000000000ff", "020000000000000004aabbccdd"]) {
        writeFileSync(other, fromHex(hex) ?? "")
        assert.deepStrictEqual(yield* refusal("importmempool", other), unusable)
      }
      assert.strictEqual((yield* refusal("importmempool", other, { more: true })).code, -3)
    }))

  it.effect("waits for the end of the initial download", () =>
    Effect.gen(function*() {
      const { pool } = yield* MethodNode
      const methods = yield* Effect.provide(
        mempoolFileMethods,
        Layer.mergeAll(
          Layer.succeed(Mempool, pool),
          Layer.mock(SyncStatus, { initialDownload: Effect.succeed(true) })
        )
      )
      assert.deepStrictEqual(yield* callsOf(methodTable(methods)).refusal("importmempool", "file"), {
        code: -10,
        message: "Can only import the mempool after the block download and sync is done."
      })
    }))
})
