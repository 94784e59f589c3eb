import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import type { NameSetting } from "../../src/protocol/nameOperation.ts"
import { isFailure } from "../../src/verify/nameProof.ts"
import { verifyNameProof } from "../../src/verify/verifyNameProof.ts"
import type { MemoryChain } from "../support/MemoryChain.ts"
import { proofOf } from "../support/nameProofs.ts"
import {
  emptyChain,
  mine,
  nameNew,
  nameTransaction,
  type Outpoint,
  rewardOf,
  saltOf,
  text
} from "../support/regtest.ts"
import { allBlocks, firstOf } from "../support/twoBranches.ts"

/** Proofs of names on chains of random operations, beside what the operations say. */

const NAMES = ["d/a", "d/bb", "id/c"].map(text)

/** Registrations of each name that a chain has room for: a name that expired needs a new one. */
const LIVES = 2

/** Blocks until a name expires on regtest. */
const DEPTH = 30

/** A chain on which all registrations are prepared, and the coins for them, by name and life. */
const BASE: { readonly chain: MemoryChain; readonly prepared: ReadonlyArray<ReadonlyArray<Outpoint>> } = (() => {
  const chain = emptyChain(100 + NAMES.length * LIVES)
  const prepared = NAMES.map((name, i) =>
    Array.from({ length: LIVES }, (_, life) => ({
      transaction: nameTransaction(nameNew(name, saltOf(life)), [rewardOf(chain, 1 + i * LIVES + life)]),
      vout: 0
    }))
  )
  mine(chain, prepared.flat().map(({ transaction }) => transaction))
  // Below, the coinbase of a block that pays to anyone has 64 bytes, as an inner node has: a proof cannot show it.
  while (chain.height < 130) mine(chain)
  return { chain, prepared }
})()

/** The state of a name, as its operations say it. */
interface Life {
  readonly value: string
  readonly height: number
  readonly since: number
  readonly coin: Outpoint
}

/** A chain that grows by random operations. */
class Grown {
  readonly chain = firstOf(BASE.chain, BASE.chain.height)
  readonly lives = new Map<number, Life>()
  private readonly used = new Map<number, number>()

  isAlive({ height }: Life): boolean {
    return !isExpired({ height }, this.chain.height, regtestParams)
  }

  /** Mines a block that changes these names: their values are the numbers. */
  grow(changes: ReadonlyMap<number, number>): void {
    const height = this.chain.height + 1
    const transactions = [...changes].flatMap(([i, number]) => {
      const [name, life, value] = [NAMES[i] ?? assert.fail(), this.lives.get(i), `{"v":${number}}`]
      const goesOn = life !== undefined && !isExpired(life, height, regtestParams)
      const used = this.used.get(i) ?? 0
      const spent = goesOn ? life.coin : BASE.prepared[i]?.[used]
      if (spent === undefined) return []
      const operation: NameSetting = goesOn
        ? { op: "name_update", name, value: text(value) }
        : { op: "name_firstupdate", name, value: text(value), rand: saltOf(used) }
      const transaction = nameTransaction(operation, [spent])
      if (!goesOn) this.used.set(i, used + 1)
      this.lives.set(i, { value, height, since: goesOn ? life.since : height, coin: { transaction, vout: 0 } })
      return [transaction]
    })
    mine(this.chain, transactions)
  }

  /** Verifies the proof of each name that was ever registered, as of the tip. */
  verifyAll(following: number): void {
    const blocks = allBlocks(this.chain).slice(BASE.chain.height)
    const { height: tip, tip: { header } } = this.chain
    for (const [i, life] of this.lives) {
      const name = NAMES[i] ?? assert.fail()
      const chain = { network: "regtest", low: BASE.chain.height, blocks } as const
      const proof = JSON.stringify(proofOf(chain, name, { following, whole: true }))
      const verified = verifyNameProof(proof, { network: "regtest", now: header.time })
      if (!this.isAlive(life)) {
        const since = tip - life.height - DEPTH
        assert.deepStrictEqual(verified, { failed: `the name expired ${since} blocks ago`, code: "expired" })
        continue
      }
      if (isFailure(verified)) return assert.fail(verified.failed)
      const { coin: { transaction }, height, since, value } = life
      assert.deepInclude(verified, {
        nameHex: toHex(name),
        value,
        height,
        since,
        txid: toHex(transaction.txid.toReversed()),
        expiresIn: height + DEPTH - tip,
        confirmations: Math.min(following, tip - height) + 1,
        problems: []
      })
    }
  }
}

const changes = FastCheck.array(
  FastCheck.tuple(FastCheck.nat({ max: NAMES.length - 1 }), FastCheck.nat({ max: 999 })),
  { maxLength: 3 }
).map((each) => new Map(each))

/** A block with changes, then blocks without. */
const steps = FastCheck.array(
  FastCheck.record({ changes, empty: FastCheck.oneof(FastCheck.nat({ max: 3 }), FastCheck.constantFrom(DEPTH, 24)) }),
  { minLength: 1, maxLength: 6 }
)

describe("proofs on a random chain", () => {
  it("show each name as its operations leave it, at every later tip", () => {
    let expired = 0
    FastCheck.assert(
      FastCheck.property(steps, FastCheck.nat({ max: 24 }), (all, following) => {
        const grown = new Grown()
        for (const { changes, empty } of all) {
          grown.grow(changes)
          grown.verifyAll(following)
          for (let i = 0; i < empty; i++) grown.grow(new Map())
          grown.verifyAll(following)
          expired += [...grown.lives.values()].filter((life) => !grown.isAlive(life)).length
        }
      }),
      { numRuns: 15, examples: [[[{ changes: new Map([[0, 1]]), empty: DEPTH }], 6]] }
    )
    assert.isAbove(expired, 0)
  })
})
