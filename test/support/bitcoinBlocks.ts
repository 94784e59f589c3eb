import type { Coin, ScriptCheck } from "../../src/consensus/view.ts"
import { HEADER_SIZE } from "../../src/protocol/header.ts"
import { Reader } from "../../src/protocol/Reader.ts"
import { readTransaction } from "../../src/protocol/transaction.ts"
import { fixtureBytes } from "./fixtures.ts"

/** The outputs that a block's inputs spend, in the order of the inputs, each as a transaction stores it. */
const readSpent = (name: string): ReadonlyArray<Coin> => {
  const reader = new Reader(fixtureBytes(`bitcoin-blocks/bcoin/${name}-undo.raw`))
  const coins: Array<Coin> = []
  while (reader.remaining > 0) {
    coins.push({ value: reader.i64("value"), script: reader.varBytes("script"), height: 1, coinbase: false })
  }
  return coins
}

/** The script checks of a real Bitcoin block with its spent outputs, by the file's name: `block300025`. */
export const bitcoinChecks = (name: string): ReadonlyArray<ScriptCheck> => {
  const reader = new Reader(fixtureBytes(`bitcoin-blocks/bcoin/${name}.raw`), HEADER_SIZE)
  const spent = readSpent(name)
  const checks: Array<ScriptCheck> = []
  let at = 0
  for (let left = reader.count("transactions", 60); left > 0; left--) {
    const transaction = readTransaction(reader)
    if (transaction.isCoinbase) continue
    const coins = spent.slice(at, at + transaction.inputs.length)
    at += coins.length
    checks.push({ transaction, coins })
  }
  reader.end("block")
  if (at !== spent.length) throw new Error(`${name} spends ${at} outputs, not ${spent.length}`)
  return checks
}
