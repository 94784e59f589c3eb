import type { Bytes } from "../../protocol/bytes.ts"
import { ScriptCursor } from "../../protocol/script.ts"
import { Flag } from "../flags.ts"
import type { SighashContext } from "../sighash.ts"
import { ConditionStack } from "./ConditionStack.ts"
import type { ScriptError } from "./scriptError.ts"
import { decodeNumber, encodeNumber } from "./scriptNumber.ts"

/** An input whose scripts are to be verified. WITNESS among the flags needs P2SH beside it, CLEANSTACK needs both. */
export interface InputCheck {
  readonly context: SighashContext
  readonly index: number
  /** A set of `Flag`. */
  readonly flags: number
}

/** What taproot adds to the execution of a leaf (BIP 342). */
export interface TapscriptRun {
  readonly leafHash: Bytes
  readonly annexHash: Bytes | undefined
  /** Budget for signatures; falls with each. */
  weightLeft: number
}

/** The rules by which a script runs: those outside of witnesses, of witness version 0, or of tapscript. */
export type ScriptVersion = "base" | "witness-v0" | "tapscript"

/** The position of the last executed OP_CODESEPARATOR where there was none. */
export const NO_CODE_SEPARATOR = 0xffffffff

/**
 * One script that runs. The stack outlives it: the next script goes on with what this one left. Elements of the stack
 * are views of scripts and witnesses and are never changed. What is on it when a script fails is of no meaning.
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
  /** How many instructions came before the current one. */
  position = 0
  /** Where the code begins that signatures cover: behind the last executed OP_CODESEPARATOR. */
  codeStart = 0
  /** The position of that OP_CODESEPARATOR. */
  codeSeparator = NO_CODE_SEPARATOR

  constructor(
    check: InputCheck,
    script: Bytes,
    stack: Array<Bytes>,
    version: ScriptVersion,
    tapscript?: TapscriptRun
  ) {
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

  /** The element at a depth: 1 is on top. `undefined` where the stack does not reach so far. */
  top(depth: number): Bytes | undefined {
    return this.stack[this.stack.length - depth]
  }

  /** Takes elements away that are known to be there. */
  drop(count: number): void {
    this.stack.length -= count
  }

  /** The number that an element holds, under the rules that this script runs by; `undefined` for one that is none. */
  number(element: Bytes, maxSize?: number): number | undefined {
    return decodeNumber(element, this.has(Flag.MINIMALDATA), maxSize)
  }

  pushNumber(value: number): undefined {
    this.stack.push(encodeNumber(value))
  }
}

/** What an instruction does. It has read its opcode; the cursor stands behind it. */
export type Operation = (machine: Machine) => ScriptError | undefined

/** Instructions by their opcode. */
export type Operations = Readonly<Record<number, Operation>>
