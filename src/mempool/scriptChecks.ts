import * as Effect from "effect/Effect"
import { monotonic } from "../base/clock.ts"
import { turnOfEventLoop } from "../base/turns.ts"
import { scriptErrorMessages } from "../consensus/interpreter/scriptError.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { SighashContext } from "../consensus/sighash.ts"
import { verifyInput } from "../consensus/verifyInput.ts"
import { displayHash } from "../protocol/bytes.ts"
import { outpointText, type Transaction } from "../protocol/transaction.ts"
import type { AcceptancePlan } from "./acceptance.ts"
import type { RejectionKind, TransactionRejected } from "./errors.ts"
import { mandatoryFlags, standardFlags } from "./policy/scriptFlags.ts"
import { spendsWitnessProgram } from "./policy/standardInputs.ts"
import { refuse } from "./refusal.ts"

/** Milliseconds of script checks per turn of the event loop. */
const SLICE_MS = 10

const describe = ({ inputs, txid, wtxid }: Transaction, index: number): string => {
  const whose = `input ${index} of ${displayHash(txid)} (wtxid ${displayHash(wtxid)})`
  const prevout = inputs[index]?.prevout
  return prevout === undefined
    ? whose
    : `${whose}, spending ${outpointText(prevout)}`
}

/** The script checks of one transaction's inputs, in slices. */
class InputChecks {
  refused: TransactionRejected | undefined
  private readonly plan: AcceptancePlan
  private readonly context: SighashContext
  private readonly flags: number
  private readonly mandatory: number
  private index = 0

  constructor(plan: AcceptancePlan, height: number, params: ConsensusParams) {
    this.plan = plan
    this.context = new SighashContext(plan.entry.transaction, plan.coins)
    this.flags = standardFlags(height, params)
    this.mandatory = mandatoryFlags(height, params)
  }

  /** Checks inputs until all are done, one fails or the slice is over. True if it must be called again. */
  readonly slice = (): boolean => {
    const { context, flags, plan } = this
    for (const end = monotonic() + SLICE_MS; this.index < plan.coins.length; this.index++) {
      if (monotonic() > end) return true
      const error = verifyInput({ context, index: this.index, flags })
      if (error === undefined) continue
      this.refused = this.refusal(scriptErrorMessages[error])
      return false
    }
    return false
  }

  private refusal(message: string): TransactionRejected {
    const { transaction } = this.plan.entry
    const detail = describe(transaction, this.index)
    return refuse(transaction, this.kind(), { reason: `mempool-script-verify-flag-failed (${message})`, detail })
  }

  private kind(): RejectionKind {
    const { coins, entry: { transaction } } = this.plan
    // The sending peer may have stripped its witness.
    if (!transaction.hasWitness && spendsWitnessProgram(transaction, coins)) return "witness"
    const broken = verifyInput({ context: this.context, index: this.index, flags: this.mandatory })
    return broken === undefined ? "policy" : "consensus"
  }
}

/**
 * Runs the scripts of a transaction for the block at `height` under the standard flags, which include the consensus
 * flags of a block. Returns the refusal, if any. Yields to the event loop after every slice. Source: upstream
 * `validation.cpp`, `MemPoolAccept::PolicyScriptChecks`.
 */
export const checkScripts = (
  plan: AcceptancePlan,
  height: number,
  params: ConsensusParams
): Effect.Effect<TransactionRejected | undefined> =>
  Effect.suspend(() => {
    const checks = new InputChecks(plan, height, params)
    const more = Effect.repeat(Effect.zipRight(turnOfEventLoop, Effect.sync(checks.slice)), { while: (left) => left })
    return Effect.map(checks.slice() ? more : Effect.void, () => checks.refused)
  })
