import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { rebuildRequested } from "../../../src/chain/repair/rebuild.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { blocksOf, coinState, temporaryDirectory, withChain } from "../../support/chain.ts"
import { fillChain } from "../../support/filledChain.ts"
import { checkAll, damageOf, flipIn, spoilPages } from "../../support/liveDamage.ts"

const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 401)

const { txid } = blocks[350]?.transactions[0] ?? assert.fail("no transaction")
const coins = blocks.flatMap(({ transactions }) => transactions.map(({ txid }) => outpointKey(outpoint(txid, 0))))

const filled = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  yield* fillChain(directory, 400)
  const before = yield* withChain(directory, coinState)
  const chainstate = join(directory, "chainstate")
  return { directory, before, chainstate, file: join(chainstate, "chainstate.db") }
})

/** The node ends. Its next start rebuilds the chain state with the same coins. */
const mended = ({ before, chainstate, directory }: Effect.Effect.Success<typeof filled>) =>
  Effect.gen(function*() {
    assert.isTrue(rebuildRequested(chainstate))
    assert.deepStrictEqual(yield* withChain(directory, coinState), before)
    assert.isFalse(rebuildRequested(chainstate))
  })

describe("chainstate.db that is damaged while the node runs", () => {
  it.scopedLive(
    "damage in a read of a caller ends the node, and the next start rebuilds the chain state",
    () =>
      Effect.gen(function*() {
        const place = yield* filled
        yield* withChain(place.directory, (chain) =>
          Effect.gen(function*() {
            spoilPages(place.file)
            // Some pages are in memory. A read of another page finds the damage.
            const asked = yield* Effect.flip(Effect.forEach(coins, (coin) => chain.coins.coin(coin), { discard: true }))
            assert.strictEqual(asked._tag, "StorageCorrupted")
            const failure = yield* Effect.flip(chain.control.failure)
            assert.strictEqual(failure._tag, "StorageCorrupted")
            assert.include(failure.message, place.file)
          }))
        yield* mended(place)
      }),
    60_000
  )

  it.scopedLive(
    "a flipped bit that SQLite does not notice ends the node at the check",
    () =>
      Effect.gen(function*() {
        const place = yield* filled
        yield* withChain(place.directory, (chain) =>
          Effect.gen(function*() {
            flipIn(place.file, txid)
            yield* checkAll("chainstate.db")
            const failure = yield* Effect.flip(chain.control.failure)
            assert.match(failure.message, /page \d+ does not match its checksum\. Start the node again/)
            assert.strictEqual(yield* damageOf("chainstate.db"), 1)
          }))
        yield* mended(place)
      }),
    60_000
  )

  it.scopedLive("an unreadable page that a new block needs ends the node", () =>
    Effect.gen(function*() {
      const place = yield* filled
      const next = blocksOf("regtest-names/blocks.dat")[401] ?? assert.fail("no block")
      yield* withChain(place.directory, (chain) =>
        Effect.gen(function*() {
          spoilPages(place.file)
          assert.strictEqual((yield* Effect.flip(chain.sink.submit(next)))._tag, "StorageCorrupted")
          assert.strictEqual((yield* Effect.flip(chain.control.failure))._tag, "StorageCorrupted")
        }))
      assert.isTrue(rebuildRequested(place.chainstate))
      yield* withChain(place.directory, (chain) => Effect.map(chain.tip, ({ height }) => assert.isAtLeast(height, 400)))
    }), 15_000)
})
