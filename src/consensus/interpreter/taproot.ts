import type { Bytes } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import { Op, ScriptCursor } from "../../protocol/script.ts"
import { tapBranchHash, tapLeafHash } from "../../protocol/taproot.ts"
import { compactSizeLength, Writer } from "../../protocol/Writer.ts"
import { Flag } from "../flags.ts"
import { checkTapTweak } from "../signature.ts"
import { executeWitness } from "./executeWitness.ts"
import {
  ANNEX_TAG,
  CONTROL_BASE_SIZE,
  CONTROL_MAX_NODES,
  CONTROL_NODE_SIZE,
  MAX_STACK_SIZE,
  TAPSCRIPT_LEAF,
  VALIDATION_WEIGHT_PER_SIGOP
} from "./limits.ts"
import { type InputCheck, Machine, NO_CODE_SEPARATOR } from "./Machine.ts"
import { checkSchnorrSignature } from "./schnorrSignature.ts"
import type { ScriptError } from "./scriptError.ts"

const merkleRoot = (control: Bytes, leafHash: Uint8Array): Uint8Array => {
  let hash = leafHash
  for (let at = CONTROL_BASE_SIZE; at < control.length; at += CONTROL_NODE_SIZE) {
    hash = tapBranchHash(hash, control.subarray(at, at + CONTROL_NODE_SIZE))
  }
  return hash
}

const isControlSize = (size: number): boolean =>
  size >= CONTROL_BASE_SIZE && size <= CONTROL_BASE_SIZE + CONTROL_NODE_SIZE * CONTROL_MAX_NODES &&
  (size - CONTROL_BASE_SIZE) % CONTROL_NODE_SIZE === 0

/** Opcodes whose presence alone makes a tapscript valid (BIP 342). */
const isOpSuccess = (opcode: number): boolean =>
  opcode === Op.OP_RESERVED || opcode === Op.OP_VER || (opcode >= Op.OP_CAT && opcode <= Op.OP_RIGHT) ||
  (opcode >= Op.OP_INVERT && opcode <= Op.OP_XOR) || opcode === Op.OP_RESERVED1 || opcode === Op.OP_RESERVED2 ||
  opcode === Op.OP_2MUL || opcode === Op.OP_2DIV || (opcode >= Op.OP_MUL && opcode <= Op.OP_RSHIFT) ||
  (opcode > Op.OP_CHECKSIGADD && opcode < Op.OP_INVALIDOPCODE)

const witnessSize = (items: ReadonlyArray<Bytes>): number => {
  let size = compactSizeLength(items.length)
  for (const item of items) size += compactSizeLength(item.length) + item.length
  return size
}

/** OP_SUCCESS takes precedence over every limit unless an unreadable instruction precedes it (BIP 342). */
const runTapscript = (machine: Machine): ScriptError | undefined => {
  const cursor = new ScriptCursor(machine.script)
  while (cursor.next()) {
    if (!isOpSuccess(cursor.opcode)) continue
    return machine.has(Flag.DISCOURAGE_OP_SUCCESS) ? "DISCOURAGE_OP_SUCCESS" : undefined
  }
  if (cursor.failed) return "BAD_OPCODE"
  if (machine.stack.length > MAX_STACK_SIZE) return "STACK_SIZE"
  return executeWitness(machine)
}

interface ScriptPath {
  readonly output: Bytes
  readonly annexHash: Bytes | undefined
  /** The budget for signatures. */
  readonly weight: number
}

/** The stack still holds the script and, on top, its control block. */
const verifyScriptPath = (
  check: InputCheck,
  stack: Array<Bytes>,
  { annexHash, output, weight }: ScriptPath
): ScriptError | undefined => {
  const control = stack.pop()
  const script = stack.pop()
  if (control === undefined || script === undefined) return "WITNESS_PROGRAM_WITNESS_EMPTY"
  const head = control[0]
  if (head === undefined || !isControlSize(control.length)) return "TAPROOT_WRONG_CONTROL_SIZE"
  const leafVersion = head & 0xfe
  const leafHash = tapLeafHash(leafVersion, script)
  const internal = control.subarray(1, CONTROL_BASE_SIZE)
  if (!checkTapTweak({ output, odd: (head & 1) === 1, internal, merkleRoot: merkleRoot(control, leafHash) })) {
    return "WITNESS_PROGRAM_MISMATCH"
  }
  if (leafVersion === TAPSCRIPT_LEAF) {
    const tapscript = { leafHash, annexHash, weightLeft: weight }
    return runTapscript(new Machine(check, { script, stack, version: "tapscript", tapscript }))
  }
  const discouraged = (check.flags & Flag.DISCOURAGE_UPGRADABLE_TAPROOT_VERSION) !== 0
  return discouraged ? "DISCOURAGE_UPGRADABLE_TAPROOT_VERSION" : undefined
}

/** BIP 341. `output` is the 32-byte x of the key. Source: upstream `script/interpreter.cpp`, `VerifyWitnessProgram`. */
export const verifyTaproot = (check: InputCheck, output: Bytes): ScriptError | undefined => {
  if ((check.flags & Flag.TAPROOT) === 0) return undefined
  const { witness } = check.context.input(check.index)
  const stack = [...witness]
  const last = stack[stack.length - 1]
  if (last === undefined) return "WITNESS_PROGRAM_WITNESS_EMPTY"
  const hasAnnex = stack.length >= 2 && last[0] === ANNEX_TAG
  if (hasAnnex) stack.pop()
  const annexHash = hasAnnex ? sha256(new Writer(last.length + 5).varBytes(last).written()) : undefined
  const [signature] = stack
  if (signature !== undefined && stack.length === 1) {
    const spend = { annexHash, leafHash: undefined, codeSeparator: NO_CODE_SEPARATOR }
    return checkSchnorrSignature(check, { signature, pubkey: output }, spend)
  }
  return verifyScriptPath(check, stack, {
    output,
    annexHash,
    weight: witnessSize(witness) + VALIDATION_WEIGHT_PER_SIGOP
  })
}
