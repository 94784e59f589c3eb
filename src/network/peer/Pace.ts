/** The part of the time that all peers who called us may take together with what nobody asked them for. */
const SHARE = 0.1

/** Milliseconds of it that may be taken at once, after a quiet time; as much can be owed. */
const BURST = 500

/** As many peers get a part of their own each that does not depend on how many there are. */
const FEWEST = 5

/** Milliseconds that one peer may take at once of its own part, after a quiet time. */
const OWN_BURST = 50

/** Milliseconds that a peer has when it comes: enough for a handshake, and little for one that comes again and again. */
const OWN_START = 5

/** Most milliseconds that a step costs a peer of its own part: it may have been held up by something else. */
const STEP_LIMIT = 50

/** Shortest wait, milliseconds: looking whether it is over takes time too. */
const SHORTEST_WAIT = 100

/**
 * Holds back what comes uncalled-for, so that it cannot keep the node from what it is doing: messages take time to read
 * whatever is in them, and anybody may send them. Peers that we called ourselves are not held back, nor are answers.
 *
 * All together may take a tenth of the time. As long as they take less nobody waits. When they take more, each may go on
 * with its own part of it, the same for all: so those who take much wait for themselves and not for the others.
 * Milliseconds of a clock that does not go back.
 */
export class Pace {
  private credit = BURST
  private since: number
  private peers = 0

  constructor(now: number) {
    this.since = now
  }

  /** Begins to count a peer, until it leaves. */
  join(now: number): PeerPace {
    this.peers += 1
    return new PeerPace(this, now)
  }

  leave(): void {
    this.peers -= 1
  }

  /** The part of the time that each peer may take whatever the others do. */
  get ownShare(): number {
    return SHARE / Math.max(FEWEST, this.peers)
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
  private credit = OWN_START
  private since: number

  constructor(all: Pace, now: number) {
    this.all = all
    this.since = now
  }

  private refill(now: number): void {
    this.credit = Math.min(OWN_BURST, this.credit + this.all.ownShare * (now - this.since))
    this.since = now
  }

  /** Notes time that was taken for it. */
  spent(milliseconds: number, now: number): void {
    this.refill(now)
    this.credit -= Math.min(milliseconds, STEP_LIMIT)
    this.all.spent(milliseconds, now)
  }

  /** How long nothing more is to be read of it: until it has paid or there is room for all. */
  wait(now: number): number {
    this.refill(now)
    if (this.credit >= 0) return 0
    const shared = this.all.wait(now)
    return shared === 0 ? 0 : Math.max(SHORTEST_WAIT, Math.ceil(Math.min(shared, -this.credit / this.all.ownShare)))
  }
}
