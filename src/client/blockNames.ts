import type { NameEntry } from "../names/NameEntry.ts"
import type { Block } from "../protocol/block.ts"
import { NAME_TX_VERSION, parseNameScript } from "../protocol/nameOperation.ts"

export const blockNamesOf = (block: Block, height: number): ReadonlyArray<NameEntry> => {
  const found: Array<NameEntry> = []
  for (const { outputs, txid, version } of block.transactions) {
    // Only transactions of this version have name scripts (consensus).
    if (version !== NAME_TX_VERSION) continue
    for (const [vout, { script, value: amount }] of outputs.entries()) {
      const parsed = parseNameScript(script)
      if (parsed === undefined || parsed.operation.op === "name_new") continue
      const { name, op, value } = parsed.operation
      const address = parsed.address.slice()
      found.push({ name: name.slice(), value: value.slice(), address, txid, height, vout, op, amount })
    }
  }
  return found
}
