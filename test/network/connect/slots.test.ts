import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { ownUserAgent } from "../../../src/config/userAgent.ts"
import { extraBlockRelay, extraFullRelay, type ExtraPeer } from "../../../src/network/connect/choose.ts"
import { nextPause } from "../../../src/network/connect/net.ts"
import { nodeAddress } from "../../../src/network/connect/service.ts"
import { nextConnection, type SlotLimits, slotLimits, type SlotState } from "../../../src/network/connect/slots.ts"
import { peerId } from "../../../src/protocol/keys.ts"

const DEFAULTS = { maxPeers: 125, maxInbound: 125, maxOutbound: 25, listening: true, configured: 0 }

describe("slotLimits", () => {
  const cases: ReadonlyArray<readonly [string, Partial<typeof DEFAULTS>, Partial<SlotLimits>]> = [
    ["the reference node's division", {}, { fullRelay: 8, blockRelay: 2, feelers: 1, manual: 8, inbound: 114 }],
    ["maxInbound", { maxInbound: 10 }, { inbound: 10 }],
    ["no room for feelers", { maxOutbound: 10 }, { fullRelay: 8, blockRelay: 2, feelers: 0, inbound: 115 }],
    ["few peers, listening", { maxPeers: 3 }, { fullRelay: 2, blockRelay: 0, feelers: 0, inbound: 1 }],
    ["few peers, not listening", { maxPeers: 3, listening: false }, { fullRelay: 3, inbound: 0 }],
    ["one peer", { maxPeers: 1 }, { fullRelay: 1, inbound: 1 }],
    ["no outbound", { maxOutbound: 0 }, { fullRelay: 0, blockRelay: 0, feelers: 0, inbound: 125 }],
    ["none at all", { maxPeers: 0 }, { fullRelay: 0, blockRelay: 0, feelers: 0, manual: 0, inbound: 0, total: 0 }],
    ["configured peers", { configured: 2 }, { fullRelay: 0, blockRelay: 0, feelers: 0, manual: 25, inbound: 123 }],
    ["more configured than allowed", { configured: 9, maxPeers: 4 }, { manual: 3, inbound: 1 }]
  ]
  for (const [what, given, expected] of cases) {
    it(`the limits are divided for ${what}`, () => assert.deepInclude(slotLimits({ ...DEFAULTS, ...given }), expected))
  }

  it("the limits never exceed maxPeers if it is at least two", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.integer({ min: 2, max: 300 }),
      FastCheck.integer({ min: 0, max: 300 }),
      FastCheck.integer({ min: 0, max: 300 }),
      FastCheck.boolean(),
      (maxPeers, maxInbound, maxOutbound, listening) => {
        const limits = slotLimits({ maxPeers, maxInbound, maxOutbound, listening, configured: 0 })
        const outbound = limits.fullRelay + limits.blockRelay + limits.feelers
        assert.isAtMost(outbound + limits.inbound, maxPeers)
        assert.isAtMost(outbound, maxOutbound)
        assert.isAtMost(limits.inbound, maxInbound)
      }
    ))
  })
})

describe("nextConnection", () => {
  const limits = slotLimits(DEFAULTS)
  const state = (
    fullRelay: number,
    blockRelay: number,
    feelers: number,
    wants: Partial<SlotState> = {}
  ): SlotState => ({
    open: new Map([["outbound-full-relay", fullRelay], ["block-relay-only", blockRelay], ["feeler", feelers]]),
    extraPeer: false,
    extraBlockRelay: false,
    feeler: false,
    ...wants
  })
  const all = { extraPeer: true, extraBlockRelay: true, feeler: true }
  const cases: ReadonlyArray<readonly [SlotState, string | undefined]> = [
    [state(0, 0, 0), "outbound-full-relay"],
    [state(7, 2, 0, all), "outbound-full-relay"],
    [state(8, 1, 0, all), "block-relay-only"],
    [state(8, 2, 0), undefined],
    [state(8, 2, 0, { feeler: true }), "feeler"],
    [state(8, 2, 0, { feeler: true, extraBlockRelay: true }), "block-relay-only"],
    [state(8, 2, 0, all), "outbound-full-relay"],
    [state(9, 2, 0, all), undefined],
    [state(8, 3, 0, all), undefined],
    [state(8, 2, 1, all), undefined]
  ]
  for (const [given, expected] of cases) {
    it(`${JSON.stringify({ ...given, open: [...given.open.values()] })} → ${expected}`, () =>
      assert.strictEqual(nextConnection(limits, given), expected))
  }
})

