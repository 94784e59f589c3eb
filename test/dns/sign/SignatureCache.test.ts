import { assert, describe, it } from "@effect/vitest"
import { SignatureCache } from "../../../src/dns/sign/SignatureCache.ts"
import type { RrsigRecord } from "../../../src/dns/sign/signSet.ts"
import { wireName } from "../../support/dnsRecords.ts"

const signature: RrsigRecord = {
  type: "RRSIG",
  covered: 1,
  algorithm: 13,
  labels: 2,
  originalTtl: 600,
  expiration: 1_000,
  inception: 0,
  keyTag: 1,
  signer: wireName("bit"),
  signature: new Uint8Array(64)
}

const kept = (renewAt: number) => ({ signature, renewAt })

describe("kept signatures", () => {
  it("end when they have to be made again, and before they begin", () => {
    const cache = new SignatureCache(10_000)
    cache.keep("a", kept(500))
    assert.strictEqual(cache.get("a", 499), signature)
    assert.isUndefined(cache.get("a", 500))
    assert.isUndefined(cache.get("a", -1))
  })

  it("stay while they are asked for, and go when others fill two generations", () => {
    const cache = new SignatureCache(10_000)
    cache.keep("asked", kept(500))
    cache.keep("forgotten", kept(500))
    for (let i = 0; i < 100; i++) {
      assert.strictEqual(cache.get("asked", 1), signature, `${i}`)
      cache.keep(`other ${i}`, kept(500))
    }
    assert.isUndefined(cache.get("forgotten", 1))
  })

  it("count once, however often they are made again", () => {
    const cache = new SignatureCache(10_000)
    cache.keep("old", kept(5_000))
    for (let i = 0; i < 100; i++) cache.keep("renewed", kept(i))
    assert.strictEqual(cache.get("old", 1), signature)
  })
})
