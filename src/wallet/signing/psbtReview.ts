import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { addressOf } from "../../protocol/address.ts"
import { isMoney } from "../../protocol/amount.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { hash160 } from "../../protocol/hash.ts"
import type { OutpointKey } from "../../protocol/keys.ts"
import {
  addressScript,
  isUsualNameScript,
  NAME_TX_VERSION,
  nameCommitment,
  type NameOperation,
  parseNameScript
} from "../../protocol/nameOperation.ts"
import type { Network } from "../../protocol/networks.ts"
import { isFinalInput, type KeyOrigin, type Psbt, type PsbtMap } from "../../protocol/psbt/Psbt.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { LOCKTIME_THRESHOLD, outpointKey, type TransactionOutput } from "../../protocol/transaction.ts"
import { spentOutput } from "./psbtData.ts"
import { type KeyPolicy, otherHashTypes, policyOf, type SignedSoFar, signedSoFar } from "./psbtSignatures.ts"
import type { SigningProvider } from "./SigningProvider.ts"
import { psbtContext } from "./signPsbt.ts"

/**
 * What a PSBT does, for an owner who signs without a chain. Only the wallet's own scripts tell what is its own: the key
 * origins in a PSBT are claims of its maker.
 */

export interface ReviewKeys {
  readonly network: Network
  /** By scriptPubKey, with or without a name prefix: the scripts that the wallet derives. */
  readonly own: (script: Bytes) => OwnKeys | undefined
  /** Public keys and scripts of the wallet. */
  readonly knowledge: SigningProvider
}

export interface OwnKeys {
  readonly redeemScript: Bytes | undefined
  readonly witnessScript: Bytes | undefined
}

export interface Owner {
  readonly own: boolean
  /** `undefined` for a script without an address. */
  readonly address: string | undefined
  readonly policy: KeyPolicy | undefined
}

export interface ReviewedOutput extends Owner {
  readonly index: number
  readonly script: Bytes
  readonly value: number
  readonly operation: NameOperation | undefined
  /** OP_RETURN, which nobody can spend. */
  readonly isData: boolean
}

export interface ReviewedInput extends Owner {
  readonly index: number
  /** `undefined` without the spent output. */
  readonly value: number | undefined
  readonly operation: NameOperation | undefined
  readonly signed: SignedSoFar
  readonly final: boolean
}

export type Warning =
  | { readonly code: "hash-type"; readonly input: number; readonly types: ReadonlyArray<number> }
  | { readonly code: "stranger"; readonly output: number }
  | { readonly code: "claims-key"; readonly output: number; readonly origin: KeyOrigin }
  | { readonly code: "other-key"; readonly at: "input" | "output"; readonly index: number }
  | { readonly code: "given-away"; readonly output: number }
  | { readonly code: "high-fee"; readonly fee: number }
  | { readonly code: "no-fee" }
  | { readonly code: "unproven-fee"; readonly input: number }
  | { readonly code: "overspent" }
  | { readonly code: "unknown-coin"; readonly input: number }
  | { readonly code: "two-coins"; readonly input: number }
  | { readonly code: "foreign-input"; readonly input: number }
  | { readonly code: "spent-twice"; readonly input: number }
  | { readonly code: "wrong-signature"; readonly input: number }
  | { readonly code: "name-lost"; readonly input: number }
  | { readonly code: "other-name"; readonly input: number | undefined }
  | { readonly code: "many-names" }
  | { readonly code: "wrong-commitment" }
  | { readonly code: "version"; readonly version: number }
  | { readonly code: "odd-script"; readonly output: number }
  | { readonly code: "unlocks"; readonly output: number }
  | { readonly code: "waits"; readonly input: number }
  | { readonly code: "waits-for-time"; readonly lockTime: number }
  | { readonly code: "unknown-records"; readonly count: number }

export interface PsbtReview {
  readonly inputs: ReadonlyArray<ReviewedInput>
  readonly outputs: ReadonlyArray<ReviewedOutput>
  /** The name that is spent and the one that is set, if there is exactly one of each or none. */
  readonly before: NameOperation | undefined
  readonly after: ReviewedOutput | undefined
  /** Smallest units; `undefined` unless all spent outputs are known. */
  readonly fee: number | undefined
  readonly lockTime: number
  readonly warnings: ReadonlyArray<Warning>
}

/** 0.1 NMC in smallest units: the highest fee that wallets pay by default. */
export const HIGH_FEE = 10_000_000

/** Sequences from here on wait for nothing (BIP 68) and let the lock time count. */
const SEQUENCE_DISABLED = 0x80000000

const ownerOf = (script: Bytes, { network, own }: ReviewKeys): Owner => {
  const found = own(script)
  const address = addressScript(script)
  return {
    own: found !== undefined,
    address: addressOf(network, address),
    policy: policyOf(found?.witnessScript) ?? policyOf(found?.redeemScript) ?? policyOf(address)
  }
}

