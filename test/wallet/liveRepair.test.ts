import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { toHex } from "../../src/protocol/bytes.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { checkAll, damageOf, doubted, flipIn, spoilPages } from "../support/liveDamage.ts"
import { withWallets } from "../support/liveWallets.ts"

/** The state of the wallet that comes from blocks. */
const known = (wallet: Wallet) =>
  wallet.ledger.transactions().map(({ state, transaction }) => [toHex(transaction.txid), state.type])

const filled = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const before = yield* withWallets(directory, ({ address, mine, wallet }) =>
    Effect.gen(function*() {
      yield* mine(5, { script: yield* address })
      return known(wallet)
    }))
  assert.isAbove(before.length, 1)
  return { directory, before, file: join(directory, "chainstate", "wallet.db") }
})

describe("the index of a wallet that is damaged while the node runs", () => {
  it.scopedLive("is rebuilt from memory when a block changes it", () =>
    Effect.gen(function*() {
      const { before, directory, file } = yield* filled
      const after = yield* withWallets(directory, ({ address, mine, wallet }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(known(wallet), before)
          spoilPages(file)
          yield* mine(1, { script: yield* address })
          assert.strictEqual(yield* damageOf("wallet.db"), 1)
          assert.deepStrictEqual(yield* doubted, [])
          yield* checkAll("wallet.db")
          assert.strictEqual(yield* damageOf("wallet.db"), 1)
          return known(wallet)
        }))
      assert.strictEqual(after.length, before.length + 1)
      assert.deepStrictEqual(yield* withWallets(directory, ({ wallet }) => Effect.sync(() => known(wallet))), after)
    }), 60_000)

  it.scopedLive(
    "is rebuilt by the check after a bit flip that SQLite reads without an error",
    () =>
      Effect.gen(function*() {
        const { before, directory, file } = yield* filled
        yield* withWallets(directory, ({ wallet }) =>
          Effect.gen(function*() {
            flipIn(file, wallet.ledger.transactions()[0]?.transaction.bytes ?? assert.fail("no transaction"))
            yield* checkAll("wallet.db")
            assert.strictEqual(yield* damageOf("wallet.db"), 1)
            yield* checkAll("wallet.db")
            assert.strictEqual(yield* damageOf("wallet.db"), 1)
            assert.deepStrictEqual(known(wallet), before)
          }))
        assert.deepStrictEqual(yield* withWallets(directory, ({ wallet }) => Effect.sync(() => known(wallet))), before)
      }),
    60_000
  )
})
