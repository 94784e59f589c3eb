import { assert, describe, it } from "@effect/vitest"
import type { ConnectionType } from "../../../src/network/Peer.ts"
import { Handshake, type HandshakeOptions, type HandshakeStep } from "../../../src/network/peer/Handshake.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { versionMessage } from "../../support/network.ts"

const NOW = 1_700_000_000

const side = (changes: Partial<HandshakeOptions> = {}) =>
  new Handshake({
    type: "inbound",
    address: { network: "ipv4", bytes: Uint8Array.of(8, 8, 4, 4) },
    port: 8334,
    expectedServices: 9n,
    services: 0x409n,
    userAgent: "/us:1/",
    startHeight: 5,
    nonce: 77n,
    isOwnNonce: (nonce) => nonce === 77n,
    nearTip: false,
    ...changes
  })

const types = (messages: ReadonlyArray<Message>) => messages.map(({ type }) => type)

/** The result of each message, up to the end. */
const play = (handshake: Handshake, ...messages: ReadonlyArray<Message>): HandshakeStep =>
  messages.reduce<HandshakeStep>((_, message) => handshake.received(message, NOW), { send: [] })

describe("Handshake", () => {
  const versions: ReadonlyArray<readonly [number, ReadonlyArray<string> | undefined]> = [
    [-1, undefined],
    [31_799, undefined],
    [31_800, ["version", "verack"]],
    [70_015, ["version", "verack"]],
    [70_016, ["version", "sendaddrv2", "verack"]],
    [110_015, ["version", "sendaddrv2", "verack"]],
    [110_016, ["version", "wtxidrelay", "sendaddrv2", "verack"]],
    [110_017, ["version", "wtxidrelay", "sendaddrv2", "verack"]]
  ]
  for (const [version, answer] of versions) {
    it(`${answer === undefined ? "a peer is refused" : `a peer gets ${answer.join(", ")}`} with protocol version ${version}`, () => {
      const step = side().received(versionMessage({ version }), NOW)
      assert.strictEqual(step.disconnection !== undefined, answer === undefined)
      assert.deepStrictEqual(types(step.send), answer ?? [])
    })
  }

  it("the outbound side sends version first, and answers without another version", () => {
    const handshake = side({ type: "manual" })
    const [first] = handshake.open(NOW)
    if (first?.type !== "version") return assert.fail("no version")
    assert.deepStrictEqual([first.version, first.services, first.time], [110_016, 0x409n, NOW])
    assert.deepStrictEqual([first.receiver.services, first.receiver.port], [9n, 8334])
    assert.strictEqual(first.sender?.nonce, 77n)
    assert.deepStrictEqual([first.userAgent, first.startHeight, first.relay], ["/us:1/", 5, true])
    assert.deepStrictEqual(types(handshake.received(versionMessage(), NOW).send), [
      "wtxidrelay",
      "sendaddrv2",
      "verack"
    ])
    assert.deepStrictEqual(side().open(NOW), [])
  })

  it("block-relay-only and feeler connections want no transactions, and version omits unroutable addresses", () => {
    for (const type of ["block-relay-only", "feeler"] as const) {
      const [first] = side({ type, address: { network: "ipv4", bytes: Uint8Array.of(10, 0, 0, 1) } }).open(NOW)
      if (first?.type !== "version") return assert.fail("no version")
      assert.isFalse(first.relay)
      assert.deepStrictEqual(first.receiver.address.bytes, new Uint8Array(16))
      assert.strictEqual(first.receiver.port, 0)
    }
  })

  it("for a feeler the peer's version completes the handshake", () => {
    const feeler = side({ type: "feeler" })
    feeler.open(NOW)
    assert.isDefined(feeler.received(versionMessage(), NOW).hello)
    const other = side({ type: "manual" })
    other.open(NOW)
    assert.isUndefined(other.received(versionMessage(), NOW).hello)
  })

  it("a node that takes no transactions says so", () => {
    const [first] = side({ type: "manual", blocksOnly: true }).open(NOW)
    assert.isFalse(first?.type === "version" && first.relay)
  })

  it("a second version, and everything before the first, is ignored", () => {
    const handshake = side()
    assert.deepStrictEqual(
      play(handshake, { type: "verack" }, { type: "wtxidrelay" }, { type: "getaddr" }),
      { send: [] }
    )
    handshake.received(versionMessage({ startHeight: 3 }), NOW)
    assert.deepStrictEqual(play(handshake, versionMessage({ startHeight: 4 })), { send: [] })
    const { hello } = handshake.received({ type: "verack" }, NOW)
    assert.strictEqual(hello?.startHeight, 3)
    assert.isFalse(hello?.wtxidRelay)
  })

  it("the handshake returns the negotiated features", () => {
    const version = versionMessage({
      version: 120_000,
      time: NOW + 90,
      services: 9n,
      userAgent: "/a<b>\u00ff:1/",
      relay: false,
      receiver: { services: 0n, address: { network: "ipv4", bytes: Uint8Array.of(9, 9, 9, 9) }, port: 4 }
    })
    const { hello } = play(side(), version, { type: "wtxidrelay" }, { type: "sendaddrv2" }, { type: "verack" })
    assert.deepStrictEqual(hello, {
      version: 120_000,
      commonVersion: 110_016,
      services: 9n,
      userAgent: "/ab:1/",
      startHeight: 0,
      relay: false,
      timeOffset: 90,
      wtxidRelay: true,
      addrV2: true,
      ourAddress: { address: { network: "ipv4", bytes: Uint8Array.of(9, 9, 9, 9) }, port: 4 }
    })
  })

  it("missing fields of an old peer have default values, and its wtxidrelay has no effect", () => {
    const version = versionMessage({
      version: 70_001,
      sender: undefined,
      userAgent: undefined,
      startHeight: undefined,
      relay: undefined
    })
    const { hello } = play(side(), version, { type: "wtxidrelay" }, { type: "verack" })
    assert.deepStrictEqual(
      [hello?.userAgent, hello?.startHeight, hello?.relay, hello?.wtxidRelay],
      ["", 0, true, false]
    )
  })

  it("a self connection is detected by the nonce, on the inbound side only", () => {
    const own = versionMessage()
    const itself = { ...own, sender: own.sender && { ...own.sender, nonce: 77n } }
    assert.include(side().received(itself, NOW).disconnection?.reason ?? "", "self connection")
    assert.isUndefined(side({ type: "manual" }).received(itself, NOW).disconnection)
  })

  const needs: ReadonlyArray<readonly [ConnectionType, bigint, boolean, boolean]> = [
    ["outbound-full-relay", 0x9n, false, true],
    ["outbound-full-relay", 0x1n, true, false],
    ["outbound-full-relay", 0x408n, false, false],
    ["outbound-full-relay", 0x408n, true, true],
    ["outbound-full-relay", 0x400n, true, false],
    ["block-relay-only", 0x8n, true, false],
    ["addr-fetch", 0n, true, false],
    ["manual", 0n, false, true],
    ["feeler", 0n, false, true],
    ["inbound", 0n, false, true]
  ]
  for (const [type, services, nearTip, fine] of needs) {
    it(`the handshake ${fine ? "accepts" : "refuses"} services ${services.toString(16)} on ${type}, ${nearTip ? "" : "not "}near the tip`, () => {
      const { disconnection } = side({ type, nearTip }).received(versionMessage({ services }), NOW)
      assert.strictEqual(disconnection === undefined, fine)
    })
  }
})
