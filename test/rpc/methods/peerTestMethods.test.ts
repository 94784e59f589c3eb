import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AddressBook } from "../../../src/network/addresses/AddressBook.ts"
import { parseEndpoint } from "../../../src/network/wire/addressText.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { peerTestMethods } from "../../../src/rpc/methods/peerTestMethods.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { callsOf } from "../../support/methodNode.ts"
import { peerManager } from "../../support/peers.ts"

const [, block = assert.fail()] = fixtureBlocks("regtest-names/blocks.dat")
const [orphan = assert.fail()] = block.transactions

const callsWith = (said: Parameters<typeof peerManager>[0]) => callsOf(methodTable(peerTestMethods(peerManager(said))))

describe("methods for tests of the network", () => {
  it.effect("getorphantxs lists orphans in three levels of detail", () =>
    Effect.gen(function*() {
      const orphans = Effect.succeed([{ transaction: orphan, from: [peerId(3), peerId(5)] }])
      const { call, refusal } = callsWith({ orphans })
      const txid = displayHash(orphan.txid)
      assert.deepStrictEqual((yield* call("getorphantxs")).value, [txid])
      const details = {
        txid,
        wtxid: displayHash(orphan.wtxid),
        bytes: orphan.size,
        vsize: orphan.virtualSize,
        weight: orphan.weight,
        from: [3, 5]
      }
      assert.deepStrictEqual((yield* call("getorphantxs", 1)).value, [details])
      assert.deepStrictEqual((yield* call("getorphantxs", 2)).value, [{ ...details, hex: toHex(orphan.bytes) }])
      assert.deepStrictEqual(yield* refusal("getorphantxs", 3), { code: -8, message: "Invalid verbosity value 3" })
      assert.deepStrictEqual(yield* refusal("getorphantxs", true), {
        code: -3,
        message: "Verbosity was boolean but only integer allowed"
      })
    }))

  it.effect("getrawaddrman lists the places of both tables", () =>
    Effect.gen(function*() {
      const book = new AddressBook({ random: Math.random })
      const at = (text: string) => parseEndpoint(text, 1) ?? assert.fail(text)
      const now = 1_700_000_000
      book.add([{ ...at("1.2.3.4:8334"), services: 9n, time: now }], at("5.6.7.8").address, { now })
      book.add([{ ...at("9.9.9.9:8334"), services: 1n, time: now }], { seed: "x" }, { now })
      book.good(at("9.9.9.9").address, 8334, now)
      const { call } = callsWith({ bookPlaces: Effect.sync(() => [...book.places()]) })
      const { value } = yield* call("getrawaddrman")
      const rows = (table: unknown) => Object.values(typeof table === "object" && table !== null ? table : {})
      const { new: fresh, tried } = Object.assign({ new: {}, tried: {} }, value)
      const row = (address: string, services: number, source: string, network: string) => ({
        address,
        port: 8334,
        services,
        time: now,
        network: "ipv4",
        source,
        source_network: network
      })
      assert.deepStrictEqual(rows(fresh), [row("1.2.3.4", 9, "ipv4:0506", "ipv4")])
      assert.deepStrictEqual(rows(tried), [row("9.9.9.9", 1, "seed:x", "internal")])
      for (const key of [...Object.keys(fresh), ...Object.keys(tried)]) assert.match(key, /^\d+\/\d+$/)
    }))

  it.effect("addpeeraddress reports the table that did not take the address", () =>
    Effect.gen(function*() {
      const learnt: Array<string> = []
      const { call, refusal } = callsWith({
        learn: ({ port }, table) =>
          Effect.sync(() => {
            learnt.push(`${port} ${table}`)
            return port === 1 ? "added" : port === 2 ? "not new" : "not tried"
          })
      })
      assert.deepStrictEqual((yield* call("addpeeraddress", "1.2.3.4", 1)).value, { success: true })
      assert.deepStrictEqual((yield* call("addpeeraddress", "1.2.3.4", 2)).value, {
        error: "failed-adding-to-new",
        success: false
      })
      assert.deepStrictEqual((yield* call("addpeeraddress", "1.2.3.4", 3, true)).value, {
        error: "failed-adding-to-tried",
        success: false
      })
      assert.deepStrictEqual(learnt, ["1 new", "2 new", "3 tried"])
      assert.deepStrictEqual(yield* refusal("addpeeraddress", "", 8334), { code: -30, message: "Invalid IP address" })
      for (const port of [-1, 65_536]) {
        assert.deepStrictEqual(yield* refusal("addpeeraddress", "1.2.3.4", port), {
          code: -1,
          message: "JSON integer out of range"
        })
      }
    }))

  it.effect("sendmsgtopeer sends any bytes to a peer that is there", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const { call, refusal } = callsWith({
        sendRaw: (id, { command, payload }) =>
          Effect.sync(() => {
            sent.push(`${command} ${toHex(payload)}`)
            return id === 0
          })
      })
      assert.deepStrictEqual((yield* call("sendmsgtopeer", 0, "addr", "ffffff")).value, {})
      assert.deepStrictEqual(sent, ["addr ffffff"])
      const message = (...params: ReadonlyArray<unknown>) =>
        Effect.map(refusal("sendmsgtopeer", ...params), ({ code, message }) => `${code} ${message}`)
      assert.strictEqual(yield* message(1, "addr", ""), "-1 Error: Could not send message to peer")
      assert.strictEqual(yield* message(0, "a".repeat(13), ""), "-8 Error: msg_type too long, max length is 12")
      assert.strictEqual(yield* message(0, "addr", "f"), "-8 Error parsing input for msg")
    }))
})
