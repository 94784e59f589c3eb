import { type Bytes, concat, equal } from "../protocol/bytes.ts"
import { sha256 } from "../protocol/hash.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { isPayToScriptHash, isPushOnly, Op, pushData, witnessVersion } from "../protocol/script.ts"
import { Flag } from "./flags.ts"
import { evaluate } from "./interpreter/evaluate.ts"
import { executeWitness } from "./interpreter/executeWitness.ts"
import { type InputCheck, Machine } from "./interpreter/Machine.ts"
import { type ScriptError, scriptErrorMessages } from "./interpreter/scriptError.ts"
import { isTrue } from "./interpreter/scriptNumber.ts"
import { verifyTaproot } from "./interpreter/taproot.ts"
import { SighashContext } from "./sighash.ts"
import type { ScriptCheck } from "./view.ts"

const KEY_HASH_SIZE = 20
const SCRIPT_HASH_SIZE = 32
const TAPROOT_SIZE = 32

const PKH_HEAD = Uint8Array.of(Op.OP_DUP, Op.OP_HASH160, KEY_HASH_SIZE)
const PKH_TAIL = Uint8Array.of(Op.OP_EQUALVERIFY, Op.OP_CHECKSIG)

/** A version 0 program: the hash of a key, or of the script in the last item of the witness (BIP 141). */
const verifyVersion0 = (check: InputCheck, program: Bytes): ScriptError | undefined => {
  const { witness } = check.context.input(check.index)
  const stack = [...witness]
  if (program.length === KEY_HASH_SIZE) {
    if (stack.length !== 2) return "WITNESS_PROGRAM_MISMATCH"
    return executeWitness(
      new Machine(check, { script: concat(PKH_HEAD, program, PKH_TAIL), stack, version: "witness-v0" })
    )
  }
  if (program.length !== SCRIPT_HASH_SIZE) return "WITNESS_PROGRAM_WRONG_LENGTH"
  const script = stack.pop()
  if (script === undefined) return "WITNESS_PROGRAM_WITNESS_EMPTY"
  if (!equal(sha256(script), program)) return "WITNESS_PROGRAM_MISMATCH"
  return executeWitness(new Machine(check, { script, stack, version: "witness-v0" }))
}

/** Pay to anchor, which is spent without a witness or key. */
const isAnchor = (version: number, program: Bytes): boolean =>
  version === 1 && program.length === 2 && program[0] === 0x4e && program[1] === 0x73

/**
 * Unknown versions can be spent freely, so that later rules can restrict them. Source: upstream
 * `script/interpreter.cpp`, `VerifyWitnessProgram`.
 */
const verifyWitnessProgram = (
  check: InputCheck,
  { inP2sh, program, version }: { readonly version: number; readonly program: Bytes; readonly inP2sh: boolean }
): ScriptError | undefined => {
  if (version === 0) return verifyVersion0(check, program)
  if (version === 1 && program.length === TAPROOT_SIZE && !inP2sh) return verifyTaproot(check, program)
  if (!inP2sh && isAnchor(version, program)) return undefined
  const discouraged = (check.flags & Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM) !== 0
  return discouraged ? "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM" : undefined
}

const run = (check: InputCheck, script: Bytes, stack: Array<Bytes>): ScriptError | undefined =>
  evaluate(new Machine(check, { script, stack, version: "base" }))

const runToTrue = (check: InputCheck, script: Bytes, stack: Array<Bytes>): ScriptError | undefined => {
  const error = run(check, script, stack)
  if (error !== undefined) return error
  const top = stack[stack.length - 1]
  return top !== undefined && isTrue(top) ? undefined : "EVAL_FALSE"
}

/** The final checks of an input without a witness program. */
const finish = ({ context, flags, index }: InputCheck, stack: ReadonlyArray<Bytes>): ScriptError | undefined => {
  if ((flags & Flag.CLEANSTACK) !== 0 && stack.length !== 1) return "CLEANSTACK"
  if ((flags & Flag.WITNESS) !== 0 && context.input(index).witness.length > 0) return "WITNESS_UNEXPECTED"
  return undefined
}

/** Runs the redeem script, the last push of the scriptSig (BIP 16). */
const verifyRedeem = (check: InputCheck, scriptSig: Bytes, stack: Array<Bytes>): ScriptError | undefined => {
  if (!isPushOnly(scriptSig)) return "SIG_PUSHONLY"
  const redeem = stack.pop()
  // Possible only after a name prefix that splits a push: the script itself pushed both sides of the comparison.
  // Upstream asserts that this cannot happen and stops; here the input is invalid (reference/protocol.md 4.4).
  if (redeem === undefined) return "EVAL_FALSE"
  const error = runToTrue(check, redeem, stack)
  if (error !== undefined) return error
  const program = addressScript(redeem)
  const version = (check.flags & Flag.WITNESS) === 0 ? -1 : witnessVersion(program)
  if (version < 0) return finish(check, stack)
  // Any other push would let a third party change the transaction's id.
  if (!equal(scriptSig, pushData(redeem))) return "WITNESS_MALLEATED_P2SH"
  return verifyWitnessProgram(check, { version, program: program.subarray(2), inP2sh: true })
}

/**
 * Returns the error, if any. The whole script of the coin runs, but the part after its name prefix decides whether it
 * is P2SH or a witness program; the same holds for a redeem script (reference/protocol.md 5.2). Source: upstream
 * `script/interpreter.cpp`, `VerifyScript`.
 */
export const verifyInput = (check: InputCheck): ScriptError | undefined => {
  const { context, flags, index } = check
  const { scriptSig } = context.input(index)
  const { script } = context.coin(index)
  if ((flags & Flag.SIGPUSHONLY) !== 0 && !isPushOnly(scriptSig)) return "SIG_PUSHONLY"
  const stack: Array<Bytes> = []
  const unlockError = run(check, scriptSig, stack)
  if (unlockError !== undefined) return unlockError
  const address = addressScript(script)
  const isP2sh = (flags & Flag.P2SH) !== 0 && isPayToScriptHash(address)
  const pushed = isP2sh ? [...stack] : stack
  const error = runToTrue(check, script, stack)
  if (error !== undefined) return error
  const version = (flags & Flag.WITNESS) === 0 ? -1 : witnessVersion(address)
  if (version >= 0) {
    // Otherwise, a third party could change the scriptSig and with it the transaction's id.
    if (scriptSig.length > 0) return "WITNESS_MALLEATED"
    return verifyWitnessProgram(check, { version, program: address.subarray(2), inP2sh: false })
  }
  return isP2sh ? verifyRedeem(check, scriptSig, pushed) : finish(check, stack)
}

export interface InputFailure {
  readonly index: number
  readonly error: ScriptError
  /** The reference node's text for the error, as in its reject reasons. */
  readonly message: string
}

/** Returns the first failure. The arguments can go to a worker thread. */
export const verifyTransaction = ({ coins, transaction }: ScriptCheck, flags: number): InputFailure | undefined => {
  const context = new SighashContext(transaction, coins)
  for (let index = 0; index < coins.length; index++) {
    const error = verifyInput({ context, index, flags })
    if (error !== undefined) return { index, error, message: scriptErrorMessages[error] }
  }
  return undefined
}