describe("extra peers", () => {
  const peer = (id: number, last: number, changes: Partial<ExtraPeer> = {}): ExtraPeer => ({
    id: peerId(id),
    lastAnnouncement: 0,
    lastBlock: last,
    network: "ipv4",
    connectedAt: 0,
    busy: false,
    ...changes
  })

  /** A full-relay peer with a block announcement; the blocks that it sent suggest the opposite order. */
  const announcer = (id: number, last: number, changes: Partial<ExtraPeer> = {}): ExtraPeer =>
    peer(id, 100 - last, { lastAnnouncement: last, ...changes })

  it("the full-relay peer with the oldest announcement is disconnected, the youngest among equals", () => {
    assert.strictEqual(
      extraFullRelay([announcer(1, 50), announcer(2, 40), announcer(3, 60)], { manual: [], limit: 2, now: 31 }),
      2
    )
    assert.strictEqual(
      extraFullRelay([announcer(1, 40), announcer(2, 40), announcer(3, 60)], { manual: [], limit: 2, now: 31 }),
      2
    )
    assert.isUndefined(extraFullRelay([announcer(1, 50), announcer(2, 40)], { manual: [], limit: 2, now: 31 }))
  })

  it("a new or busy peer is kept for now, and the only peer of a network always", () => {
    assert.isUndefined(extraFullRelay([announcer(1, 50), announcer(2, 40)], { manual: [], limit: 1, now: 30 }))
    assert.isUndefined(
      extraFullRelay([announcer(1, 50), announcer(2, 40, { busy: true })], { manual: [], limit: 1, now: 31 })
    )
    const onion = announcer(2, 0, { network: "torv3" })
    assert.strictEqual(
      extraFullRelay([announcer(1, 50), onion, announcer(3, 70)], { manual: [], limit: 2, now: 31 }),
      1
    )
    assert.isUndefined(extraFullRelay([announcer(1, 50), onion], { manual: [], limit: 1, now: 31 }))
    assert.strictEqual(extraFullRelay([announcer(1, 50), onion], { manual: ["torv3"], limit: 1, now: 31 }), 2)
  })

  it("the youngest block-relay peer is disconnected, or the one before if the youngest has sent a block since", () => {
    assert.strictEqual(extraBlockRelay([peer(1, 0), peer(2, 0), peer(3, 0)], { limit: 2, now: 31 }), 3)
    assert.strictEqual(extraBlockRelay([peer(1, 0), peer(2, 5), peer(3, 6)], { limit: 2, now: 31 }), 2)
    assert.strictEqual(extraBlockRelay([peer(1, 0), peer(2, 6), peer(3, 6)], { limit: 2, now: 31 }), 3)
    assert.isUndefined(extraBlockRelay([peer(1, 0), peer(2, 6)], { limit: 2, now: 31 }))
    assert.isUndefined(extraBlockRelay([peer(1, 0), peer(2, 0), peer(3, 0)], { limit: 2, now: 30 }))
  })
})

describe("nextPause", () => {
  const hello = {
    version: 1,
    commonVersion: 1,
    services: 0n,
    userAgent: "",
    startHeight: 0,
    relay: true,
    timeOffset: 0,
    wtxidRelay: false,
    addrV2: false,
    ourAddress: undefined
  }
  const outcome = (lasted: number, misbehaving = false, met = true) => ({
    disconnection: { reason: "", misbehaving },
    hello: met ? hello : undefined,
    lasted,
    self: false
  })

  it("the pause doubles up to a minute, and restarts after a good connection", () => {
    assert.strictEqual(nextPause(1_000, undefined), 2_000)
    assert.strictEqual(nextPause(32_000, undefined), 60_000)
    assert.strictEqual(nextPause(60_000, outcome(60_000)), 1_000)
    assert.strictEqual(nextPause(60_000, outcome(59_999)), 60_000)
    assert.strictEqual(nextPause(8_000, outcome(600_000, true)), 16_000)
    assert.strictEqual(nextPause(8_000, outcome(600_000, false, false)), 16_000)
  })
})

describe("nodeAddress", () => {
  const cases: ReadonlyArray<readonly [string, string | undefined, number]> = [
    ["192.0.2.1", "192.0.2.1", 8334],
    ["192.0.2.1:99", "192.0.2.1", 99],
    ["127.1", "127.0.0.1", 8334],
    ["127.1:99", "127.0.0.1", 99],
    ["10.258", "10.0.1.2", 8334],
    ["10.1.258", "10.1.1.2", 8334],
    ["0x7f.0.0.010", "127.0.0.8", 8334],
    ["2130706433:1", "127.0.0.1", 1],
    ["127.256.1", undefined, 0],
    ["127.16777216", undefined, 0],
    ["[::1]:99", "::1", 99],
    ["::1", "::1", 8334],
    ["node.example", "node.example", 8334],
    ["node.example:1", "node.example", 1],
    ["node.example:0", undefined, 0],
    ["1.2.3.4:0", undefined, 0],
    ["two words", undefined, 0],
    ["", undefined, 0]
  ]
  for (const [text, host, port] of cases) {
    it(`parses ${JSON.stringify(text)}`, () =>
      assert.deepStrictEqual(nodeAddress(text, 8334), host === undefined ? undefined : { host, port }))
  }
})

describe("ownUserAgent", () => {
  it("the user agent contains the operator's comment", () => {
    assert.match(ownUserAgent([]), /^\/svcd:[0-9.]+\/$/)
    assert.match(ownUserAgent(["here", "", "there"]), /^\/svcd:[0-9.]+\(here; there\)\/$/)
  })
})
