import type { Block } from "../protocol/block.ts"
import { NAME_TX_VERSION, parseNameScript } from "../protocol/nameOperation.ts"
import type { ChainRecord } from "./record.ts"

/** The names that a block of the chain sets, in block order. */
export const blockNamesOf = (block: Block, height: number): ReadonlyArray<ChainRecord> => {
  const found: Array<ChainRecord> = []
  for (const { outputs, txid, version } of block.transactions) {
    // Only transactions of this version have name scripts (consensus).
    if (version !== NAME_TX_VERSION) continue
    for (const { script } of outputs) {
      const parsed = parseNameScript(script)
      if (parsed === undefined || parsed.operation.op === "name_new") continue
      const { name, value } = parsed.operation
      found.push({ name: name.slice(), value: value.slice(), address: parsed.address.slice(), txid, height })
    }
  }
  return found
}
