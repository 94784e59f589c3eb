import { type Bytes, concat, fromHex } from "../../src/protocol/bytes.ts"
import { Op, pushData } from "../../src/protocol/script.ts"

/**
 * Scripts as the reference node's test data writes them: words between white space, each a number to push, `0x` and
 * bytes to copy unchanged, a text between apostrophes to push, or an opcode with or without its `OP_`.
 * Rules: upstream `core_io.cpp`, `ParseScript`.
 */

const OPCODES = new Map<string, number>(
  Object.entries(Op)
    .filter(([, opcode]) => opcode >= Op.OP_NOP || opcode === Op.OP_RESERVED)
    .flatMap(([name, opcode]): Array<[string, number]> => [[name, opcode], [name.slice("OP_".length), opcode]])
)

const MAX_NUMBER = 0xffffffff

/** The instruction that pushes a number, as a wallet would write it. */
export const pushNumber = (value: number): Uint8Array => {
  if (value === 0) return Uint8Array.of(Op.OP_0)
  if (value === -1 || (value >= 1 && value <= 16)) return Uint8Array.of(Op.OP_1 - 1 + value)
  const bytes: Array<number> = []
  for (let rest = Math.abs(value); rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256)
  const last = bytes.length - 1
  const top = bytes[last] ?? 0
  if (top >= 0x80) bytes.push(value < 0 ? 0x80 : 0)
  else if (value < 0) bytes[last] = top | 0x80
  return pushData(Uint8Array.from(bytes))
}

const parseWord = (word: string): Bytes => {
  if (/^-?\d+$/.test(word)) {
    const value = Number(word)
    if (Math.abs(value) > MAX_NUMBER) throw new Error(`the number ${word} does not fit into a script`)
    return pushNumber(value)
  }
  if (/^0x[0-9a-f]+$/i.test(word)) {
    const bytes = fromHex(word.slice(2))
    if (bytes !== undefined) return bytes
  }
  if (/^'.*'$/.test(word)) return pushData(new TextEncoder().encode(word.slice(1, -1)))
  const opcode = OPCODES.get(word)
  if (opcode === undefined) throw new Error(`the script has an unknown word: ${word}`)
  return Uint8Array.of(opcode)
}

/** Compiles a script from its text. */
export const parseScript = (text: string): Uint8Array =>
  concat(...text.split(/[ \t\n]/).filter((word) => word !== "").map(parseWord))
