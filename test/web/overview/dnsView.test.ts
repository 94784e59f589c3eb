import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Dns } from "../../../src/dns/Dns.ts"
import { dnsAnswers } from "../../../src/metrics/dnsMetrics.ts"
import { type DnsNow, dnsView, makeDnsNow } from "../../../src/web/overview/dnsView.ts"

const PLACE = { host: "127.0.0.1", port: 5391 }

const FULL: DnsNow = {
  addresses: { dns: [PLACE], tls: [{ ...PLACE, port: 853 }], https: [], http: [] },
  perSecond: 1234.4,
  answers: [["NOERROR", 5_000], ["NXDOMAIN", 2]],
  serial: 812_345,
  keyTags: [4711],
  secondaries: [{ address: "192.0.2.7", serial: 812_344, at: 900_000, by: "ixfr" }]
}

describe("the DNS section of the overview", () => {
  it("shows addresses, questions, answers, serial, key and secondaries", () => {
    const text = dnsView(FULL, 1_000).text
    for (
      const part of [
        "127.0.0.1:5391, TLS 127.0.0.1:853",
        "1,234 a second",
        "5,000 NOERROR, 2 NXDOMAIN",
        "812,345",
        "4711"
      ]
    ) {
      assert.include(text, part)
    }
    assert.include(text, "192.0.2.7, serial 812,344")
  })

  it("leaves out what there is not", () => {
    const text = dnsView({ ...FULL, perSecond: undefined, answers: [], keyTags: [], secondaries: [] }, 1_000).text
    for (const part of ["Questions", "Answers", "Key tags", "Secondaries"]) assert.notInclude(text, part)
  })

  it.effect("does not exist for a node without DNS", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* yield* makeDnsNow)
      dnsAnswers.of("REFUSED").increase()
      const { addresses, serial } = FULL
      const service = { addresses, serial: () => serial, keyTags: () => [], secondaries: () => [] }
      const now = yield* yield* Effect.provideService(makeDnsNow, Dns, service)
      assert.strictEqual(now?.serial, serial)
      assert.isTrue(now?.answers.some(([rcode]) => rcode === "REFUSED"))
    }))
})
