import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { addressScript, type NameScript } from "../protocol/nameOperation.ts"
import { isPayToScriptHash, Op, ScriptCursor, witnessVersion } from "../protocol/script.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { Flag } from "./flags.ts"
import { WITNESS_SCALE_FACTOR } from "./params.ts"
import type { Coin } from "./view.ts"

// Signature operations, which are limited per block (BIP 16, BIP 141; reference/protocol.md 5.2). Name prefixes are
// stripped before testing for P2SH or a witness program. The plain count covers the whole script.

/** What a multisignature check with an unknown number of keys counts (consensus). */
const MAX_KEYS = 20

const WITNESS_KEY_HASH_SIZE = 20
const WITNESS_SCRIPT_HASH_SIZE = 32

/** One cursor for all counts, which run for every script of a block. It keeps no script afterwards. */
const cursor = new ScriptCursor(EMPTY)

/**
 * Up to the first truncated push. With `accurate`, the opcode before a multisignature check gives its number of keys.
 * Source: upstream `script/script.cpp`, `GetSigOpCount`.
 */
export const countSigops = (script: Bytes, accurate: boolean): number => {
  cursor.begin(script)
  let count = 0
  let last: number = Op.OP_INVALIDOPCODE
  while (cursor.next()) {
    const { opcode } = cursor
    if (opcode === Op.OP_CHECKSIG || opcode === Op.OP_CHECKSIGVERIFY) count++
    else if (opcode === Op.OP_CHECKMULTISIG || opcode === Op.OP_CHECKMULTISIGVERIFY) {
      count += accurate && last >= Op.OP_1 && last <= Op.OP_16 ? last - Op.OP_1 + 1 : MAX_KEYS
    }
    last = opcode
  }
  cursor.begin(EMPTY)
  return count
}

/** Source: upstream `GetLegacySigOpCount`. */
export const legacySigops = ({ inputs, outputs }: Transaction): number => {
  let count = 0
  for (const { scriptSig } of inputs) count += countSigops(scriptSig, false)
  for (const { script } of outputs) count += countSigops(script, false)
  return count
}

/** `undefined` for scripts that are not push-only. */
const lastPush = (scriptSig: Bytes): Bytes | undefined => {
  cursor.begin(scriptSig)
  let isPushOnly = true
  while (isPushOnly && cursor.next()) isPushOnly = cursor.opcode <= Op.OP_16
  const last = isPushOnly && !cursor.failed ? cursor.data : undefined
  cursor.begin(EMPTY)
  return last
}

/** The signature operations of a witness program, if `address` is one. Source: upstream `WitnessSigOps`. */
const programSigops = (address: Bytes, witness: ReadonlyArray<Bytes>): number => {
  if (witnessVersion(address) !== 0) return 0
  const size = address.length - 2
  if (size === WITNESS_KEY_HASH_SIZE) return 1
  const script = witness[witness.length - 1]
  return size === WITNESS_SCRIPT_HASH_SIZE && script !== undefined ? countSigops(script, true) : 0
}

/**
 * The signatures that an input can check, at most: in its own script, the coin's, and the one that it reveals. No opcode runs
 * twice, and a number of keys runs with its multisignature check.
 */
export const mostSignatureChecks = (
  { scriptSig, witness }: Pick<SpendingInput, "scriptSig" | "witness">,
  spent: Bytes
): number => {
  const address = addressScript(spent)
  const redeem = isPayToScriptHash(address) ? lastPush(scriptSig) ?? EMPTY : EMPTY
  const plain = [scriptSig, spent, redeem].reduce((sum, script) => sum + countSigops(script, true), 0)
  return plain + programSigops(address, witness) + programSigops(addressScript(redeem), witness)
}

export interface SpendingInput {
  readonly scriptSig: Bytes
  /** The spent script without its name prefix. */
  readonly address: Bytes
  readonly witness: ReadonlyArray<Bytes>
  readonly flags: number
}

/** Beyond those in the transaction's own scripts. Source: upstream `GetP2SHSigOpCount`, `CountWitnessSigOps`. */
export const inputSigopCost = (
  { address, flags, scriptSig, witness }: SpendingInput
): number => {
  if (!isPayToScriptHash(address)) return (flags & Flag.WITNESS) === 0 ? 0 : programSigops(address, witness)
  if ((flags & (Flag.P2SH | Flag.WITNESS)) === 0) return 0
  const redeemScript = lastPush(scriptSig)
  if (redeemScript === undefined) return 0
  const cost = (flags & Flag.P2SH) === 0 ? 0 : WITNESS_SCALE_FACTOR * countSigops(redeemScript, true)
  return (flags & Flag.WITNESS) === 0 ? cost : cost + programSigops(addressScript(redeemScript), witness)
}

export interface SigopInputs {
  /** In the order of the inputs; empty for a coinbase. */
  readonly coins: ReadonlyArray<Coin>
  readonly flags: number
  /** The name scripts of the coins, if the caller has them. */
  readonly spent?: ReadonlyArray<NameScript | undefined>
}

/** Source: upstream `GetTransactionSigOpCost`. */
export const transactionSigopCost = (
  transaction: Transaction,
  { coins, flags, spent }: SigopInputs
): number => {
  let cost = WITNESS_SCALE_FACTOR * legacySigops(transaction)
  if ((flags & (Flag.P2SH | Flag.WITNESS)) === 0) return cost
  const { inputs } = transaction
  for (let i = 0; i < coins.length; i++) {
    const input = inputs[i]
    const coin = coins[i]
    if (input === undefined || coin === undefined) continue
    const address = spent === undefined ? addressScript(coin.script) : spent[i]?.address ?? coin.script
    cost += inputSigopCost({ scriptSig: input.scriptSig, address, witness: input.witness, flags })
  }
  return cost
}
