import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { isUsualNameScript, NAME_TX_VERSION, type NameSetting, parseNameScript } from "../../protocol/nameOperation.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { SpentOutput } from "./SigningContext.ts"

/**
 * What a wallet unlocked for renewals only may sign: a NAME_UPDATE with an unchanged value whose owner, coins and
 * change are the wallet's own, and which they can spend again. So only the limited fee leaves the wallet.
 */

/** 0.01 NMC in smallest units: some thirty times the lowest relayed fee. */
export const MAX_RENEWAL_FEE = 1_000_000

export interface RenewalRules {
  /** With or without a name prefix. */
  readonly isOwn: (script: Bytes) => boolean
  /** Smallest units. */
  readonly maxFee: number
}

interface NameOutput {
  readonly script: Bytes
  readonly setting: NameSetting
  readonly value: number
}

/** `undefined` for a plain output, "other" for an operation that holds no name yet. */
const nameIn = (
  { script, value }: { readonly script: Bytes; readonly value: number }
): NameOutput | "other" | undefined => {
  const operation = parseNameScript(script)?.operation
  if (operation === undefined) return undefined
  return operation.op === "name_new" ? "other" : { script, setting: operation, value }
}

/** `undefined` for no, several or committed names. */
const onlyName = (
  outputs: ReadonlyArray<{ readonly script: Bytes; readonly value: number }>
): NameOutput | undefined => {
  const [found, ...more] = outputs.flatMap((output) => nameIn(output) ?? [])
  return found === undefined || found === "other" || more.length > 0 ? undefined : found
}

const sum = (outputs: ReadonlyArray<{ readonly value: number }>): number =>
  outputs.reduce((total, { value }) => total + value, 0)

/** `spent` has the outputs that the inputs spend. */
export const renewalProblem = (
  { inputs, outputs, version }: Transaction,
  spent: ReadonlyArray<SpentOutput | undefined>,
  { isOwn, maxFee }: RenewalRules
): string | undefined => {
  const coins = spent.flatMap((coin) => coin?.value === undefined ? [] : [{ script: coin.script, value: coin.value }])
  if (version !== NAME_TX_VERSION) return "it is not a name operation"
  if (coins.length !== inputs.length || !coins.every(({ script }) => isOwn(script))) return "it spends coins of others"
  if (!outputs.every(({ script }) => isOwn(script))) return "it pays to others"
  const [before, after] = [onlyName(coins), onlyName(outputs)]
  if (before === undefined || after === undefined || after.setting.op !== "name_update") {
    return "it is not a name_update"
  }
  if (!equal(before.setting.name, after.setting.name)) return "it is not a name_update"
  if (!equal(before.setting.value, after.setting.value)) return "it changes the value"
  if (!isUsualNameScript(after.script)) return "its name script is unusual: the name could be lost"
  if (after.value < MIN_NAME_AMOUNT) return "it unlocks coins of the name"
  const fee = sum(coins) - sum(outputs)
  return fee < 0 || fee > maxFee ? "its fee is too high" : undefined
}
