import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { monotonic } from "../base/clock.ts"
import { withoutSpan } from "../base/spans.ts"
import { turnOfEventLoop } from "../base/turns.ts"
import type { Chain } from "../chain/Chain.ts"
import { electrumNotifyDuration } from "../metrics/electrumMetrics.ts"
import type { NameDb } from "../names/NameDb.ts"
import { fromBinaryString } from "../protocol/bytes.ts"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import { tipAnswer } from "./methods/headerMethods.ts"
import { scriptStatus } from "./methods/scriptHashMethods.ts"
import { type ScriptKey, scriptKey } from "./protocol/status.ts"
import type { Sessions } from "./Sessions.ts"
import type { HeaderSource } from "./sources/Headers.ts"
import type { Histories } from "./sources/Histories.ts"
import type { Subscriptions } from "./Subscriptions.ts"

/** Tells clients about blocks: headers first, then the script hashes that they follow. */

export interface NotifierParts {
  readonly chain: Pick<typeof Chain.Service, "subscription" | "tree">
  readonly names: Pick<typeof NameDb.Service, "commits">
  readonly headers: HeaderSource
  readonly histories: Histories
  readonly sessions: Sessions
  readonly subscriptions: Subscriptions
}

/** Milliseconds of work between turns of the event loop. */
const SLICE = 5

/** Between looks for changes that no block announced, as when names become complete. */
const POLL = "1 second"

/** The followed script hashes that a change of the names touched. */
function* followedOf(touched: ReadonlySet<string> | "all", subscriptions: Subscriptions): Iterable<ScriptKey> {
  if (touched === "all") {
    yield* [...subscriptions.keys()]
    return
  }
  for (const name of touched) {
    const key = scriptKey(nameIndexHash(fromBinaryString(name)))
    if (subscriptions.has(key)) yield key
  }
}

/** Notifies until the scope closes. */
export const runNotifier = (parts: NotifierParts): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { chain: { subscription, tree }, headers, histories, names, sessions, subscriptions } = parts
    const commits = yield* names.commits
    const events = yield* subscription
    const wake = yield* Queue.sliding<void>(1)
    let seen = commits.count
    let told = tree.tip()
    /** Script hashes whose status could not be read. */
    let open = new Set<ScriptKey>()

    const notifyTip = Effect.gen(function*() {
      if (told === tree.tip()) return
      const readers = [...sessions].filter(({ followsHeaders }) => followsHeaders)
      told = tree.tip()
      if (readers.length === 0) return
      const params = `[${encodeJson(yield* tipAnswer(headers))}]`
      for (const reader of readers) reader.notify({ method: "blockchain.headers.subscribe", params })
    })

    const notifyStatuses = (keys: Iterable<ScriptKey>) =>
      Effect.gen(function*() {
        let end = monotonic() + SLICE
        for (const key of keys) {
          const found = yield* Effect.either(scriptStatus(histories, key))
          if (found._tag === "Left") open.add(key)
          else subscriptions.tell(key, found.right.status)
          if (monotonic() < end) continue
          yield* turnOfEventLoop
          end = monotonic() + SLICE
        }
      })

    const notify = Effect.gen(function*() {
      const started = monotonic()
      // A header that cannot be read now is told with the next one.
      yield* Effect.ignore(notifyTip)
      const touched = commits.touchedBehind(seen)
      seen = commits.count
      const again = open
      open = new Set()
      yield* notifyStatuses(again)
      yield* notifyStatuses(followedOf(touched, subscriptions))
      electrumNotifyDuration.observe((monotonic() - started) / 1_000)
    })

    const hasNews = (): boolean => told !== tree.tip() || commits.count !== seen || open.size > 0

    yield* Effect.forkScoped(withoutSpan(Stream.runForEach(events, () => Queue.offer(wake, undefined))))
    yield* Effect.forkScoped(
      withoutSpan(Effect.forever(Effect.zipRight(
        Effect.raceFirst(Queue.take(wake), Effect.sleep(POLL)),
        Effect.suspend(() => hasNews() ? notify : Effect.void)
      )))
    )
  })
