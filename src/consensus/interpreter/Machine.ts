import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import type { SighashContext } from "../sighash.ts"
import { ConditionStack } from "./ConditionStack.ts"
import type { ScriptError } from "./scriptError.ts"
import { decodeNumber, encodeNumber } from "./scriptNumber.ts"

/** The flag WITNESS requires P2SH; CLEANSTACK requires both. */
export interface InputCheck {
  readonly context: SighashContext
  readonly index: number
  readonly flags: number
}

/** BIP 342. */
export interface TapscriptRun {
  readonly leafHash: Bytes
  readonly annexHash: Bytes | undefined
  weightLeft: number
}

/** The rules of an execution: outside of witnesses, witness version 0, or tapscript. */
export type ScriptVersion = "base" | "witness-v0" | "tapscript"

export interface Execution {
  readonly script: Bytes
  readonly stack: Array<Bytes>
  readonly version: ScriptVersion
  readonly tapscript?: TapscriptRun
}

/** The position of the last executed OP_CODESEPARATOR while there is none. */
export const NO_CODE_SEPARATOR = 0xffffffff

/**
 * The next script continues with this stack. Elements are views of scripts and witnesses and never change. After a
 * failure, the content of the stack is meaningless.
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

  /** 1 is the top; `undefined` beyond the end. */
  top(depth: number): Bytes | undefined {
    return this.stack[this.stack.length - depth]
  }

  drop(count: number): void {
    this.stack.length -= count
  }

  number(element: Bytes, maxSize?: number): number | undefined {
    return decodeNumber(element, this.has(Flag.MINIMALDATA), maxSize)
  }

  pushNumber(value: number): undefined {
    this.stack.push(encodeNumber(value))
  }
}

/** The cursor is after the opcode. */
export type Operation = (machine: Machine) => ScriptError | undefined

export type Operations = Readonly<Record<number, Operation>>
