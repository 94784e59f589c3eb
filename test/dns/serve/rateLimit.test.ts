import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { dnsClient, networkOf } from "../../../src/dns/serve/client.ts"
import { RateLimit, spendCredit, truncatedAnswer } from "../../../src/dns/serve/rateLimit.ts"
import { answerOf, questionFor } from "./questions.ts"

const gaps = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 200 })

/** The verdicts of one bucket, after each gap in milliseconds. */
const run = (rate: number, waits: ReadonlyArray<number>) => {
  let now = 1_000
  let bucket: ReturnType<typeof spendCredit>["bucket"] | undefined
  return waits.map((wait) => {
    now += wait
    const step = spendCredit(bucket, { now, rate })
    bucket = step.bucket
    return { now, verdict: step.verdict }
  })
}

describe("the rate limit", () => {
  it("never lets more through than a second's worth and the rate", () =>
    fc.assert(fc.property(gaps, fc.integer({ min: 1, max: 50 }), (waits, rate) => {
      const sent = run(rate, waits).filter(({ verdict }) => verdict === "send").map(({ now }) => now)
      sent.forEach((from, first) => {
        const last = sent.at(-1) ?? from
        assert.isAtMost(sent.length - first, rate + ((last - from) * rate) / 1000 + 1e-6)
      })
    })))

  it("lets everything through that stays below the rate", () =>
    fc.assert(fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 300 }), (rate, count) => {
      const waits = Array.from({ length: count }, () => Math.ceil(1000 / rate))
      assert.isTrue(run(rate, waits).every(({ verdict }) => verdict === "send"))
    })))

  it("lets every second refused answer slip", () => {
    const verdicts = run(3, Array.from({ length: 9 }, () => 0)).map(({ verdict }) => verdict)
    assert.deepStrictEqual(verdicts, ["send", "send", "send", "drop", "slip", "drop", "slip", "drop", "slip"])
  })

  it("gives nothing for a clock that goes back", () => {
    const { bucket } = spendCredit({ credit: 0, at: 5_000, refused: 0 }, { now: 1_000, rate: 10 })
    assert.strictEqual(bucket.credit, 0)
  })

  const count = (answers: ReadonlyArray<Uint8Array>, networks: ReadonlyArray<string>) => {
    const limit = new RateLimit(5)
    return answers.flatMap((answer) => networks.map((network) => limit.verdict(answer, network, 1_000)))
      .filter((verdict) => verdict === "send").length
  }

  it("counts by answer and network, whatever the letters", () => {
    const same = Array.from({ length: 20 }, (_, i) => answerOf(questionFor(i % 2 === 0 ? "a.bit" : "A.biT", { id: i })))
    assert.strictEqual(count(same, ["192.0.2"]), 5)
    assert.strictEqual(count(same, ["192.0.2", "192.0.3"]), 10)
    const others = Array.from({ length: 20 }, (_, i) => answerOf(questionFor(`n${i}.bit`)))
    assert.strictEqual(count(others, ["192.0.2"]), 20)
  })

  it("counts answers without records together: their questions are random", () => {
    const none = Array.from({ length: 20 }, (_, i) => answerOf(questionFor(`n${i}.bit`), { rcode: 3 }))
    assert.strictEqual(count(none, ["192.0.2"]), 5)
  })

  it("cuts an answer down to its question with TC", () => {
    const question = questionFor("cut.bit", { id: 7 })
    const cut = truncatedAnswer(answerOf(question))
    assert.strictEqual(cut.length, question.length)
    assert.deepStrictEqual([...cut.subarray(0, 12)], [0, 7, 0x84 | 2, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert.deepStrictEqual(cut.subarray(12), question.subarray(12))
    assert.lengthOf(truncatedAnswer(new Uint8Array(12)), 12)
  })
})

describe("the network of a client", () => {
  it.each([
    ["192.0.2.77", "192.0.2"],
    ["::ffff:192.0.2.77", "192.0.2"],
    ["2001:db8:1:2ff:3::1", "2001:db8:1:200"],
    ["2001:db8:1:200::", "2001:db8:1:200"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"]
  ])(
    "%s is %s",
    (address, network) => assert.strictEqual(networkOf(dnsClient("udp", { address, port: 1 }).address), network)
  )
})
