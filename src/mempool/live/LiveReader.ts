import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { type LiveEvent, type LiveWanted, wantsLive, wantsPending } from "../../names/events/LiveEvent.ts"
import type { EventPage } from "../../names/events/NameEvents.ts"
import type { Height } from "../../protocol/keys.ts"
import type { PendingLog } from "./PendingLog.ts"

/** Some of the operations that wait, in the order of their arrival, and whether more follow. */
export interface PendingPart {
  readonly events: ReadonlyArray<LiveEvent>
  readonly isEnd: boolean
}

export interface LiveReaderParts {
  readonly log: PendingLog
  /** Begins to list the operations that wait now, part by part. Those that arrive later may be missing from the parts. */
  readonly list: () => Effect.Effect<PendingPart>
  /** The last block whose names are known, if the node has caught up. */
  readonly synced: Effect.Effect<Height | undefined>
  /** Returns what ends with the next event of a pending operation behind this call, or after so many milliseconds. */
  readonly newsWithin: (milliseconds: number) => Effect.Effect<boolean>
}

/** Events that are given to a reader at once. */
const GIVEN_AT_ONCE = 100

/** Milliseconds between two looks at whether the node has caught up: no event says so. */
const SYNCED_INTERVAL = 1_000

const NOTHING: ReadonlyArray<LiveEvent> = []

type State =
  /** Pending operations are not told: the reader is not at the end of the blocks yet, or fell behind the log. */
  | { readonly at: "away" }
  | { readonly at: "beginning" }
  /** The reader gets the operations of the mempool, and then the log from `place` on. */
  | { readonly at: "listing"; readonly next: Effect.Effect<PendingPart>; readonly place: number }
  | { readonly at: "following"; readonly place: number }

/**
 * A reader of live events beside the events of blocks. Behind each page of blocks that it reads, and before it hands the page
 * out, it takes the live events up to that moment: so a pending operation always comes before the block that has it. Later
 * ones come behind the page: so the page waits for no more than the log holds.
 *
 * Pending operations begin when the reader has all blocks: with `pending_reset` and all that wait. A reader that falls behind the
 * log begins with them again in the same way, so it takes no memory however slow it is.
 */
export class LiveReader {
  private readonly parts: LiveReaderParts
  private readonly wanted: LiveWanted
  private state: State = { at: "away" }
  private isSyncedTold: boolean

  constructor(parts: LiveReaderParts, wanted: LiveWanted) {
    this.parts = parts
    this.wanted = wanted
    this.isSyncedTold = !wanted.kinds.has("synced")
  }

  /** The place behind the last event of the log now. */
  get end(): number {
    return this.parts.log.end
  }

  /** Whether the reader is at the list of the mempool: the next page of blocks comes after it. */
  get isListing(): boolean {
    return this.state.at === "beginning" || this.state.at === "listing"
  }

  /** Whether events up to a place of the log are not taken yet. */
  isBefore(end: number): boolean {
    return this.isListing || this.state.at === "following" && this.state.place < end
  }

  /** Whether events are there that are not taken yet. */
  get isBehind(): boolean {
    return this.isBefore(this.end)
  }

  /** The next events; none if there are none now, or the reader wants none of them. */
  readonly take: Effect.Effect<ReadonlyArray<LiveEvent>> = Effect.suspend(() => this.nextTo(this.end))

  /** The next events up to a place of the log. */
  takeTo(end: number): Effect.Effect<ReadonlyArray<LiveEvent>> {
    return Effect.suspend(() => this.nextTo(end))
  }

  private nextTo(end: number): Effect.Effect<ReadonlyArray<LiveEvent>> {
    const { log } = this.parts
    const { state } = this
    switch (state.at) {
      case "away":
        return Effect.succeed(NOTHING)
      case "beginning":
        this.state = this.wanted.kinds.has("pending")
          ? { at: "listing", next: this.parts.list(), place: log.end }
          : { at: "following", place: log.end }
        return Effect.succeed<ReadonlyArray<LiveEvent>>([{ type: "pending_reset" }])
      case "listing":
        return this.takeListed(state.next, state.place)
      case "following":
        return Effect.succeed(this.takeLogged({ from: state.place, end }))
    }
  }

  private takeListed(next: Effect.Effect<PendingPart>, place: number): Effect.Effect<ReadonlyArray<LiveEvent>> {
    return Effect.gen(this, function*() {
      for (;;) {
        if (!this.parts.log.reaches(place)) {
          this.state = { at: "away" }
          return NOTHING
        }
        const { events, isEnd } = yield* next
        if (isEnd) this.state = { at: "following", place }
        const wanted = events.filter((event) => wantsLive(this.wanted, event))
        if (isEnd || wanted.length > 0) return wanted
        yield* turnOfEventLoop
      }
    })
  }

  private takeLogged({ end, from }: { readonly from: number; readonly end: number }): ReadonlyArray<LiveEvent> {
    const { log } = this.parts
    if (!log.reaches(from)) {
      this.state = { at: "away" }
      return NOTHING
    }
    const events: Array<LiveEvent> = []
    let place = from
    for (; events.length < GIVEN_AT_ONCE && place < end; place++) {
      const event = log.behind(place)
      if (event === undefined) break
      if (wantsLive(this.wanted, event)) events.push(event)
    }
    this.state = { at: "following", place }
    return events
  }

  /** Notes that the reader received a page of blocks. Returns the events that come behind it. */
  after({ height, isEnd }: Pick<EventPage, "height" | "isEnd">): Effect.Effect<ReadonlyArray<LiveEvent>> {
    return Effect.suspend(() => {
      if (!isEnd) return Effect.succeed(NOTHING)
      if (this.state.at === "away" && wantsPending(this.wanted)) this.state = { at: "beginning" }
      if (this.isSyncedTold) return Effect.succeed(NOTHING)
      return Effect.map(this.parts.synced, (at) => {
        // A block came since the page was read: its page comes first.
        if (at !== height) return NOTHING
        this.isSyncedTold = true
        return [{ type: "synced", height }]
      })
    })
  }

  /** Returns what ends when `take` or `after` may have more than before this call, or after so many milliseconds. */
  newsWithin(milliseconds: number): Effect.Effect<boolean> {
    return this.parts.newsWithin(this.isSyncedTold ? milliseconds : Math.min(milliseconds, SYNCED_INTERVAL))
  }
}
