import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { type LiveEvent, liveFiltered, type LiveWanted, wantsPending } from "../../names/events/LiveEvent.ts"
import type { EventPage } from "../../names/events/NameEvents.ts"
import type { Height } from "../../protocol/keys.ts"
import type { PendingLog } from "./PendingLog.ts"

/** Some of the waiting operations in order of arrival, and whether more follow. */
export interface PendingPart {
  readonly events: ReadonlyArray<LiveEvent>
  readonly isEnd: boolean
}

export interface LiveReaderParts {
  readonly log: PendingLog
  /** Lists the currently waiting operations in parts. Later ones may be missing. */
  readonly list: () => Effect.Effect<PendingPart>
  /** The last block with known names, if the node has caught up. */
  readonly synced: Effect.Effect<Height | undefined>
  /** Ends with the next event of a pending operation after this call, or after so many milliseconds. */
  readonly newsWithin: (milliseconds: number) => Effect.Effect<boolean>
}

/** Events given to a reader at once. */
const GIVEN_AT_ONCE = 100

/** Milliseconds between checks whether the node has caught up, which no event announces. */
const SYNCED_INTERVAL = 1_000

const NOTHING: ReadonlyArray<LiveEvent> = []

type State =
  /** No pending operations yet: the reader is not at the end of the blocks, or fell behind the log. */
  | { readonly at: "away" }
  | { readonly at: "beginning" }
  /** The reader gets the operations of the mempool, then the log from `place` on. */
  | { readonly at: "listing"; readonly next: Effect.Effect<PendingPart>; readonly place: number }
  | { readonly at: "following"; readonly place: number }

/**
 * A reader of live events beside the events of blocks. For each page of blocks, it takes the live events logged until
 * the page was read before handing the page out, so that a pending operation always precedes its block. Later ones
 * follow the page, which waits for at most the size of the log.
 *
 * Pending operations begin when the reader has all blocks, with `pending_reset` and all that wait. A reader that falls
 * behind the log starts over, so it takes no memory however slow it is.
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

  get end(): number {
    return this.parts.log.end
  }

  /** Whether the reader is at the list of the mempool, which precedes the next page of blocks. */
  get isListing(): boolean {
    return this.state.at === "beginning" || this.state.at === "listing"
  }

  /** Whether events up to a place of the log are not taken yet. */
  isBefore(end: number): boolean {
    return this.isListing || this.state.at === "following" && this.state.place < end
  }

  get isBehind(): boolean {
    return this.isBefore(this.end)
  }

  /** The next events; none if there are none or none are wanted. */
  readonly take: Effect.Effect<ReadonlyArray<LiveEvent>> = Effect.suspend(() => this.nextTo(this.end))

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
        const wanted = liveFiltered(this.wanted, events)
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
      events.push(...liveFiltered(this.wanted, [event]))
    }
    this.state = { at: "following", place }
    return events
  }

  /** Notes that the reader received a page of blocks. Returns the events that follow it. */
  after({ height, isEnd }: Pick<EventPage, "height" | "isEnd">): Effect.Effect<ReadonlyArray<LiveEvent>> {
    return Effect.suspend(() => {
      if (!isEnd) return Effect.succeed(NOTHING)
      if (this.state.at === "away" && wantsPending(this.wanted)) this.state = { at: "beginning" }
      if (this.isSyncedTold) return Effect.succeed(NOTHING)
      return Effect.map(this.parts.synced, (at) => {
        // A block arrived since the page was read. Its page comes first.
        if (at !== height) return NOTHING
        this.isSyncedTold = true
        return [{ type: "synced", height }]
      })
    })
  }

  /** Ends when `take` or `after` may have more than before this call, or after so many milliseconds. */
  newsWithin(milliseconds: number): Effect.Effect<boolean> {
    return this.parts.newsWithin(this.isSyncedTold ? milliseconds : Math.min(milliseconds, SYNCED_INTERVAL))
  }
}
