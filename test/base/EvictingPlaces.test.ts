import { describe, expect, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { EvictingPlaces } from "../../src/base/EvictingPlaces.ts"
import type { PlaceShare } from "../../src/base/FairPlaces.ts"

const entering = (total: number) => {
  const evicted: Array<string> = []
  const places = new EvictingPlaces<string>(total, (holder) => void evicted.push(holder))
  return { evicted, places }
}

describe("EvictingPlaces", () => {
  it("evicts no holder within the limit", () => {
    const { evicted, places } = entering(2)
    places.enter("a", ["user"])
    places.enter("b", ["user"])
    expect([evicted, [...places]]).toEqual([[], ["a", "b"]])
  })

  it("evicts the least recently used holder of the user and the address with the most", () => {
    const { evicted, places } = entering(6)
    places.enter("few", ["few", "x"])
    places.enter("many-x1", ["many", "x"])
    for (const holder of ["many-y1", "many-y2", "many-y3"]) places.enter(holder, ["many", "y"])
    places.enter("other", ["other", "x"])
    places.use("many-y1", ["many", "y"])
    places.enter("new", ["new", "x"])
    expect(evicted).toEqual(["many-y2"])
    places.enter("few again", ["few", "y"])
    expect(evicted).toEqual(["many-y2", "many-y3"])
  })

  it("evicts a holder of the newcomer's own user when users are equal", () => {
    const { evicted, places } = entering(4)
    for (const user of ["a", "b"]) for (const at of [1, 2]) places.enter(`${user}${at}`, [user, "x"])
    places.enter("a3", ["a", "x"])
    places.enter("b3", ["b", "x"])
    expect(evicted).toEqual(["a1", "b1"])
  })

  it("moves a holder whose share changes, and forgets one that leaves", () => {
    const { evicted, places } = entering(2)
    places.enter("a", ["anyone"])
    places.enter("b", ["anyone"])
    places.use("b", ["user"])
    places.leave("a")
    places.leave("a")
    places.use("a", ["anyone"])
    places.enter("c", ["anyone"])
    expect([evicted, [...places]]).toEqual([[], ["b", "c"]])
  })

  it("keeps a user's holders as long as another user has more, whatever happens", () => {
    const step = fc.record({ user: fc.integer({ min: 0, max: 3 }), address: fc.integer({ min: 0, max: 2 }) })
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (steps, total) => {
      const userOf = (holder: string): string => holder.split(" ")[0] ?? ""
      const held = (user: string): number => [...places].filter((each) => userOf(each) === user).length
      let newcomer = ""
      const places = new EvictingPlaces<string>(total, (holder) => {
        expect(holder).not.toBe(newcomer)
        const most = Math.max(...["0", "1", "2", "3"].map(held))
        expect(held(userOf(holder)) + 1).toBeGreaterThanOrEqual(most)
      })
      for (const [at, { address, user }] of steps.entries()) {
        newcomer = `${user} ${at}`
        const share: PlaceShare = [String(user), String(address)]
        places.enter(newcomer, share)
        expect(places.size).toBeLessThanOrEqual(total)
        expect([...places]).toContain(newcomer)
      }
    }))
  })
})
