import { type Bytes, concat, EMPTY } from "./bytes.ts"
import { hash160 } from "./hash.ts"
import { Op, pushData, ScriptCursor } from "./script.ts"

/** A commitment that hides its name. `commitment` should have 20 bytes; the rules check this, the parser does not. */
export interface NameNew {
  readonly op: "name_new"
  readonly commitment: Bytes
}

/** The registration of a name. `rand` is the salt of the commitment that it opens. */
export interface NameFirstUpdate {
  readonly op: "name_firstupdate"
  readonly name: Bytes
  readonly rand: Bytes
  readonly value: Bytes
}

export interface NameUpdate {
  readonly op: "name_update"
  readonly name: Bytes
  readonly value: Bytes
}

/** The operation in the prefix of a name script. Byte strings are views of the script. */
export type NameOperation = NameNew | NameFirstUpdate | NameUpdate

export type NameSetting = NameFirstUpdate | NameUpdate

/** The parts of a name script: the operation, and the address script after it (rule S6). */
export interface NameScript {
  readonly operation: NameOperation
  readonly address: Bytes
}

/** Transactions of exactly this version are name transactions (consensus, reference/protocol.md 4.1). */
export const NAME_TX_VERSION = 0x7100

export const NAME_NEW_HASH_SIZE = 20

const isDrop = (opcode: number): boolean => opcode === Op.OP_DROP || opcode === Op.OP_2DROP || opcode === Op.OP_NOP

/** One cursor for all name scripts, which are read for every output of a block, one after the other. It keeps no script afterwards. */
const cursor = new ScriptCursor(EMPTY)

/** The argument at the cursor; `undefined` if another instruction is there. */
const readArgument = (): Bytes | undefined =>
  cursor.next() && cursor.opcode <= Op.OP_PUSHDATA4 ? cursor.data : undefined

/** The operation with its arguments at the cursor; `undefined` if one of them is missing. */
const readOperation = (opcode: number): NameOperation | undefined => {
  const first = readArgument()
  if (first === undefined) return undefined
  if (opcode === Op.OP_1) return { op: "name_new", commitment: first }
  const second = readArgument()
  if (second === undefined) return undefined
  if (opcode === Op.OP_3) return { op: "name_update", name: first, value: second }
  const third = readArgument()
  return third === undefined ? undefined : { op: "name_firstupdate", name: first, rand: second, value: third }
}

/**
 * Parses a name script; `undefined` for any other script. Follows rules S1 to S6 of reference/protocol.md 4.2 exactly,
 * including the step back by one byte, because P2SH and witness detection use the result. Source: upstream
 * `script/names.cpp`, `CNameScript::CNameScript`.
 */
export const parseNameScript = (script: Bytes): NameScript | undefined => {
  const opcode = script[0]
  if (opcode !== Op.OP_1 && opcode !== Op.OP_2 && opcode !== Op.OP_3) return undefined
  cursor.begin(script, 1)
  const parsed = readNameScript(script, opcode)
  cursor.begin(EMPTY)
  return parsed
}

/** The name script at the cursor, which stands behind its first opcode. */
const readNameScript = (script: Bytes, opcode: number): NameScript | undefined => {
  const operation = readOperation(opcode)
  if (operation === undefined || !cursor.next() || !isDrop(cursor.opcode)) return undefined
  // If reading fails, the position stays after the last readable instruction, plus the bytes of the next one that
  // upstream's reader consumed. `truncatedPushEnd` computes these.
  let end = cursor.offset
  while (isDrop(cursor.opcode)) {
    if (cursor.next()) {
      end = cursor.offset
      continue
    }
    if (cursor.failed) end = truncatedPushEnd(script, end)
    break
  }
  return { operation, address: script.subarray(end - 1) }
}

/** The end of a truncated push for upstream's reader: after the opcode and complete length bytes. */
const truncatedPushEnd = (script: Bytes, at: number): number => {
  const opcode = script[at] ?? 0
  const left = script.length - at - 1
  const width = opcode === Op.OP_PUSHDATA1 ? 1 : opcode === Op.OP_PUSHDATA2 ? 2 : opcode === Op.OP_PUSHDATA4 ? 4 : 0
  return at + 1 + (width <= left ? width : 0)
}

/** The address script after a name prefix; the script itself if it has no prefix. */
export const addressScript = (script: Bytes): Bytes => parseNameScript(script)?.address ?? script

/** The commitment of a NAME_NEW: HASH160(rand ‖ name), 20 bytes (reference/protocol.md 4.3). */
export const nameCommitment = (rand: Bytes, name: Bytes): Uint8Array => hash160(concat(rand, name))

/** Builds the canonical script of an operation paid to an address script (reference/protocol.md 4.3). */
export const nameScript = (operation: NameOperation, address: Bytes): Uint8Array => {
  switch (operation.op) {
    case "name_new":
      return concat(Uint8Array.of(Op.OP_1), pushData(operation.commitment), Uint8Array.of(Op.OP_2DROP), address)
    case "name_firstupdate":
      return concat(
        Uint8Array.of(Op.OP_2),
        pushData(operation.name),
        pushData(operation.rand),
        pushData(operation.value),
        Uint8Array.of(Op.OP_2DROP, Op.OP_2DROP),
        address
      )
    case "name_update":
      return concat(
        Uint8Array.of(Op.OP_3),
        pushData(operation.name),
        pushData(operation.value),
        Uint8Array.of(Op.OP_2DROP, Op.OP_DROP),
        address
      )
  }
}
