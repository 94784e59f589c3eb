import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { FairPlaces, type PlaceShare } from "../../src/base/FairPlaces.ts"

/** Enters callers and notes caller begins. */
const entering = (places: FairPlaces) => {
  const begun: Array<string> = []
  const leave = new Map<string, () => void>()
  const enter = (caller: string, share: PlaceShare): void => {
    leave.set(caller, places.enter(share, () => void begun.push(caller)))
  }
  return { begun, enter, leave: (caller: string) => leave.get(caller)?.() }
}

describe("FairPlaces", () => {
  it("gives free places at once, up to the limit", () => {
    const places = new FairPlaces({ total: 2, each: 2 })
    const { begun, enter, leave } = entering(places)
    for (const caller of ["one", "two", "three"]) enter(caller, ["user", caller])
    expect(begun).toEqual(["one", "two"])
    expect([places.held, places.waiting]).toEqual([2, 1])
    leave("one")
    expect(begun).toEqual(["one", "two", "three"])
    leave("one")
    expect([places.held, places.waiting]).toEqual([2, 0])
  })

  it("serves users in turn, then the addresses and connections of each", () => {
    const places = new FairPlaces({ total: 1, each: 1 })
    const { begun, enter, leave } = entering(places)
    enter("first", ["many", "a", "1"])
    for (const caller of ["many-a1", "many-a1-again"]) enter(caller, ["many", "a", "1"])
    enter("many-a2", ["many", "a", "2"])
    enter("many-b1", ["many", "b", "1"])
    enter("few", ["few", "a", "1"])
    for (let served = 0; served < 6; served++) leave(begun.at(-1) ?? "")
    expect(begun).toEqual(["first", "many-a1", "few", "many-b1", "many-a2", "many-a1-again"])
    expect([places.held, places.waiting]).toEqual([0, 0])
  })

  it("prefers the user that holds fewer places, and leaves one place for others", () => {
    const places = new FairPlaces({ total: 3, each: 2 })
    const { begun, enter, leave } = entering(places)
    for (let at = 0; at < 5; at++) enter(`many${at}`, ["many"])
    expect(begun).toEqual(["many0", "many1"])
    enter("few", ["few"])
    expect(begun).toEqual(["many0", "many1", "few"])
    enter("few again", ["few"])
    leave("many0")
    // One place each: the user whose turn was longest ago.
    expect(begun.at(-1)).toBe("many2")
    leave("many1")
    expect(begun.at(-1)).toBe("few again")
  })

  it("forgets a caller that leaves the line", () => {
    const places = new FairPlaces({ total: 1, each: 1 })
    const { begun, enter, leave } = entering(places)
    for (const caller of ["one", "two", "three"]) enter(caller, [caller])
    leave("two")
    leave("one")
    expect(begun).toEqual(["one", "three"])
  })

  it("frees the place of an interrupted effect, and the line of one that waits", () =>
    Effect.gen(function*() {
      const places = new FairPlaces({ total: 1, each: 1 })
      const run = Effect.forkDaemon(places.within(["user"])(Effect.never))
      const holds = yield* run
      const waits = yield* run
      yield* Effect.yieldNow()
      expect([places.held, places.waiting]).toEqual([1, 1])
      yield* Fiber.interrupt(waits)
      expect([places.held, places.waiting]).toEqual([1, 0])
      yield* Fiber.interrupt(holds)
      expect([places.held, places.waiting]).toEqual([0, 0])
      expect(yield* places.within(["other"])(Effect.succeed(1))).toBe(1)
      expect(places.held).toBe(0)
    }).pipe(Effect.runPromise))
})
