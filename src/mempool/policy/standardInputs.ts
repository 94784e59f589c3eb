import { Flag, NO_FLAGS } from "../../consensus/flags.ts"
import { evaluate } from "../../consensus/interpreter/evaluate.ts"
import { ANNEX_TAG, TAPSCRIPT_LEAF } from "../../consensus/interpreter/limits.ts"
import { Machine } from "../../consensus/interpreter/Machine.ts"
import { WITNESS_SCALE_FACTOR } from "../../consensus/params.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import { SighashContext } from "../../consensus/sighash.ts"
import { countSigops, inputSigopCost } from "../../consensus/sigops.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { isPayToScriptHash, witnessVersion } from "../../protocol/script.ts"
import { scriptTemplate } from "../../protocol/scriptType.ts"
import { NO_WITNESS, type Transaction, type TransactionInput } from "../../protocol/transaction.ts"
import {
  MAX_LEGACY_SIGOPS,
  MAX_REDEEM_SIGOPS,
  MAX_TAPSCRIPT_ITEM_SIZE,
  MAX_WITNESS_ITEM_SIZE,
  MAX_WITNESS_ITEMS,
  MAX_WITNESS_SCRIPT_SIZE
} from "./limits.ts"
import { isTaprootName } from "./standard.ts"

// Standardness of what transactions spend and how (reference/protocol.md 5.5). `coins` are those of the inputs, in
// order. The transaction has passed `checkStandard` and is not a coinbase.

/** The top of the stack after an input's scriptSig: the redeem script of a P2SH coin. */
const redeemScript = (transaction: Transaction, coins: ReadonlyArray<Coin>, index: number): Bytes | undefined => {
  const scriptSig = transaction.inputs[index]?.scriptSig
  if (scriptSig === undefined) return undefined
  const stack: Array<Bytes> = []
  const context = new SighashContext(transaction, coins)
  const error = evaluate(
    new Machine({ context, index, flags: NO_FLAGS }, { script: scriptSig, stack, version: "base" })
  )
  return error === undefined ? stack[stack.length - 1] : undefined
}

/** The signature operations that an input executes outside of witnesses (upstream `CheckSigopsBIP54`). */
const legacyInputSigops = ({ scriptSig }: TransactionInput, { script }: Coin): number => {
  const address = addressScript(script)
  const spent = isPayToScriptHash(address)
    ? inputSigopCost({ scriptSig, address, witness: NO_WITNESS, flags: Flag.P2SH }) / WITNESS_SCALE_FACTOR
    : countSigops(script, true)
  return countSigops(scriptSig, true) + spent
}

const hasFewSigops = ({ inputs }: Transaction, coins: ReadonlyArray<Coin>): boolean => {
  let count = 0
  for (const [i, input] of inputs.entries()) {
    const coin = coins[i]
    if (coin !== undefined) count += legacyInputSigops(input, coin)
    if (count > MAX_LEGACY_SIGOPS) return false
  }
  return true
}

const isStandardInput = (transaction: Transaction, coins: ReadonlyArray<Coin>, index: number): boolean => {
  const script = coins[index]?.script
  if (script === undefined || isTaprootName(script)) return false
  switch (scriptTemplate(script).type) {
    case "nonstandard":
    case "witness_unknown":
      return false
    case "scripthash": {
      const redeem = redeemScript(transaction, coins, index)
      return redeem !== undefined && countSigops(redeem, true) <= MAX_REDEEM_SIGOPS
    }
    default:
      return true
  }
}

/**
 * Refuses a transaction that spends scripts of unknown forms or with too many signature operations. Source: upstream
 * `policy/policy.cpp`, `AreInputsStandard`.
 */
export const checkStandardInputs = (transaction: Transaction, coins: ReadonlyArray<Coin>): Reject | undefined => {
  const isStandard = hasFewSigops(transaction, coins) &&
    transaction.inputs.every((_, i) => isStandardInput(transaction, coins, i))
  return isStandard ? undefined : reject("bad-txns-nonstandard-inputs")
}