const isSameOrigin = (a: KeyOrigin, b: KeyOrigin): boolean =>
  equal(a.fingerprint, b.fingerprint) && a.path.length === b.path.length &&
  a.path.every((step, n) => step === b.path[n])

const originsOf = ({ origins, taprootOrigins }: PsbtMap): ReadonlyArray<KeyOrigin> =>
  [...origins.values(), ...taprootOrigins.values()].map(({ origin }) => origin)

/** Whether every key that the map names is the wallet's, with the origin that the wallet knows. */
const namesOwnKeys = ({ origins }: PsbtMap, { knowledge }: ReviewKeys): boolean =>
  [...origins.values()].every(({ origin, pubkey }) => {
    const known = knowledge.origin(hash160(pubkey))
    return known !== undefined && isSameOrigin(known, origin)
  })

const reviewOutputs = (psbt: Psbt, keys: ReviewKeys): ReadonlyArray<ReviewedOutput> =>
  psbt.transaction.outputs.map(({ script, value }, index) => ({
    ...ownerOf(script, keys),
    index,
    script,
    value,
    operation: parseNameScript(script)?.operation,
    isData: scriptTemplate(script).type === "nulldata"
  }))

const outputWarnings = (
  psbt: Psbt,
  outputs: ReadonlyArray<ReviewedOutput>,
  keys: ReviewKeys
): ReadonlyArray<Warning> =>
  outputs.flatMap(({ index, operation, own, script, value }): ReadonlyArray<Warning> => {
    const map = psbt.outputs[index]
    const [claimed] = own || map === undefined ? [] : originsOf(map)
    return [
      ...own ? [] : [{ code: operation === undefined ? "stranger" : "given-away", output: index } as const],
      ...claimed === undefined ? [] : [{ code: "claims-key", output: index, origin: claimed } as const],
      ...own && map !== undefined && !namesOwnKeys(map, keys)
        ? [{ code: "other-key", at: "output", index } as const]
        : [],
      ...operation !== undefined && !isUsualNameScript(script) ? [{ code: "odd-script", output: index } as const] : [],
      ...operation !== undefined && value < MIN_NAME_AMOUNT ? [{ code: "unlocks", output: index } as const] : []
    ]
  })

const inputWarnings = (
  psbt: Psbt,
  inputs: ReadonlyArray<ReviewedInput>,
  keys: ReviewKeys
): ReadonlyArray<Warning> => {
  const seen = new Set<OutpointKey>()
  return inputs.flatMap(({ final, index, own, signed, value }): ReadonlyArray<Warning> => {
    const input = psbt.inputs[index]
    const spending = psbt.transaction.inputs[index]
    if (input === undefined || spending === undefined) return []
    const spent = spentOutput(psbt, index)
    const key = outpointKey(spending.prevout)
    const isTwice = seen.has(key)
    seen.add(key)
    const types = otherHashTypes(input, spent?.script)
    const { nonWitnessUtxo, witnessUtxo } = input
    const differs = nonWitnessUtxo !== undefined && witnessUtxo !== undefined && spent !== undefined &&
      !isSameOutput(witnessUtxo, spent)
    return [
      ...isTwice ? [{ code: "spent-twice", input: index } as const] : [],
      ...types.length > 0 ? [{ code: "hash-type", input: index, types } as const] : [],
      ...value === undefined ? [{ code: "unknown-coin", input: index } as const] : [],
      ...differs ? [{ code: "two-coins", input: index } as const] : [],
      ...value !== undefined && !own ? [{ code: "foreign-input", input: index } as const] : [],
      ...own && !namesOwnKeys(input, keys) ? [{ code: "other-key", at: "input", index } as const] : [],
      ...(final && signed.state !== "complete" || signed.have < input.partialSignatures.size)
        ? [{ code: "wrong-signature", input: index } as const]
        : [],
      ...spending.sequence < SEQUENCE_DISABLED ? [{ code: "waits", input: index } as const] : []
    ]
  })
}

const isSameOutput = (a: TransactionOutput, b: TransactionOutput): boolean =>
  a.value === b.value && equal(a.script, b.script)

/** The amounts are proven by the previous transactions, or because every signature commits to all of them (BIP 341). */
const unprovenInput = (psbt: Psbt): number | undefined => {
  const isTaproot = psbt.inputs.every((_, index) => {
    const spent = spentOutput(psbt, index)
    return spent !== undefined && scriptTemplate(spent.script).type === "witness_v1_taproot"
  })
  if (isTaproot) return undefined
  const found = psbt.inputs.findIndex(({ nonWitnessUtxo }) => nonWitnessUtxo === undefined)
  return found === -1 ? undefined : found
}

const sumOf = (values: ReadonlyArray<number>): number | undefined => {
  let sum = 0
  for (const value of values) {
    sum += value
    if (!isMoney(value) || !isMoney(sum)) return undefined
  }
  return sum
}

