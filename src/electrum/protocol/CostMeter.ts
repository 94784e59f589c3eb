/**
 * What sessions cost, in ElectrumX's units (aiorpcX `session.py`): calls have their costs, and each 100,000 bytes in or
 * out cost 1. The cost falls with time.
 */

export const COST_LIMITS = {
  /** From here on, answers slow down. */
  soft: 1_000,
  /** Here the session ends. */
  hard: 10_000,
  /** Per second and session. */
  decay: 1
}

export const COST = {
  connection: 5,
  error: 100,
  perByte: 1 / 100_000
}

/** Milliseconds that an answer waits just below the hard limit. */
const LONGEST_DELAY = 2_000

interface Charge {
  readonly cost: number
  readonly now: number
}

/** The cost of the sessions that share it. Times are in milliseconds. */
export class CostMeter {
  #cost = 0
  #sessions = 0
  /** Of the last change. */
  #at: number

  constructor(now: number) {
    this.#at = now
  }

  /** Open sessions. */
  get sessions(): number {
    return this.#sessions
  }

  add({ cost, now }: Charge): void {
    this.#cost = this.at(now) + cost
    this.#at = now
  }

  join(now: number): void {
    this.add({ cost: COST.connection, now })
    this.#sessions++
  }

  leave(now: number): void {
    this.add({ cost: 0, now })
    this.#sessions--
  }

  at(now: number): number {
    const seconds = Math.max(0, now - this.#at) / 1_000
    return Math.max(0, this.#cost - seconds * COST_LIMITS.decay * Math.max(1, this.#sessions))
  }
}

export const isExcessive = (cost: number): boolean => cost >= COST_LIMITS.hard

/** Milliseconds that the next answer waits. */
export const delayAt = (cost: number): number => {
  const { hard, soft } = COST_LIMITS
  return Math.max(0, Math.min(1, (cost - soft) / (hard - soft))) * LONGEST_DELAY
}
