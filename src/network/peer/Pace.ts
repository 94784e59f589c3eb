/** The part of the time that all peers who called us may take together with what nobody asked them for. */
const SHARE = 0.1

/** Milliseconds of it that may be taken at once, after a quiet time; as much can be owed. */
const BURST = 500

/** As many peers get a part of their own each that does not depend on how many there are. */
const FEWEST = 5

/** Milliseconds that one peer may take at once of its own part, after a quiet time. */
const OWN_BURST = 50

/**
 * Milliseconds that a peer may owe before it waits: what a handshake takes while the program is still cold, which a peer
 * that only pings would pay off for seconds. What it owes when it leaves its address group owes.
 */
const LITTLE = 20

/** Most milliseconds that a step costs a peer of its own part: collecting garbage may have been in between. */
const STEP_LIMIT = 250

/**
 * Milliseconds that all peers of a group of addresses together have when they connect: enough for a handshake. One that
 * connects again and again, from its own or a neighbouring address, finds what it left, debts included.
 */
const OWN_START = 5

/** Most milliseconds that a group is remembered to owe, and the most groups that are remembered. */
const MOST_DEBT = 500
const MOST_GROUPS = 1_024

/** Shortest and longest wait, milliseconds: looking whether it is over takes time too, and others may have left meanwhile. */
const SHORTEST_WAIT = 100
const LONGEST_WAIT = 2_000

/**
 * Holds back what comes uncalled-for, so that it cannot keep the node from what it is doing: messages take time to read
 * whatever is in them, and anybody may send them. Peers that we called ourselves are not held back, nor are answers.
 * The time is what was measured: of this thread, for reading a message and for handling it.
 *
 * All together may take a tenth of the time. As long as they take less, none waits. When they take more, each pays off
 * what it took: its own part of the tenth counts at all times, the same for all peers, and while it waits, an equal part
 * with the others who wait. So those who take much wait for themselves and not for the others, each for a time of its
 * own: a hundred that go on at the same moment would be a flood by themselves. Milliseconds of a clock that does not go
 * back.
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

  /** Begins to count a peer, until it leaves. It gets what is left in the purse of its group, or its debt. */
  join(now: number, group: string): PeerPace {
    this.peers += 1
    const start = this.purse(group, now)
    if (start > 0) this.keep(group, 0, now)
    return new PeerPace(this, now, group, start)
  }

  /** Counts a peer no more. What it owes, or has not used of what it began with, goes back into the purse of its group. */
  leave(group: string, credit: number, now: number): void {
    this.peers -= 1
    const purse = this.purse(group, now)
    if (credit < 0) this.keep(group, Math.min(purse, Math.max(-MOST_DEBT, credit)), now)
    else if (purse >= 0) this.keep(group, purse + credit, now)
  }

  /** Milliseconds that a group of addresses has for those that connect, filled up at the rate of one peer. */
  private purse(group: string, now: number): number {
    const known = this.purses.get(group)
    return known === undefined ? OWN_START : Math.min(OWN_START, known.left + this.ownShare * (now - known.since))
  }

  private keep(group: string, left: number, now: number): void {
    this.purses.delete(group)
    if (left >= OWN_START) return
    this.purses.set(group, { left, since: now })
    if (this.purses.size <= MOST_GROUPS) return
    for (const oldest of this.purses.keys()) {
      this.purses.delete(oldest)
      return
    }
  }

  /** The part of the time that each peer may take whatever the others do. */
  get ownShare(): number {
    return SHARE / Math.max(FEWEST, this.peers)
  }

  /** The part of the time by which each peer that waits pays off what it took. */
  get waitersShare(): number {
    return SHARE / Math.max(1, this.waiting)
  }

  /** Counts a peer that waits, or that waits no more. */
  waits(change: 1 | -1): void {
    this.waiting += change
  }

  private refill(now: number): void {
    this.credit = Math.min(BURST, this.credit + SHARE * (now - this.since))
    this.since = now
  }

  /** Notes time that one of them took. */
  spent(milliseconds: number, now: number): void {
    this.refill(now)
    this.credit = Math.max(-BURST, this.credit - milliseconds)
  }

  /** How long they took too much together. */
  wait(now: number): number {
    this.refill(now)
    return this.credit >= 0 ? 0 : Math.ceil(-this.credit / SHARE)
  }
}

/** One peer's part of the pace. */
export class PeerPace {
  private readonly all: Pace
  private readonly group: string
  private credit: number
  private since: number
  private isWaiting = false

  constructor(all: Pace, now: number, group: string, credit: number) {
    this.all = all
    this.since = now
    this.group = group
    this.credit = credit
  }

  /** Ends the count. */
  leave(now: number): void {
    this.goOn(now)
    this.all.leave(this.group, this.credit, now)
  }

  private refill(now: number): void {
    this.credit = Math.min(OWN_BURST, this.credit + this.share * (now - this.since))
    this.since = now
  }

  /** The part of the time by which what it took is paid off. */
  private get share(): number {
    const { ownShare, waitersShare } = this.all
    return this.isWaiting ? Math.max(ownShare, waitersShare) : ownShare
  }

  /** The peer has waited, to the end or not. */
  goOn(now: number): void {
    this.refill(now)
    if (!this.isWaiting) return
    this.isWaiting = false
    this.all.waits(-1)
  }

  /** Notes time that was taken for it. */
  spent(milliseconds: number, now: number): void {
    this.refill(now)
    this.credit -= Math.min(milliseconds, STEP_LIMIT)
    this.all.spent(milliseconds, now)
  }

  /**
   * How long nothing more is to be read of it; 0 for not at all. Where it is to wait, it counts as one that waits until
   * `goOn`, after which it is asked again.
   */
  wait(now: number): number {
    this.goOn(now)
    const owed = -this.credit - LITTLE
    if (owed <= 0 || this.all.wait(now) === 0) return 0
    this.isWaiting = true
    this.all.waits(1)
    return Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, Math.ceil(owed / this.share)))
  }
}
