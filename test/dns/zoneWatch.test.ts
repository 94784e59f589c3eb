import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { AnswerCache, type KeptAnswer } from "../../src/dns/AnswerCache.ts"
import { makeZoneWatch } from "../../src/dns/zoneWatch.ts"
import { CommitSignal } from "../../src/names/CommitSignal.ts"
import { headerId, nameKey } from "../../src/protocol/keys.ts"
import { text } from "../names/blocks.ts"
import { eventually } from "../support/eventually.ts"

const NAME = nameKey(text("d/a"))

const answer = (moment: number, denies = false): KeptAnswer => ({
  body: { bytes: new Uint8Array(1), isCut: false },
  rcode: "NOERROR",
  isCut: false,
  denies,
  isOpen: false,
  soaBytes: 0,
  soaSerial: 0,
  sources: [NAME],
  moment,
  from: 0,
  to: 10
})

/** A watch over a chain and a window that the test moves. */
const watched = Effect.gen(function*() {
  const world = { height: 5, complete: true, high: headerId(1) }
  const commits = new CommitSignal()
  const cache = new AnswerCache(100_000)
  let hasWindow = false
  const light = { span: { filled: () => ({ low: 0, high: world.high }) } }
  const watch = yield* makeZoneWatch({
    cache,
    commits,
    answers: { height: Effect.sync(() => world.height), complete: Effect.sync(() => world.complete) },
    part: { current: () => hasWindow ? light : undefined }
  })
  const isKept = (): boolean => {
    watch.moment()
    return cache.get("q", watch.state()) !== undefined
  }
  return {
    cache,
    commits,
    isKept,
    put: (denies?: boolean) => cache.put("q", answer(watch.moment(), denies)),
    switchWindow: () => void (hasWindow = !hasWindow),
    watch,
    world
  }
})

describe("makeZoneWatch", () => {
  it.scoped("tells the cache about a commit at the next question", () =>
    Effect.gen(function*() {
      const { commits, isKept, put, watch } = yield* watched
      put()
      assert.isTrue(isKept())
      commits.tell(new Map([[nameKey(text("d/b")), 0]]))
      // Until the height is read, no answer is taken from the cache.
      assert.isFalse(isKept())
      yield* eventually("the height is read", Effect.sync(isKept))
      const before = watch.moment()
      commits.tell(new Map([[NAME, 0]]))
      assert.isAbove(watch.moment(), before)
      yield* Effect.repeatN(turnOfEventLoop, 3)
      assert.isFalse(isKept())
      put()
      yield* eventually("the new answer is kept", Effect.sync(isKept))
    }))

  it.scoped("follows the height, at which names expire", () =>
    Effect.gen(function*() {
      const { commits, isKept, put, world } = yield* watched
      put()
      for (const [height, isHeld] of [[9, true], [10, false], [9, true]] as const) {
        world.height = height
        commits.tell(new Map())
        yield* Effect.repeatN(turnOfEventLoop, 3)
        assert.strictEqual(isKept(), isHeld, `at ${height}`)
      }
    }))

  it.live("notices without a commit that names are incomplete", () =>
    Effect.scoped(Effect.gen(function*() {
      const { isKept, put, world } = yield* watched
      put(true)
      assert.isTrue(isKept())
      world.complete = false
      yield* eventually("the denial is not given", Effect.sync(() => !isKept()))
      world.complete = true
      yield* eventually("it is given again", Effect.sync(isKept))
    })))

  it.scoped("begins again with each block of a window, and when the whole chain takes over", () =>
    Effect.gen(function*() {
      const { isKept, put, switchWindow, world } = yield* watched
      switchWindow()
      assert.isFalse(isKept())
      put()
      // The height does not matter in a window.
      world.height = 99
      assert.isTrue(isKept())
      world.high = headerId(2)
      assert.isFalse(isKept())
      put()
      switchWindow()
      assert.isFalse(isKept())
    }))
})