const feeWarnings = (
  psbt: Psbt,
  { inputs, outputs }: Pick<PsbtReview, "inputs" | "outputs">
): { readonly fee: number | undefined; readonly warnings: ReadonlyArray<Warning> } => {
  const values = inputs.flatMap(({ value }) => value ?? [])
  if (values.length < inputs.length) return { fee: undefined, warnings: [{ code: "no-fee" }] }
  const [coins, paid] = [sumOf(values), sumOf(outputs.map(({ value }) => value))]
  if (coins === undefined || paid === undefined || paid > coins) {
    return { fee: undefined, warnings: [{ code: "overspent" }] }
  }
  const fee = coins - paid
  const unproven = unprovenInput(psbt)
  return {
    fee,
    warnings: [
      ...fee > HIGH_FEE ? [{ code: "high-fee", fee } as const] : [],
      ...unproven === undefined ? [] : [{ code: "unproven-fee", input: unproven } as const]
    ]
  }
}

const nameOf = (operation: NameOperation | undefined): Bytes | undefined =>
  operation === undefined || operation.op === "name_new" ? undefined : operation.name

/** Whether the operation may spend the name coin `before`. */
const follows = (before: NameOperation | undefined, after: NameOperation): Warning["code"] | undefined => {
  switch (after.op) {
    case "name_new":
      return before === undefined ? undefined : "name-lost"
    case "name_firstupdate":
      if (before?.op !== "name_new") return "wrong-commitment"
      return equal(before.commitment, nameCommitment(after.rand, after.name)) ? undefined : "wrong-commitment"
    case "name_update": {
      const name = nameOf(before)
      return name !== undefined && equal(name, after.name) ? undefined : "other-name"
    }
  }
}

const nameWarnings = (
  { inputs, outputs }: Pick<PsbtReview, "inputs" | "outputs">,
  version: number
): ReadonlyArray<Warning> => {
  const before = inputs.filter(({ operation }) => operation !== undefined)
  const after = outputs.filter(({ operation }) => operation !== undefined)
  if (before.length === 0 && after.length === 0) return []
  const [spent] = before
  const [set] = after
  const isUnknown = inputs.some(({ value }) => value === undefined)
  const broken = set?.operation === undefined ? undefined : follows(spent?.operation, set.operation)
  return [
    ...version === NAME_TX_VERSION ? [] : [{ code: "version", version } as const],
    ...before.length > 1 || after.length > 1 ? [{ code: "many-names" } as const] : [],
    ...spent !== undefined && (set === undefined || broken === "name-lost")
      ? [{ code: "name-lost", input: spent.index } as const]
      : [],
    // An input without its output may be the name's coin: "unknown-coin" says so.
    ...broken === "wrong-commitment" && !isUnknown ? [{ code: broken } as const] : [],
    ...broken === "other-name" && !(isUnknown && spent === undefined)
      ? [{ code: broken, input: spent?.index } as const]
      : []
  ]
}

const unknownRecords = ({ inputs, outputs, proprietary, unknown }: Psbt): number =>
  [{ proprietary, unknown }, ...inputs, ...outputs].reduce(
    (sum, map) => sum + map.proprietary.size + map.unknown.size,
    0
  )

export const reviewPsbt = (psbt: Psbt, keys: ReviewKeys): PsbtReview => {
  const { lockTime, version } = psbt.transaction
  const context = psbtContext(psbt)
  const outputs = reviewOutputs(psbt, keys)
  const inputs = psbt.inputs.map((input, index): ReviewedInput => {
    const spent = spentOutput(psbt, index)
    return {
      ...spent === undefined ? { own: false, address: undefined, policy: undefined } : ownerOf(spent.script, keys),
      index,
      value: spent?.value,
      operation: spent === undefined ? undefined : parseNameScript(spent.script)?.operation,
      signed: signedSoFar({ context, index, input }, keys.knowledge),
      final: isFinalInput(input)
    }
  })
  const { fee, warnings } = feeWarnings(psbt, { inputs, outputs })
  const records = unknownRecords(psbt)
  const before = inputs.flatMap(({ operation }) => operation ?? [])
  const after = outputs.filter(({ operation }) => operation !== undefined)
  return {
    inputs,
    outputs,
    before: before.length === 1 ? before[0] : undefined,
    after: after.length === 1 ? after[0] : undefined,
    fee,
    lockTime,
    warnings: [
      ...nameWarnings({ inputs, outputs }, version),
      ...outputWarnings(psbt, outputs, keys),
      ...warnings,
      ...inputWarnings(psbt, inputs, keys),
      ...lockTime >= LOCKTIME_THRESHOLD ? [{ code: "waits-for-time", lockTime } as const] : [],
      ...records > 0 ? [{ code: "unknown-records", count: records } as const] : []
    ]
  }
}
