import { Op } from "../../protocol/script.ts"
import { LOCKTIME_THRESHOLD } from "../../protocol/transaction.ts"
import { Flag } from "../flags.ts"
import type { Machine, Operation, Operations } from "./Machine.ts"
import type { ScriptError } from "./scriptError.ts"
import { isTrue } from "./scriptNumber.ts"

/** The sequence of an input that opts out of lock times. */
const SEQUENCE_FINAL = 0xffffffff

/** Bit of a sequence: no relative lock time (BIP 68). */
const SEQUENCE_DISABLED = 0x80000000

/** Bit of a sequence: the lock time is in units of 512 seconds, not in blocks (BIP 68). */
const SEQUENCE_IS_TIME = 0x00400000

/** Bits of a sequence: the lock time and its unit (BIP 68). */
const SEQUENCE_LOCK = 0x0040ffff

/** The longest lock time in bytes: enough for times after 2038. */
const LOCKTIME_SIZE = 5

const lockTimeOnTop = (machine: Machine): number | ScriptError => {
  const top = machine.top(1)
  if (top === undefined) return "INVALID_STACK_OPERATION"
  const value = machine.number(top, LOCKTIME_SIZE)
  if (value === undefined) return "SCRIPTNUM"
  return value < 0 ? "NEGATIVE_LOCKTIME" : value
}

/** BIP 65. */
const checkLockTimeVerify: Operation = (machine) => {
  if (!machine.has(Flag.CHECKLOCKTIMEVERIFY)) return undefined
  const wanted = lockTimeOnTop(machine)
  if (typeof wanted === "string") return wanted
  const { context, index } = machine.check
  const actual = context.transaction.lockTime
  const sameUnit = wanted < LOCKTIME_THRESHOLD === actual < LOCKTIME_THRESHOLD
  // A final sequence would disable the transaction's lock time.
  const inForce = context.input(index).sequence !== SEQUENCE_FINAL
  return sameUnit && wanted <= actual && inForce ? undefined : "UNSATISFIED_LOCKTIME"
}

/** BIP 112. Versions are compared unsigned, so that of name transactions is above 2. */
const checkSequenceVerify: Operation = (machine) => {
  if (!machine.has(Flag.CHECKSEQUENCEVERIFY)) return undefined
  const wanted = lockTimeOnTop(machine)
  if (typeof wanted === "string") return wanted
  if ((wanted & SEQUENCE_DISABLED) !== 0) return undefined
  const { context, index } = machine.check
  const { sequence } = context.input(index)
  const inForce = context.transaction.version >= 2 && (sequence & SEQUENCE_DISABLED) === 0
  const sameUnit = (wanted & SEQUENCE_IS_TIME) === (sequence & SEQUENCE_IS_TIME)
  const reached = (wanted & SEQUENCE_LOCK) <= (sequence & SEQUENCE_LOCK)
  return inForce && sameUnit && reached ? undefined : "UNSATISFIED_LOCKTIME"
}

const upgradableNop: Operation = (machine) =>
  machine.has(Flag.DISCOURAGE_UPGRADABLE_NOPS) ? "DISCOURAGE_UPGRADABLE_NOPS" : undefined

/** Checks a condition under MINIMALIF: a rule in tapscript, policy in version 0, unused outside of witnesses. */
const minimalIfError = (machine: Machine): ScriptError | undefined => {
  if (machine.version === "tapscript") return "TAPSCRIPT_MINIMALIF"
  return machine.version === "witness-v0" && machine.has(Flag.MINIMALIF) ? "MINIMALIF" : undefined
}

/** Begins a branch. Within a skipped branch, it is skipped too and takes no condition. */
const branch = (wanted: boolean): Operation => (machine) => {
  const { conditions, stack } = machine
  if (!conditions.allTrue) {
    conditions.push(false)
    return undefined
  }
  const top = stack.pop()
  if (top === undefined) return "INVALID_STACK_OPERATION"
  if (top.length > 1 || (top.length === 1 && top[0] !== 1)) {
    const error = minimalIfError(machine)
    if (error !== undefined) return error
  }
  conditions.push(isTrue(top) === wanted)
  return undefined
}

export const controlOperations: Operations = {
  [Op.OP_NOP]: () => undefined,
  [Op.OP_IF]: branch(true),
  [Op.OP_NOTIF]: branch(false),
  [Op.OP_ELSE]: ({ conditions }) => conditions.toggle() ? undefined : "UNBALANCED_CONDITIONAL",
  [Op.OP_ENDIF]: ({ conditions }) => conditions.pop() ? undefined : "UNBALANCED_CONDITIONAL",

  [Op.OP_VERIFY]: ({ stack }) => {
    const top = stack.pop()
    if (top === undefined) return "INVALID_STACK_OPERATION"
    return isTrue(top) ? undefined : "VERIFY"
  },

  [Op.OP_RETURN]: () => "OP_RETURN",

  [Op.OP_CHECKLOCKTIMEVERIFY]: checkLockTimeVerify,
  [Op.OP_CHECKSEQUENCEVERIFY]: checkSequenceVerify,
  [Op.OP_NOP1]: upgradableNop,
  [Op.OP_NOP4]: upgradableNop,
  [Op.OP_NOP5]: upgradableNop,
  [Op.OP_NOP6]: upgradableNop,
  [Op.OP_NOP7]: upgradableNop,
  [Op.OP_NOP8]: upgradableNop,
  [Op.OP_NOP9]: upgradableNop,
  [Op.OP_NOP10]: upgradableNop
}
