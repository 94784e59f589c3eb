import { assert, describe, it } from "@effect/vitest"
import { makeCookies } from "../../src/dns/cookies.ts"

const MINE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const [HOUR, DAY, START] = [3_600, 86_400, 1_700_000_000]

const counted = () => {
  let secrets = 0
  return makeCookies(() => new Uint8Array(16).fill(++secrets))
}

describe("cookies", () => {
  it("begin with the client's part, the version and the time", () => {
    const secret = Buffer.from("e5e973e5a6b2a43f48e7dc849e37bfcf", "hex")
    const cookies = makeCookies(() => secret)
    const client = Buffer.from("2464c4abcf10c957", "hex")
    const made = cookies.fresh(client, { address: "198.51.100.100", now: 1_559_731_985 })
    assert.strictEqual(made.length, 24)
    assert.strictEqual(Buffer.from(made).toString("hex", 0, 16), "2464c4abcf10c957010000005cf79f11")
  })

  it("are valid for their address for an hour, and with clocks that differ by five minutes", () => {
    const { fresh, isValid } = counted()
    const cookie = fresh(MINE, { address: "192.0.2.1", now: START })
    const at = (now: number, address = "192.0.2.1") => isValid(cookie, { address, now })
    assert.deepStrictEqual([-301, -300, 0, HOUR, HOUR + 1].map((late) => at(START + late)), [
      false,
      true,
      true,
      true,
      false
    ])
    assert.isFalse(at(START, "192.0.2.2"))
    for (let i = 0; i < cookie.length; i++) {
      const changed = Uint8Array.from(cookie, (byte, place) => place === i ? byte ^ 1 : byte)
      assert.isFalse(isValid(changed, { address: "192.0.2.1", now: START }), `byte ${i}`)
    }
    assert.isFalse(isValid(MINE, { address: "192.0.2.1", now: START }))
  })

  it("outlive one change of the secret, which is drawn once a day", () => {
    const { fresh, isValid } = counted()
    const facts = (now: number) => ({ address: "192.0.2.1", now })
    const first = fresh(MINE, facts(START))
    const last = fresh(MINE, facts(START + DAY - 1))
    assert.deepStrictEqual(last.subarray(0, 12), first.subarray(0, 12))
    const next = fresh(MINE, facts(START + DAY))
    assert.isTrue(isValid(last, facts(START + DAY)))
    assert.isTrue(isValid(next, facts(START + DAY)))
    assert.notDeepEqual(fresh(MINE, facts(START + DAY - 1)), last)
    fresh(MINE, facts(START + 2 * DAY))
    assert.isFalse(isValid(last, facts(START + DAY)))
  })
})
