import { type Bytes, EMPTY } from "../bytes.ts"
import { Op, ScriptCursor } from "../script.ts"
import { isMinimalPush } from "../scriptOperations.ts"

export interface Instruction {
  readonly opcode: number
  readonly data: Bytes
}

/** The end marker, before the first instruction of the script. */
export const END: Instruction = { opcode: -1, data: EMPTY }

/** VERIFY opcodes by the opcode whose result they check. */
const VERIFY_FORMS: ReadonlyMap<number, number> = new Map([
  [Op.OP_CHECKSIGVERIFY, Op.OP_CHECKSIG],
  [Op.OP_CHECKMULTISIGVERIFY, Op.OP_CHECKMULTISIG],
  [Op.OP_EQUALVERIFY, Op.OP_EQUAL],
  [Op.OP_NUMEQUALVERIFY, Op.OP_NUMEQUAL]
])

const WITH_VERIFY_FORM: ReadonlySet<number> = new Set(VERIFY_FORMS.values())

/** From the last to the first, with VERIFY forms split in two; `undefined` if unreadable or longer than required. */
export const instructionsFromEnd = (script: Bytes): ReadonlyArray<Instruction> | undefined => {
  const found: Array<Instruction> = []
  const cursor = new ScriptCursor(script)
  while (cursor.next()) {
    const { data, opcode } = cursor
    const checks = VERIFY_FORMS.get(opcode)
    if (checks !== undefined) {
      found.push({ opcode: checks, data }, { opcode: Op.OP_VERIFY, data })
      continue
    }
    if (opcode <= Op.OP_PUSHDATA4 && !isMinimalPush(opcode, data)) return undefined
    if (WITH_VERIFY_FORM.has(opcode) && script[cursor.offset] === Op.OP_VERIFY) return undefined
    found.push({ opcode, data })
  }
  return cursor.failed ? undefined : found.reverse()
}
