import { assert } from "@effect/vitest"
import { hasNoHistory, scriptHashOf } from "../../src/chain/indexes/hashRows.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { outpointText } from "../../src/protocol/transaction.ts"

/** What a scan of blocks finds of scripts, in the simplest way: the model for the index. */

export interface ScannedCoin {
  readonly tx_hash: string
  readonly tx_pos: number
  readonly height: number
  readonly value: number
  readonly isName: boolean
}

export interface ScannedScript {
  readonly history: Array<{ readonly tx_hash: string; readonly height: number }>
  /** By `TXID:VOUT`. */
  readonly coins: Map<string, ScannedCoin>
}

/** By script hash as clients write it. */
export type ScannedScripts = Map<string, ScannedScript>

export const shownHashOf = (script: Uint8Array): string => displayHash(scriptHashOf(script))

const holdsName = (version: number, script: Uint8Array): boolean =>
  version === NAME_TX_VERSION &&
  ["name_firstupdate", "name_update"].includes(parseNameScript(script)?.operation.op ?? "")

export const scanScripts = (blocks: ReadonlyArray<Pick<Block, "transactions">>): ScannedScripts => {
  const found: ScannedScripts = new Map()
  const owners = new Map<string, string>()
  const of = (hash: string): ScannedScript => {
    const known = found.get(hash) ?? { history: [], coins: new Map<string, ScannedCoin>() }
    found.set(hash, known)
    return known
  }
  for (const [height, { transactions }] of blocks.entries()) {
    for (const { inputs, isCoinbase, outputs, txid, version } of transactions) {
      const tx_hash = displayHash(txid)
      const touched = new Set<string>()
      for (const { prevout } of isCoinbase ? [] : inputs) {
        const spent = outpointText(prevout)
        const hash = owners.get(spent) ?? assert.fail(`${spent} is not known`)
        of(hash).coins.delete(spent)
        touched.add(hash)
      }
      for (const [tx_pos, { script, value }] of outputs.entries()) {
        const hash = shownHashOf(script)
        owners.set(`${tx_hash}:${tx_pos}`, hash)
        if (hasNoHistory(script)) continue
        of(hash).coins.set(`${tx_hash}:${tx_pos}`, {
          tx_hash,
          tx_pos,
          height,
          value,
          isName: holdsName(version, script)
        })
        touched.add(hash)
      }
      for (const hash of touched) of(hash).history.push({ tx_hash, height })
    }
  }
  return found
}
