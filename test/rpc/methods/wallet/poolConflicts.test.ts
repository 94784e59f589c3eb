import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Mempool } from "../../../../src/mempool/Mempool.ts"
import type { PoolEntry } from "../../../../src/mempool/PoolEntry.ts"
import { displayHash, EMPTY } from "../../../../src/protocol/bytes.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  outpointKey,
  type Transaction
} from "../../../../src/protocol/transaction.ts"
import { standingJson } from "../../../../src/rpc/methods/wallet/walletTransactions.ts"
import type { WalletTx } from "../../../../src/wallet/ledger/WalletLedger.ts"
import { mempoolWith } from "../../../network/relay/fakePool.ts"
import { fakeWallet, ownScript, walletTx } from "../../../support/fakeWallet.ts"

const spend = (
  coins: ReadonlyArray<readonly [txid: Uint8Array, vout: number]>,
  { value = 1, version = 2 }: { readonly value?: number; readonly version?: number } = {}
): Transaction =>
  makeTransaction({
    version,
    inputs: coins.map(([txid, vout]) => ({
      prevout: outpoint(txid, vout),
      scriptSig: EMPTY,
      sequence: 0xffffffff,
      witness: NO_WITNESS
    })),
    outputs: [{ value, script: ownScript(1).script }],
    lockTime: 0
  })

const OLD = new Uint8Array(32).fill(3)

const entryOf = (transaction: Transaction): PoolEntry => ({
  transaction,
  fee: 0,
  modifiedFee: 0,
  weight: transaction.weight,
  vsize: transaction.virtualSize,
  sigopCost: 0,
  time: 0,
  height: 1,
  sequence: 1,
  inPackage: false,
  name: undefined
})

/** `mempoolconflicts` of a transaction, beside a mempool and the other transactions of its wallet. */
const conflictsOf = (tx: WalletTx, inPool: ReadonlyArray<Transaction>, others: ReadonlyArray<WalletTx> = []) =>
  Effect.gen(function*() {
    const spends = (parent: Transaction) => (child: Transaction): boolean =>
      child.inputs.some(({ prevout }) =>
        parent.outputs.some((_, vout) => outpointKey(prevout) === outpointKey(outpoint(parent.txid, vout)))
      )
    const pool = yield* Effect.provide(
      Mempool,
      mempoolWith({
        get: (txid) => inPool.filter(({ txidKey }) => txidKey === txid).map(entryOf)[0],
        ancestors: () => [],
        spender: (key) =>
          inPool.filter(({ inputs }) => inputs.some(({ prevout }) => outpointKey(prevout) === key)).map(entryOf)[0],
        children: (txid) =>
          inPool.filter(({ txidKey }) => txidKey === txid)
            .flatMap((parent) => inPool.filter(spends(parent)).map(entryOf))
      })
    )
    const { wallet } = fakeWallet({}, { transactions: [tx, ...others] })
    return standingJson({ network: regtest, wallet, pool }, tx).mempoolconflicts
  })

const inactive = { type: "inactive", abandoned: false } as const

const shown = ({ txid }: Transaction): string => displayHash(txid)

describe("mempoolconflicts", () => {
  it.effect("lists what spends an input of the transaction or of an unconfirmed ancestor", () =>
    Effect.gen(function*() {
      const parent = spend([[OLD, 0], [OLD, 1]])
      const child = spend([[parent.txid, 0]])
      const rival = spend([[OLD, 1]], { value: 2 })
      const parentTx = walletTx(parent, { state: inactive })
      assert.deepStrictEqual(yield* conflictsOf(parentTx, [rival]), [shown(rival)])
      assert.deepStrictEqual(yield* conflictsOf(walletTx(child, { state: inactive }), [rival], [parentTx]), [
        shown(rival)
      ])
      const block = { type: "confirmed", height: 0, hash: OLD, index: 0, blockTime: 0 } as const
      assert.deepStrictEqual(
        yield* conflictsOf(walletTx(child, { state: inactive }), [rival], [walletTx(parent, { state: block })]),
        []
      )
      assert.deepStrictEqual(yield* conflictsOf(walletTx(child), [parent, child], [walletTx(parent)]), [])
    }))

  it.effect("lists the other child of a parent of version 3, and of no other version", () =>
    Effect.gen(function*() {
      for (const [version, expected] of [[3, 1], [2, 0]] as const) {
        const parent = spend([[OLD, 0]], { version })
        const both = makeTransaction({ ...parent, outputs: [...parent.outputs, ...parent.outputs] })
        const first = spend([[both.txid, 0]], { version })
        const second = spend([[both.txid, 1]], { version })
        const listed = yield* conflictsOf(walletTx(first, { state: inactive }), [both, second])
        assert.deepStrictEqual(listed, expected === 1 ? [shown(second)] : [])
      }
    }))
})
