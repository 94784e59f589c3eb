import { blockConnectDuration, blocks, nameOperations, validationErrors } from "../../metrics/metrics.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { Op } from "../../protocol/script.ts"
import type { Connected, Settled } from "../state/Connector.ts"

/** The NAME_NEW outputs in a block, which are not name effects. */
const countNameNew = ({ block }: Connected): number => {
  let count = 0
  for (const { outputs, version } of block.transactions) {
    if (version !== NAME_TX_VERSION) continue
    for (const { script } of outputs) {
      // The first byte excludes all other scripts without parsing.
      if (script[0] === Op.OP_1 && parseNameScript(script)?.operation.op === "name_new") count += 1
    }
  }
  return count
}

export const recordBatch = ({ connected, refused }: Settled, ms: number): void => {
  if (refused !== undefined) validationErrors.of("block").increase()
  const share = ms / 1000 / connected.length
  for (const one of connected) {
    blocks.of("connected").increase()
    blockConnectDuration.observe(share)
    nameOperations.of("name_new").increase(countNameNew(one))
    for (const { operation } of one.effects) nameOperations.of(operation.op).increase()
  }
}

export const recordDisconnected = (): void => blocks.of("disconnected").increase()

/** Counts a header or block that is refused before its transactions are validated. */
export const recordRefused = (what: "header" | "block"): void => validationErrors.of(what).increase()
