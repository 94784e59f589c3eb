import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import type { SighashContext } from "../sighash.ts"
import { ConditionStack } from "./ConditionStack.ts"
import type { ScriptError } from "./scriptError.ts"
import { decodeNumber, encodeNumber } from "./scriptNumber.ts"

/** An input to verify. The flag WITNESS requires P2SH, and CLEANSTACK requires both. */
export interface InputCheck {
  readonly context: SighashContext
  readonly index: number
  readonly flags: number
}

/** The state of a running leaf (BIP 342). */
export interface TapscriptRun {
  readonly leafHash: Bytes
  readonly annexHash: Bytes | undefined
  /** Budget for signatures. Each signature reduces it. */
  weightLeft: number
}

/** The rules of an execution: of scripts outside of witnesses, of witness version 0, or of tapscript. */
export type ScriptVersion = "base" | "witness-v0" | "tapscript"

/** The execution of a script: on which stack, and by which rules. */
export interface Execution {
  readonly script: Bytes
  readonly stack: Array<Bytes>
  readonly version: ScriptVersion
  /** Set in tapscript. */
  readonly tapscript?: TapscriptRun
}

/** The position of the last executed OP_CODESEPARATOR if there was none. */
export const NO_CODE_SEPARATOR = 0xffffffff

/**
 * The execution of one script. The stack outlives it: the next script continues with it. Elements of the stack are
 * views of scripts and witnesses and are never changed. After a failure the content of the stack has no meaning.
 */
export class Machine {
  readonly check: InputCheck
  readonly script: Bytes
  readonly stack: Array<Bytes>
  readonly version: ScriptVersion
  /** Set in tapscript. */
  readonly tapscript: TapscriptRun | undefined
  readonly altStack: Array<Bytes> = []
  readonly conditions = new ConditionStack()
  readonly cursor: ScriptCursor
  /** Instructions that count towards the limit. */
  operations = 0
  /** The number of instructions before the current one. */
  position = 0
  /** The start of the code that signatures cover: after the last executed OP_CODESEPARATOR. */
  codeStart = 0
  /** The position of that OP_CODESEPARATOR. */
  codeSeparator = NO_CODE_SEPARATOR

  constructor(check: InputCheck, { script, stack, tapscript, version }: Execution) {
    this.check = check
    this.script = script
    this.stack = stack
    this.version = version
    this.tapscript = tapscript
    this.cursor = new ScriptCursor(script)
  }

  has(flag: number): boolean {
    return (this.check.flags & flag) !== 0
  }

  /** The element at a depth: 1 is on top. `undefined` beyond the end of the stack. */
  top(depth: number): Bytes | undefined {
    return this.stack[this.stack.length - depth]
  }

  drop(count: number): void {
    this.stack.length -= count
  }

  /** The number in an element, under the rules of this execution; `undefined` if it is not a number. */
  number(element: Bytes, maxSize?: number): number | undefined {
    return decodeNumber(element, this.has(Flag.MINIMALDATA), maxSize)
  }

  pushNumber(value: number): undefined {
    this.stack.push(encodeNumber(value))
  }
}

/** The implementation of an instruction. Its opcode is already read; the cursor is after it. */
export type Operation = (machine: Machine) => ScriptError | undefined

export type Operations = Readonly<Record<number, Operation>>
