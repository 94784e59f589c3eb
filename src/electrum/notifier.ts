import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { monotonic } from "../base/clock.ts"
import { withoutSpan } from "../base/spans.ts"
import { pauses } from "../base/turns.ts"
import type { Chain } from "../chain/Chain.ts"
import type { TouchedScripts } from "../chain/indexes/LastTouched.ts"
import type { OpenScriptBook } from "../mempool/scripts/ScriptBook.ts"
import { electrumNotifyDuration } from "../metrics/electrumMetrics.ts"
import type { CommitSignal } from "../names/CommitSignal.ts"
import { fromBinaryString } from "../protocol/bytes.ts"
import { type ScriptKey, scriptKey } from "../protocol/keys.ts"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import { tipAnswer } from "./methods/headerMethods.ts"
import { wholeStatus } from "./methods/scriptHashMethods.ts"
import { CODE } from "./protocol/ElectrumError.ts"
import { encodeNotification } from "./protocol/envelope.ts"
import type { ServedClient } from "./Session.ts"
import type { HeaderSource } from "./sources/Headers.ts"
import type { Histories } from "./sources/Histories.ts"
import type { Subscriptions } from "./Subscriptions.ts"

/** Tells clients about blocks: headers first, then the script hashes that they follow. */

export interface NotifierParts {
  readonly chain: {
    readonly tree: Pick<typeof Chain.Service["tree"], "tip">
    /** Each element says that the tip may be another one. */
    readonly subscription: Effect.Effect<Stream.Stream<unknown>, never, Scope.Scope>
  }
  /** The changes of names. */
  readonly names: { readonly commits: Effect.Effect<Pick<CommitSignal, "count" | "touchedBehind">> }
  /** The changes of other scripts, if the node has their histories. */
  readonly scripts: Pick<OpenScriptBook, "listen"> | undefined
  readonly headers: HeaderSource
  readonly histories: Histories
  readonly sessions: Iterable<Pick<ServedClient, "followsHeaders" | "notify">>
  readonly subscriptions: Subscriptions
}

/** Between looks for changes that no block announced: in the mempool, or as names become complete. */
const POLL = "1 second"

/** Marks the followed script hashes that a change of the names touched. */
const markChanged = (touched: ReadonlySet<string> | "all", subscriptions: Subscriptions): void => {
  if (touched === "all") return subscriptions.allChanged()
  if (subscriptions.count === 0) return
  for (const name of touched) subscriptions.changed(scriptKey(nameIndexHash(fromBinaryString(name))))
}

/** The scripts that blocks and the mempool touched since the last pass. */
class Touched {
  #all = false
  readonly #keys = new Set<ScriptKey>()

  get isEmpty(): boolean {
    return !this.#all && this.#keys.size === 0
  }

  /** Only followed ones are kept. */
  add(touched: TouchedScripts, { has }: { readonly has: (key: ScriptKey) => boolean }): void {
    if (touched === "all") this.#all = true
    else for (const key of touched) if (has(key)) this.#keys.add(key)
  }

  moveTo(subscriptions: Subscriptions): void {
    if (this.#all) subscriptions.allChanged()
    else for (const key of this.#keys) subscriptions.changed(key)
    this.#all = false
    this.#keys.clear()
  }
}

/** Statuses read at a time. */
const LOT = 256

/**
 * Tells the statuses that have to be read, `most` at a time. One that cannot be read ends the pass: while the node
 * syncs, none can. A history that is too large stays so, and its subscription ends. Returns whether all were told.
 */
const notifyStatuses = (
  { histories, subscriptions }: Pick<NotifierParts, "histories" | "subscriptions">,
  most: number
): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const pause = pauses()
    while (subscriptions.isDue) {
      const keys = subscriptions.due(most)
      const [first] = keys
      // If the reading fails, the others come first in the next pass.
      if (first !== undefined) subscriptions.postpone(first)
      const read = yield* Effect.either(histories.several(keys))
      if (Either.isLeft(read)) return false
      for (const [at, found] of read.right.entries()) {
        const key = keys[at]
        if (key === undefined) break
        if (Either.isRight(found)) subscriptions.tell(key, wholeStatus(found.right))
        else if (found.left.code === CODE.historyTooLong) subscriptions.drop(key)
        else return false
      }
      yield* pause
    }
    return true
  })

const logged = (work: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchAllDefect(work, (defect) => Effect.logError("Electrum clients not notified: internal error", { defect }))

/** Notifies until the scope closes. */
export const runNotifier = (parts: NotifierParts): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { chain: { subscription, tree }, headers, names, scripts, sessions, subscriptions } = parts
    const commits = yield* names.commits
    const events = yield* subscription
    const wake = yield* Queue.sliding<void>(1)
    const scriptsTouched = new Touched()
    // Not marked at once: the status of a script that is being read must be read again.
    if (scripts !== undefined) {
      yield* scripts.listen((touched) => scriptsTouched.add(touched, { has: (key) => subscriptions.has(key) }))
    }
    let seen = commits.count
    let told = tree.tip()
    let lot = LOT

    /** Has a fiber of its own, too: a pass over statuses may read long histories. */
    const notifyTip = (yield* Effect.makeSemaphore(1)).withPermits(1)(Effect.gen(function*() {
      const tip = tree.tip()
      if (told === tip) return
      if ([...sessions].some(({ followsHeaders }) => followsHeaders)) {
        const params = `[${encodeJson(yield* tipAnswer(headers))}]`
        const message = encodeNotification({ method: "blockchain.headers.subscribe", params })
        for (const reader of sessions) if (reader.followsHeaders) reader.notify(message)
      }
      told = tip
    }))

    const notify = Effect.gen(function*() {
      const started = monotonic()
      const before = { told, seen }
      // If the header cannot be read now, a later pass tells it.
      yield* Effect.ignore(notifyTip)
      const touched = commits.touchedBehind(seen)
      seen = commits.count
      markChanged(touched, subscriptions)
      scriptsTouched.moveTo(subscriptions)
      const most = lot
      // One that cannot be read must not keep those of its lot from their clients.
      lot = 1
      if (yield* notifyStatuses(parts, most)) lot = LOT
      if (told !== before.told || seen !== before.seen) electrumNotifyDuration.observe((monotonic() - started) / 1_000)
    })

    const hasNews = (): boolean =>
      told !== tree.tip() || commits.count !== seen || !scriptsTouched.isEmpty || subscriptions.isDue

    const tellsTip = Effect.zipRight(Queue.offer(wake, undefined), logged(Effect.ignore(notifyTip)))
    yield* Effect.forkScoped(withoutSpan(Stream.runForEach(events, () => tellsTip)))
    yield* Effect.forkScoped(
      withoutSpan(Effect.forever(Effect.zipRight(
        Effect.raceFirst(Queue.take(wake), Effect.sleep(POLL)),
        Effect.suspend(() => hasNews() ? logged(notify) : Effect.void)
      )))
    )
  })
