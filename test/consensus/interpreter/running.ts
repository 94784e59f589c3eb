import { NO_FLAGS } from "../../../src/consensus/flags.ts"
import { evaluate } from "../../../src/consensus/interpreter/evaluate.ts"
import { Machine, type ScriptVersion } from "../../../src/consensus/interpreter/Machine.ts"
import { type Bytes, EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { parseScript } from "../../support/scriptAssembly.ts"
import { spendingContext, type Unlock } from "../../support/spending.ts"

export interface Run {
  readonly flags?: number
  readonly version?: ScriptVersion
  readonly unlock?: Unlock
  readonly stack?: ReadonlyArray<Bytes>
}

/** Runs a script alone. Returns its error, or the resulting stack as hexadecimal words from the bottom to the top. */
export const run = (
  script: Bytes,
  { flags = NO_FLAGS, stack = [], unlock = {}, version = "base" }: Run = {}
): string => {
  const check = { context: spendingContext(EMPTY, unlock), index: 0, flags }
  const tapscript = { leafHash: new Uint8Array(32), annexHash: undefined, weightLeft: 1000 }
  const left = [...stack]
  const machine = version === "tapscript"
    ? new Machine(check, { script, stack: left, version, tapscript })
    : new Machine(check, { script, stack: left, version })
  return evaluate(machine) ?? left.map((element) => element.length === 0 ? "-" : toHex(element)).join(" ")
}

export const runText = (text: string, options?: Run): string => run(parseScript(text), options)
