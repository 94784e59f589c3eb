import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import { Op } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import { executeWitness } from "./executeWitness.ts"
import { type InputCheck, Machine } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"
import { verifyTaproot } from "./taproot.ts"

const KEY_HASH_SIZE = 20
const SCRIPT_HASH_SIZE = 32
const TAPROOT_SIZE = 32

const PKH_HEAD = Uint8Array.of(Op.OP_DUP, Op.OP_HASH160, KEY_HASH_SIZE)
const PKH_TAIL = Uint8Array.of(Op.OP_EQUALVERIFY, Op.OP_CHECKSIG)

/** A program of version 0: the hash of a key, or of the script that is the last item of the witness (BIP 141). */
const verifyVersion0 = (check: InputCheck, program: Bytes): ScriptError | undefined => {
  const { witness } = check.context.input(check.index)
  const stack = [...witness]
  if (program.length === KEY_HASH_SIZE) {
    if (stack.length !== 2) return "WITNESS_PROGRAM_MISMATCH"
    return executeWitness(new Machine(check, concat(PKH_HEAD, program, PKH_TAIL), stack, "witness-v0"))
  }
  if (program.length !== SCRIPT_HASH_SIZE) return "WITNESS_PROGRAM_WRONG_LENGTH"
  const script = stack.pop()
  if (script === undefined) return "WITNESS_PROGRAM_WITNESS_EMPTY"
  if (!equal(sha256(script), program)) return "WITNESS_PROGRAM_MISMATCH"
  return executeWitness(new Machine(check, script, stack, "witness-v0"))
}

/** Pay to anchor: a program that can be spent without a witness or key. */
const isAnchor = (version: number, program: Bytes): boolean =>
  version === 1 && program.length === 2 && program[0] === 0x4e && program[1] === 0x73

/**
 * Verifies the spend of a witness program. Versions without rules can be spent without conditions, so that later rules
 * can restrict them. Source: upstream `script/interpreter.cpp`, `VerifyWitnessProgram`.
 */
export const verifyWitnessProgram = (
  check: InputCheck,
  version: number,
  program: Bytes,
  inP2sh: boolean
): ScriptError | undefined => {
  if (version === 0) return verifyVersion0(check, program)
  if (version === 1 && program.length === TAPROOT_SIZE && !inP2sh) return verifyTaproot(check, program)
  if (!inP2sh && isAnchor(version, program)) return undefined
  const discouraged = (check.flags & Flag.DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM) !== 0
  return discouraged ? "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM" : undefined
}
