import { assert, describe, it } from "@effect/vitest"
import { WaitingPings } from "../../../src/network/sync/WaitingPings.ts"
import { type PeerId, peerId } from "../../../src/protocol/keys.ts"

describe("WaitingPings", () => {
  const [slow, other] = [peerId(1), peerId(2)]

  const fixture = (...passing: ReadonlyArray<PeerId>) => {
    const answered: Array<string> = []
    const blocks = new Set(passing)
    const pings = new WaitingPings({ isPassing: (peer) => blocks.has(peer) })
    const add = (name: string, peer: PeerId, now: number) =>
      pings.add({ peer, answer: () => void answered.push(name) }, now)
    return { add, answered, blocks, pings }
  }

  it("are answered when the blocks of their peer are through, those of other peers at once", () => {
    const { add, answered, blocks, pings } = fixture(slow)
    add("first", slow, 0)
    add("other", other, 0)
    assert.deepStrictEqual(answered, ["other"])
    pings.look(5)
    add("second", slow, 10)
    assert.deepStrictEqual(answered, ["other"])
    blocks.delete(slow)
    pings.look(11)
    assert.deepStrictEqual(answered, ["other", "first", "second"])
    pings.look(12)
    assert.lengthOf(answered, 3, "each once")
  })

  it("are answered after twenty seconds in any case", () => {
    const { add, answered, pings } = fixture(slow)
    add("first", slow, 1_000)
    add("second", slow, 2_000)
    pings.look(20_999)
    assert.deepStrictEqual(answered, [])
    pings.look(21_000)
    assert.deepStrictEqual(answered, ["first"])
    pings.look(22_000)
    assert.deepStrictEqual(answered, ["first", "second"])
  })
})
