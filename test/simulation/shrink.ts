import type { Plan, Step } from "./plan.ts"

/** Makes the plan of a failing run smaller while it fails in the same way. */

export interface Shrunk {
  readonly plan: Plan
  /** Runs that it took. */
  readonly runs: number
}

export interface ShrinkOptions {
  /** Whether a plan still fails as the first one did. */
  readonly fails: (plan: Plan) => Promise<boolean>
  /** Most runs. */
  readonly most: number
  /** When the first run failed, in virtual milliseconds. */
  readonly failedAt: number
  readonly shrank?: (plan: Plan) => void
}

class Shrinking {
  plan: Plan
  runs = 0
  private readonly options: ShrinkOptions

  constructor(plan: Plan, options: ShrinkOptions) {
    this.plan = plan
    this.options = options
  }

  get isOver(): boolean {
    return this.runs >= this.options.most
  }

  /** Takes a plan if it fails too. */
  async take(plan: Plan): Promise<boolean> {
    if (this.isOver) return false
    this.runs++
    if (!await this.options.fails(plan)) return false
    this.plan = plan
    this.options.shrank?.(plan)
    return true
  }

  /** Leaves steps out. */
  async without(gone: (step: Step) => boolean): Promise<boolean> {
    const steps = this.plan.steps.filter((step) => !gone(step))
    return steps.length < this.plan.steps.length && await this.take({ ...this.plan, steps })
  }
}

const keysOf = (plan: Plan, keyOf: (step: Step) => string): ReadonlyArray<string> => [...new Set(plan.steps.map(keyOf))]

/** Leaves out all steps with a common part: those of an actor, those of one of its actions. */
const dropGroups = async (shrinking: Shrinking, keyOf: (step: Step) => string): Promise<void> => {
  for (const key of keysOf(shrinking.plan, keyOf)) await shrinking.without((step) => keyOf(step) === key)
}

/** Leaves out runs of neighbouring steps, ever shorter ones (Zeller and Hildebrandt, "Simplifying", 2002). */
const dropPieces = async (shrinking: Shrinking): Promise<void> => {
  for (let size = shrinking.plan.steps.length >> 1; size >= 1 && !shrinking.isOver; size >>= 1) {
    for (let from = 0; from < shrinking.plan.steps.length;) {
      const piece = new Set(shrinking.plan.steps.slice(from, from + size))
      if (!await shrinking.without((step) => piece.has(step))) from += size
    }
  }
}

/** Leaves out what comes after the failure: all later runs end there. Checks at the end of a run need all of it. */
const endAtFailure = async (shrinking: Shrinking, failedAt: number): Promise<void> => {
  const { steps, until } = shrinking.plan
  if (failedAt >= until) return
  const plan = { ...shrinking.plan, until: Math.ceil(failedAt) + 1, steps: steps.filter(({ at }) => at <= failedAt) }
  await shrinking.take(plan)
}

/** Leaves out all after the failure, then actors, then actions, then steps of a plan. Ends the run soon after its last step. */
export const shrink = async (plan: Plan, options: ShrinkOptions): Promise<Shrunk> => {
  const shrinking = new Shrinking(plan, options)
  await endAtFailure(shrinking, options.failedAt)
  await dropGroups(shrinking, ({ actor }) => actor)
  await dropGroups(shrinking, ({ action, actor }) => `${actor} ${action}`)
  for (let before = Infinity; shrinking.plan.steps.length < before && !shrinking.isOver;) {
    before = shrinking.plan.steps.length
    await dropPieces(shrinking)
  }
  const last = shrinking.plan.steps.at(-1)?.at ?? 0
  if (last < shrinking.plan.until) await shrinking.take({ ...shrinking.plan, until: last })
  return { plan: shrinking.plan, runs: shrinking.runs }
}
