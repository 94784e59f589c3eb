import { FastCheck } from "effect"
import type { Coin } from "../../src/consensus/view.ts"
import {
  makeTransaction,
  NO_WITNESS,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../src/protocol/transaction.ts"
import { coinOf } from "./spending.ts"

const scripts = FastCheck.uint8Array({ maxLength: 60 })

const u32 = FastCheck.nat({ max: 0xffffffff })

const amounts = FastCheck.nat({ max: 21_000_000 * 100_000_000 })

const outputs: FastCheck.Arbitrary<TransactionOutput> = FastCheck.record({ value: amounts, script: scripts })

const coins: FastCheck.Arbitrary<Coin> = FastCheck.tuple(scripts, amounts).map(([script, value]) =>
  coinOf(script, value)
)

const inputs: FastCheck.Arbitrary<TransactionInput> = FastCheck.record({
  prevout: FastCheck.uint8Array({ minLength: 36, maxLength: 36 }),
  scriptSig: scripts,
  sequence: u32,
  witness: FastCheck.oneof(FastCheck.constant(NO_WITNESS), FastCheck.array(scripts, { maxLength: 3 }))
})

/** A transaction with the coins that it spends and one of its inputs. */
export interface Spending {
  readonly transaction: Transaction
  readonly coins: ReadonlyArray<Coin>
  readonly index: number
}

/** Transactions of any content, with and without witnesses; often with fewer outputs than inputs. */
export const spendings: FastCheck.Arbitrary<Spending> = FastCheck.record({
  spent: FastCheck.array(FastCheck.tuple(inputs, coins), { minLength: 1, maxLength: 5 }),
  outputs: FastCheck.array(outputs, { maxLength: 4 }),
  version: u32,
  lockTime: u32,
  seed: FastCheck.nat()
}).map(({ lockTime, outputs, seed, spent, version }) => ({
  transaction: makeTransaction({ version, inputs: spent.map(([input]) => input), outputs, lockTime }),
  coins: spent.map(([, coin]) => coin),
  index: seed % spent.length
}))
