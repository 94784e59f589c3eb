import { type Bytes, toHex } from "./bytes.ts"
import { isUnspendable, Op, ScriptCursor } from "./script.ts"
import { pushedNumber } from "./scriptOperations.ts"

/** Scripts as the reference node's `asm`, with its peculiarities (reference/rpc.md 6). */

/** Names that differ from the constant. The numbers 1 to 3 always show as name opcodes. */
const SPECIAL_NAMES: ReadonlyArray<readonly [number, string]> = [
  [Op.OP_0, "0"],
  [Op.OP_1NEGATE, "-1"],
  [Op.OP_1, "OP_NAME_NEW"],
  [Op.OP_2, "OP_NAME_FIRSTUPDATE"],
  [Op.OP_3, "OP_NAME_UPDATE"],
  ...Array.from({ length: 13 }, (_, i) => [Op.OP_4 + i, `${i + 4}`] as const)
]

const names: ReadonlyArray<string> = (() => {
  const table = new Array<string>(256).fill("OP_UNKNOWN")
  for (const [name, opcode] of Object.entries(Op)) table[opcode] = name
  for (const [opcode, name] of SPECIAL_NAMES) table[opcode] = name
  return table
})()

/** Upstream `script/script.cpp`, `GetOpName`. */
export const opcodeName = (opcode: number): string => names[opcode] ?? "OP_UNKNOWN"

/** Hash types by the last byte of a signature. */
const HASH_TYPES: ReadonlyMap<number, string> = new Map([
  [0x01, "ALL"],
  [0x81, "ALL|ANYONECANPAY"],
  [0x02, "NONE"],
  [0x82, "NONE|ANYONECANPAY"],
  [0x03, "SINGLE"],
  [0x83, "SINGLE|ANYONECANPAY"]
])

const isNameOpcode = (opcode: number): boolean => opcode >= Op.OP_1 && opcode <= Op.OP_3

/** Pushes up to this length are shown as numbers. */
const SHORT = 4

/** A short push is a number, except for the name or hash right after a name opcode. */
const shortPushText = (data: Bytes, afterNameOpcode: boolean): string =>
  afterNameOpcode && data.length > 0 ? toHex(data) : String(pushedNumber(data))

const signatureText = (data: Bytes, isSignature: (data: Bytes) => boolean): string => {
  const hashType = HASH_TYPES.get(data[data.length - 1] ?? 0)
  return hashType !== undefined && isSignature(data) ? `${toHex(data.subarray(0, -1))}[${hashType}]` : toHex(data)
}

/**
 * Opcodes by name, long pushes in hex, short ones as numbers, an unreadable rest as `[error]`. In scriptSigs,
 * `isSignature` recognizes signatures, whose hash type becomes a word: `3045…90[ALL]`. Scripts that can never run are
 * not searched. Source: upstream `core_io.cpp`, `ScriptToAsmStr`.
 */
export const scriptText = (script: Bytes, isSignature?: (data: Bytes) => boolean): string => {
  const seek = isUnspendable(script) ? undefined : isSignature
  const words: Array<string> = []
  const cursor = new ScriptCursor(script)
  let last: number = Op.OP_0
  while (cursor.next()) {
    const { opcode } = cursor
    if (opcode > Op.OP_PUSHDATA4) words.push(opcodeName(opcode))
    else {
      const { data } = cursor
      if (data.length <= SHORT) words.push(shortPushText(data, isNameOpcode(last)))
      else words.push(seek === undefined ? toHex(data) : signatureText(data, seek))
    }
    last = opcode
  }
  if (cursor.failed) words.push("[error]")
  return words.join(" ")
}
