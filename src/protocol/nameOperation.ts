import { type Bytes, concat, EMPTY, equal } from "./bytes.ts"
import { hash160, sha256 } from "./hash.ts"
import { Op, pushData, ScriptCursor } from "./script.ts"

/** A commitment that hides its name. The rules require 20 bytes, the parser does not. */
export interface NameNew {
  readonly op: "name_new"
  readonly commitment: Bytes
}

/** The registration of a name. `rand` is the salt of its commitment. */
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

/** The operation of a name script, and the address script after it (rule S6). */
export interface NameScript {
  readonly operation: NameOperation
  readonly address: Bytes
}

/** The version of name transactions (consensus, reference/protocol.md 4.1). */
export const NAME_TX_VERSION = 0x7100

export const NAME_NEW_HASH_SIZE = 20

const isDrop = (opcode: number): boolean => opcode === Op.OP_DROP || opcode === Op.OP_2DROP || opcode === Op.OP_NOP

/** One cursor for all name scripts, as every output of a block is read. It keeps no script afterwards. */
const cursor = new ScriptCursor(EMPTY)

/** The argument at the cursor; `undefined` at another instruction. */
const readArgument = (): Bytes | undefined =>
  cursor.next() && cursor.opcode <= Op.OP_PUSHDATA4 ? cursor.data : undefined

/** `undefined` if an argument is missing. */
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
 * `undefined` for any other script. Follows rules S1 to S6 of reference/protocol.md 4.2 exactly, including the step
 * back by one byte. Source: upstream `script/names.cpp`, `CNameScript::CNameScript`.
 */
export const parseNameScript = (script: Bytes): NameScript | undefined => {
  const opcode = script[0]
  if (opcode !== Op.OP_1 && opcode !== Op.OP_2 && opcode !== Op.OP_3) return undefined
  cursor.begin(script, 1)
  const parsed = readNameScript(script, opcode)
  cursor.begin(EMPTY)
  return parsed
}

/** The name script at the cursor, which is behind its first opcode. */
const readNameScript = (script: Bytes, opcode: number): NameScript | undefined => {
  const operation = readOperation(opcode)
  if (operation === undefined || !cursor.next() || !isDrop(cursor.opcode)) return undefined
  // After a failed read, upstream's position is after the last readable instruction plus the consumed bytes of the next
  // one, which `truncatedPushEnd` computes.
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

/** Where upstream's reader stops in a truncated push: after the opcode and complete length bytes. */
const truncatedPushEnd = (script: Bytes, at: number): number => {
  const opcode = script[at] ?? 0
  const left = script.length - at - 1
  const width = opcode === Op.OP_PUSHDATA1 ? 1 : opcode === Op.OP_PUSHDATA2 ? 2 : opcode === Op.OP_PUSHDATA4 ? 4 : 0
  return at + 1 + (width <= left ? width : 0)
}

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

const RETURN = Uint8Array.of(Op.OP_RETURN)

/**
 * The hash by which Electrum clients ask for a name: SHA-256 of an update to an empty value behind which nobody can
 * spend. 32 bytes in digest order; clients send it reversed. Source: ElectrumX `coins.py`, `build_name_index_script`.
 */
export const nameIndexHash = (name: Bytes): Uint8Array =>
  sha256(nameScript({ op: "name_update", name, value: EMPTY }, RETURN))

/**
 * Whether a name script is the one that `nameScript` builds. Others set the name, too, but may leave a stack on which
 * no signature can spend it: after one drop too many, even its owner has lost the name.
 */
export const isUsualNameScript = (script: Bytes): boolean => {
  const parsed = parseNameScript(script)
  return parsed !== undefined && equal(script, nameScript(parsed.operation, parsed.address))
}
