import { escapeUnsafe } from "../../base/safeText.ts"
import { Sighash } from "../../consensus/sighash.ts"
import { amountText } from "../../protocol/amount.ts"
import { type Bytes, equal, toHex } from "../../protocol/bytes.ts"
import type { NameOperation, NameSetting } from "../../protocol/nameOperation.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { Owner, PsbtReview, ReviewedInput, ReviewedOutput, Warning } from "./psbtReview.ts"
import type { KeyPolicy } from "./psbtSignatures.ts"

/** A review in words, for a terminal. Names and values may be hostile: nothing in them can look like a line of ours. */

const PLAIN_NAME = /^[!#-[\]-~]+$/

/** A name with other characters than the usual ones is quoted, and followed by its bytes. */
export const nameText = (name: Bytes): string => {
  const text = encodeText(name, "utf8")
  if (text !== undefined && PLAIN_NAME.test(text)) return text
  return text === undefined ? `0x${toHex(name)}` : `${escapeUnsafe(JSON.stringify(text))} (0x${toHex(name)})`
}

const shownValue = (value: Bytes): string => {
  const text = encodeText(value, "utf8")
  if (text === "") return "(empty)"
  return text === undefined ? `0x${toHex(value)}` : escapeUnsafe(text)
}

const policyText = ({ keys, required }: KeyPolicy): string => `${required} of ${keys} keys`

const ownerText = ({ address, own, policy }: Owner): string => {
  const place = address ?? "a script without an address"
  const shared = policy === undefined ? "" : ` (${policyText(policy)})`
  return own ? `this wallet, ${place}${shared}` : `ANOTHER OWNER, ${place}${shared}`
}

const row = ([label, text]: readonly [label: string, text: string]): string => `  ${label.padEnd(12)}${text}`

const lockText = (lockTime: number): string => `in blocks after ${lockTime}`

const settingOf = (operation: NameOperation | undefined): NameSetting | undefined =>
  operation === undefined || operation.op === "name_new" ? undefined : operation

const updateLines = (setting: NameSetting, owner: ReviewedOutput, before: NameSetting | undefined) => {
  const name = nameText(setting.name)
  const keeps = before !== undefined && equal(before.value, setting.value)
  const isSame = before !== undefined && equal(before.name, setting.name)
  const title = !owner.own
    ? `GIVES AWAY ${name}`
    : !isSame
    ? `Sets ${name}`
    : keeps
    ? `Renews ${name}`
    : `Changes ${name}`
  return [
    title,
    ...isSame && !keeps ? [row(["Old value", shownValue(before.value)])] : [],
    row([
      isSame && !keeps ? "New value" : "Value",
      `${shownValue(setting.value)}${isSame && keeps ? "  (unchanged)" : ""}`
    ]),
    row([owner.own ? "Owner" : "NEW OWNER", ownerText(owner)])
  ]
}

const nameLines = ({ after, before, inputs, outputs }: PsbtReview): ReadonlyArray<string> => {
  const operation = after?.operation
  if (after === undefined || operation === undefined) {
    return outputs.some((output) => output.operation !== undefined)
      ? ["Sets several names, which the network refuses"]
      : inputs.some((input) => input.operation !== undefined)
      ? ["GIVES UP A NAME"]
      : ["Pays, without any name"]
  }
  switch (operation.op) {
    case "name_new":
      return ["Commits to a name without revealing it", row(["Owner", ownerText(after)])]
    case "name_firstupdate":
      return [
        `Registers ${nameText(operation.name)}`,
        row(["Value", shownValue(operation.value)]),
        row([after.own ? "Owner" : "OWNER", ownerText(after)])
      ]
    case "name_update":
      return updateLines(operation, after, settingOf(before))
  }
}

const signedText = ({ final, signed: { have, need, state } }: ReviewedInput): string => {
  if (state === "complete") return final ? "final" : `signed, ${have} of ${need} signatures`
  return `${have} of ${need} signatures`
}

const inputText = (input: ReviewedInput): string => {
  const { index, operation, own, policy, value } = input
  const name = settingOf(operation)
  const what = operation === undefined
    ? value === undefined ? "UNKNOWN COIN" : amountText(value)
    : name === undefined
    ? "the commitment of a name"
    : `the name ${nameText(name.name)}`
  const whose = value === undefined ? "" : own ? ", of this wallet" : ", OF ANOTHER OWNER"
  const shared = policy === undefined ? "" : `, ${policyText(policy)}`
  return row([`Input ${index}`, `${what}${whose}${shared}: ${signedText(input)}`])
}

const HASH_TYPES: ReadonlyMap<number, string> = new Map([
  [Sighash.NONE, "NONE"],
  [Sighash.SINGLE, "SINGLE"],
  [Sighash.ALL | Sighash.ANYONECANPAY, "ALL|ANYONECANPAY"],
  [Sighash.NONE | Sighash.ANYONECANPAY, "NONE|ANYONECANPAY"],
  [Sighash.SINGLE | Sighash.ANYONECANPAY, "SINGLE|ANYONECANPAY"]
])

const originText = (fingerprint: Bytes, path: ReadonlyArray<number>): string =>
  `${toHex(fingerprint)}${path.map((step) => step >= 2 ** 31 ? `/${step - 2 ** 31}h` : `/${step}`).join("")}`

/** Without a full stop, so that it can end an error. */
export const warningText = (warning: Warning): string => {
  switch (warning.code) {
    case "hash-type":
      return `input ${warning.input}: the signature type ${
        warning.types.map((type) => HASH_TYPES.get(type) ?? `0x${(type >>> 0).toString(16)}`).join(", ")
      } lets others change the transaction after you have signed it; only ALL is signed`
    case "stranger":
      return `output ${warning.output} pays another owner`
    case "claims-key":
      return `output ${warning.output} claims to belong to the key ${
        originText(warning.origin.fingerprint, warning.origin.path)
      }, but this wallet does not derive its address`
    case "other-key":
      return `${warning.at} ${warning.index} names keys that this wallet does not have there`
    case "given-away":
      return `output ${warning.output} gives the name to another owner`
    case "high-fee":
      return `the fee of ${amountText(warning.fee)} is very high`
    case "no-fee":
      return "the fee is unknown: it may be all that the missing coins hold"
    case "unproven-fee":
      return `input ${warning.input} lacks the transaction that it spends, so its amount and the fee may be false`
    case "overspent":
      return "the amounts are impossible: it pays more than its coins hold"
    case "unknown-coin":
      return `input ${warning.input} does not say what it spends`
    case "two-coins":
      return `input ${warning.input} has two different descriptions of the coin that it spends`
    case "foreign-input":
      return `input ${warning.input} spends a coin of another owner`
    case "spent-twice":
      return `input ${warning.input} spends the same coin as another input`
    case "wrong-signature":
      return `input ${warning.input} has an invalid signature`
    case "name-lost":
      return `input ${warning.input} spends the coin of a name or commitment, and no output keeps it: it would be lost`
    case "other-name":
      return warning.input === undefined
        ? "no input spends the name that it sets: the network refuses it"
        : `input ${warning.input} spends a different name from the one it sets: the network refuses it`
    case "many-names":
      return "it spends or sets more than one name: the network refuses it"
    case "wrong-commitment":
      return "no input spends a commitment to this name: the network refuses it"
    case "version":
      return `version ${warning.version} is not that of name transactions: the network refuses it`
    case "odd-script":
      return `output ${warning.output} has an unusual name script: its owner may not be able to spend the name again`
    case "unlocks":
      return `output ${warning.output} holds less than a name must: it takes coins out of the name`
    case "waits":
      return `input ${warning.input} makes the transaction wait: it is valid only some time after its coin`
    case "waits-for-time":
      return `the transaction is valid only after ${new Date(1000 * warning.lockTime).toISOString().slice(0, 16)} UTC`
    case "unknown-records":
      return `${warning.count} records are of a kind that svcd does not know`
  }
}

const moneyLines = (outputs: ReadonlyArray<ReviewedOutput>): ReadonlyArray<string> =>
  outputs.filter(({ operation }) => operation === undefined).map((output) => {
    const { address, isData, own, value } = output
    if (own) return row(["Change", `${amountText(value)} to ${ownerText(output)}`])
    const place = isData ? "A DATA OUTPUT THAT NOBODY CAN SPEND" : address ?? "A SCRIPT WITHOUT AN ADDRESS"
    return row(["PAYS", `${amountText(value)} TO ANOTHER OWNER: ${place}`])
  })

/** The name, the payments, the fee and the signatures. */
export const reviewFacts = (review: PsbtReview): ReadonlyArray<string> => {
  const { fee, inputs, lockTime, outputs, warnings } = review
  const isUnproven = warnings.some(({ code }) => code === "unproven-fee")
  const lock = lockTime > 0 && !warnings.some(({ code }) => code === "waits-for-time")
    ? [row(["Valid", lockText(lockTime)])]
    : []
  return [
    ...nameLines(review),
    ...moneyLines(outputs),
    row(["Fee", fee === undefined ? "UNKNOWN" : `${amountText(fee)}${isUnproven ? "  (UNPROVEN)" : ""}`]),
    ...lock,
    ...inputs.map(inputText)
  ]
}

/** The facts, then warnings. */
export const reviewLines = (review: PsbtReview): ReadonlyArray<string> => [
  ...reviewFacts(review),
  ...review.warnings.map((warning) => `WARNING: ${warningText(warning)}`)
]
