import type { Millis } from "../../protocol/keys.ts"

/** The share of time for unsolicited data of all inbound peers. */
const SHARE = 0.1

/** Milliseconds of the shared part that may be used at once after an idle time. Limits the debt, too. */
const BURST = 500

/** The share of a peer is computed for at least this many peers. */
const FEWEST = 5

/** Milliseconds of its own share that a peer may use at once after an idle time. */
const OWN_BURST = 50

/**
 * Debt in milliseconds up to which a peer does not wait. A handshake costs this much in a cold program, and a peer that
 * only pings would need seconds to pay it off. A leaving peer's debt moves to its address group.
 */
const LITTLE = 20

/** Milliseconds per step, as garbage collection may have run in between. */
const STEP_LIMIT = 250

/** Initial milliseconds of an address group, enough for a handshake. Reconnecting does not renew them. */
const OWN_START = 5

/** Maximum debt of a group in milliseconds, and maximum groups remembered. */
const MOST_DEBT = 500
const MOST_GROUPS = 1_024

/** Bounds of one wait in milliseconds: resuming has a cost, and shares grow when other peers leave. */
const SHORTEST_WAIT = 100
const LONGEST_WAIT = 2_000

/**
 * Throttles unsolicited data, which takes time to read whatever it contains, so that no peer can stall the node.
 * Outbound peers and answers are not throttled. The time to read and handle messages is measured on this thread.
 *
 * All inbound peers together may take a tenth of the time without waiting. Beyond that, each peer waits until it has
 * paid off its own time, at the larger of an equal share among all inbound peers and one among the waiting peers. So
 * heavy peers delay only themselves. Waits depend on the debt of each, so that peers do not all resume at once. Times
 * are monotonic milliseconds.
 */
export class Pace {
  private credit = BURST
  private since: number
  private peers = 0
  private waiting = 0
  private readonly purses = new Map<string, { readonly left: number; readonly since: number }>()

  constructor(now: number) {
    this.since = now
  }

  /** Adds a peer until `leave`, with the remaining credit or debt of its group. */
  join(now: number, group: string): PeerPace {
    this.peers += 1
    const start = this.purse(group, now)
    if (start > 0) this.keep(group, 0, now)
    return new PeerPace(this, { group, credit: start, now })
  }

  /** The peer's debt or unused initial credit returns to its group. */
  leave(group: string, credit: number, now: Millis): void {
    this.peers -= 1
    const purse = this.purse(group, now)
    if (credit < 0) this.keep(group, Math.min(purse, Math.max(-MOST_DEBT, credit)), now)
    else if (purse >= 0) this.keep(group, purse + credit, now)
  }

  /** Milliseconds that a group has for connecting peers, refilled at the rate of one peer. */
  private purse(group: string, now: number): number {
    const known = this.purses.get(group)
    return known === undefined ? OWN_START : Math.min(OWN_START, known.left + this.ownShare * (now - known.since))
  }

  private keep(group: string, left: number, now: Millis): void {
    this.purses.delete(group)
    if (left >= OWN_START) return
    this.purses.set(group, { left, since: now })
    if (this.purses.size <= MOST_GROUPS) return
    for (const oldest of this.purses.keys()) {
      this.purses.delete(oldest)
      return
    }
  }

  get ownShare(): number {
    return SHARE / Math.max(FEWEST, this.peers)
  }

  get waitersShare(): number {
    return SHARE / Math.max(1, this.waiting)
  }

  waits(change: 1 | -1): void {
    this.waiting += change
  }

  private refill(now: number): void {
    this.credit = Math.min(BURST, this.credit + SHARE * (now - this.since))
    this.since = now
  }

  spent(milliseconds: number, now: Millis): void {
    this.refill(now)
    this.credit = Math.max(-BURST, this.credit - milliseconds)
  }

  /** Milliseconds until all peers together are within their part again. */
  wait(now: number): number {
    this.refill(now)
    return this.credit >= 0 ? 0 : Math.ceil(-this.credit / SHARE)
  }
}

export class PeerPace {
  private readonly all: Pace
  private readonly group: string
  private credit: number
  private since: number
  private isWaiting = false

  constructor(
    all: Pace,
    { credit, group, now }: { readonly group: string; readonly credit: number; readonly now: Millis }
  ) {
    this.all = all
    this.since = now
    this.group = group
    this.credit = credit
  }

  leave(now: number): void {
    this.goOn(now)
    this.all.leave(this.group, this.credit, now)
  }

  private refill(now: number): void {
    this.credit = Math.min(OWN_BURST, this.credit + this.share * (now - this.since))
    this.since = now
  }

  private get share(): number {
    const { ownShare, waitersShare } = this.all
    return this.isWaiting ? Math.max(ownShare, waitersShare) : ownShare
  }

  goOn(now: number): void {
    this.refill(now)
    if (!this.isWaiting) return
    this.isWaiting = false
    this.all.waits(-1)
  }

  spent(milliseconds: number, now: Millis): void {
    this.refill(now)
    this.credit -= Math.min(milliseconds, STEP_LIMIT)
    this.all.spent(milliseconds, now)
  }

  /** Milliseconds to stop reading for. The peer counts as waiting until `goOn`; then call this again. */
  wait(now: number): number {
    this.goOn(now)
    const owed = -this.credit - LITTLE
    if (owed <= 0 || this.all.wait(now) === 0) return 0
    this.isWaiting = true
    this.all.waits(1)
    return Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, Math.ceil(owed / this.share)))
  }
}
