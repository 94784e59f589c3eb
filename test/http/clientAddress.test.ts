import { assert, describe, it } from "@effect/vitest"
import { clientAddress, clientBehindProxy } from "../../src/http/clientAddress.ts"

describe("clientAddress", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1", true, "127.0.0.1:5"],
    ["127.8.9.10", "127.8.9.10", true, "127.8.9.10:5"],
    ["::ffff:127.0.0.1", "127.0.0.1", true, "127.0.0.1:5"],
    ["::1", "0:0:0:0::/64", true, "[::1]:5"],
    ["203.0.113.7", "203.0.113.7", false, "203.0.113.7:5"],
    ["::ffff:203.0.113.7", "203.0.113.7", false, "203.0.113.7:5"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", false, "[2001:db8:1:2:3:4:5:6]:5"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64", false, "[2001:db8:1:2::9]:5"],
    ["2001:db8::9", "2001:db8:0:0::/64", false, "[2001:db8::9]:5"],
    ["::9", "0:0:0:0::/64", false, "[::9]:5"],
    ["64:ff9b::203.0.113.7", "64:ff9b:0:0::/64", false, "[64:ff9b::203.0.113.7]:5"],
    ["fe80::1%eth0", "fe80:0:0:0::/64", false, "[fe80::1%eth0]:5"]
  ])("%s counts as %s", (address, key, loopback, text) => {
    const plain = address.replace("::ffff:", "")
    assert.deepStrictEqual(clientAddress(address, 5), { key, address: plain, loopback, text })
  })

  it("returns one key for one household, and two keys for two", () => {
    const key = (address: string): string => clientAddress(address, 1).key
    assert.strictEqual(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::1"))
    assert.notStrictEqual(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"))
  })
})

describe("a client behind a proxy", () => {
  it.each([
    ["127.0.0.1", undefined, "127.0.0.1"],
    ["127.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["::1", "198.51.100.9, 2001:db8::1", "2001:db8:0:0::/64"],
    ["127.0.0.1", "nonsense", "0.0.0.0"],
    ["203.0.113.8", "203.0.113.7", "203.0.113.8"]
  ])("connects from %s with X-Forwarded-For %s: %s", (remoteAddress, forwarded, key) => {
    const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded }
    assert.strictEqual(clientBehindProxy({ headers, socket: { remoteAddress, remotePort: 5 } }).key, key)
  })
})