const areShort = (items: ReadonlyArray<Bytes>, size: number): boolean => items.every(({ length }) => length <= size)

/** Checks a witness whose last item is the script to execute. */
const isStandardScriptWitness = (witness: ReadonlyArray<Bytes>): boolean => {
  const script = witness[witness.length - 1]
  const items = witness.slice(0, -1)
  return script !== undefined && script.length <= MAX_WITNESS_SCRIPT_SIZE && items.length <= MAX_WITNESS_ITEMS &&
    areShort(items, MAX_WITNESS_ITEM_SIZE)
}

/** Clears the bit of a control block's first byte that is not part of the leaf version. */
const LEAF_MASK = 0xfe

const isStandardTaprootWitness = (witness: ReadonlyArray<Bytes>): boolean => {
  if (witness.length < 2) return true
  const control = witness[witness.length - 1]?.[0]
  // An annex has no meaning yet, and an empty control block is invalid.
  if (control === undefined || control === ANNEX_TAG) return false
  return (control & LEAF_MASK) !== TAPSCRIPT_LEAF || areShort(witness.slice(0, -2), MAX_TAPSCRIPT_ITEM_SIZE)
}

const KEY_SIZE = 32

/** The witness program that an input executes, and whether it is a redeem script. */
interface Program {
  readonly script: Bytes
  readonly isRedeem: boolean
}

const programOf = (transaction: Transaction, coins: ReadonlyArray<Coin>, index: number): Program | undefined => {
  const spent = coins[index]?.script
  if (spent === undefined) return undefined
  const address = addressScript(spent)
  const isRedeem = isPayToScriptHash(address)
  const redeem = isRedeem ? redeemScript(transaction, coins, index) : address
  if (redeem === undefined) return undefined
  const script = isRedeem ? addressScript(redeem) : address
  return witnessVersion(script) === -1 ? undefined : { script, isRedeem }
}

const isStandardWitness = (transaction: Transaction, coins: ReadonlyArray<Coin>, index: number): boolean => {
  const witness = transaction.inputs[index]?.witness ?? NO_WITNESS
  if (witness.length === 0) return true
  // An anchor needs no witness, which would only add size.
  if (scriptTemplate(coins[index]?.script ?? new Uint8Array(0)).type === "anchor") return false
  const program = programOf(transaction, coins, index)
  if (program === undefined) return false
  const { isRedeem, script } = program
  if (script.length - 2 !== KEY_SIZE) return true
  const version = witnessVersion(script)
  if (version === 0) return isStandardScriptWitness(witness)
  return version !== 1 || isRedeem || isStandardTaprootWitness(witness)
}

/**
 * Refuses a transaction with a witness that is too large for relay or that its input does not need. Source: upstream
 * `policy/policy.cpp`, `IsWitnessStandard`.
 */
export const checkStandardWitness = (transaction: Transaction, coins: ReadonlyArray<Coin>): Reject | undefined =>
  !transaction.hasWitness || transaction.inputs.every((_, i) => isStandardWitness(transaction, coins, i))
    ? undefined
    : reject("bad-witness-nonstandard")

const isAnchorProgram = (script: Bytes): boolean => scriptTemplate(script).type === "anchor"

/**
 * Whether a transaction spends a witness program other than an anchor. If it has no witness, it lost that on its way,
 * and its failure does not discredit the original. Source: upstream `policy/policy.cpp`, `SpendsNonAnchorWitnessProg`.
 */
export const spendsWitnessProgram = (transaction: Transaction, coins: ReadonlyArray<Coin>): boolean =>
  transaction.inputs.some((_, i) => {
    const program = programOf(transaction, coins, i)
    return program !== undefined && (program.isRedeem || !isAnchorProgram(program.script))
  })
