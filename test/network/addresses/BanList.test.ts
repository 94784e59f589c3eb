import { assert, describe, it } from "@effect/vitest"
import { BanList } from "../../../src/network/addresses/BanList.ts"
import { formatSubnet, parseSubnet } from "../../../src/network/addresses/subnet.ts"
import { address, NOW, numbered } from "./support.ts"

const ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"
const I2P = "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p"

const newList = (): BanList => new BanList({ key: new Uint8Array(16).fill(3) })

describe("the text form of a range", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1/32"],
    ["127.0.0.1/32", "127.0.0.1/32"],
    ["127.0.0.1/8", "127.0.0.0/8"],
    ["127.0.0.1/08", "127.0.0.0/8"],
    ["[127.0.0.1]", "127.0.0.1/32"],
    ["127.0.0.1/0", "0.0.0.0/0"],
    ["192.168.77.5/20", "192.168.64.0/20"],
    ["127.0.0.0/255.255.128.0", "127.0.0.0/17"],
    ["127.0.0.0/255.255.255.255", "127.0.0.0/32"],
    ["127.0.0.0/0.0.0.0", "0.0.0.0/0"],
    ["::1", "::1/128"],
    ["[::1]", "::1/128"],
    ["2001:DB8:0:0::FFFF/33", "2001:db8::/33"],
    ["2001:db8:ffff::/ffff:ffff:8000::", "2001:db8:8000::/33"],
    ["::ffff:1.2.3.4", "1.2.3.4/32"],
    ["::ffff:1.2.3.4/24", "1.2.3.0/24"],
    [ONION.toUpperCase(), ONION],
    [I2P, I2P]
  ])("%s is parsed and formatted as %s", (text, shown) => {
    const subnet = parseSubnet(text)
    assert.isDefined(subnet)
    assert.strictEqual(formatSubnet(subnet), shown)
    assert.deepStrictEqual(parseSubnet(shown), subnet)
  })

  it.each([
    "",
    "/24",
    "1.2.3",
    "1.2.3.4/",
    "1.2.3.4/33",
    "1.2.3.4/-1",
    "1.2.3.4/+8",
    "1.2.3.4/8x",
    "1.2.3.4/255.0.255.0",
    "1.2.3.4/255.255.0.1",
    "1.2.3.4/ffff::",
    "1.2.3.4/8/8",
    "[1.2.3.4",
    "1.2.3.4/256",
    "::1/129",
    "1:2:3/64",
    "::/255.255.0.0",
    `${ONION}/32`,
    `${I2P}/255.255.255.255`,
    "seed.example.org",
    "127.0.0.1:8334"
  ])("%j is not a range", (text) => {
    assert.isUndefined(parseSubnet(text))
    assert.strictEqual(newList().ban(text, { until: NOW + 1, now: NOW }), "invalid")
    assert.strictEqual(newList().unban(text), "invalid")
  })
})

describe("bans", () => {
  it("bans are active until their time, and are then removed", () => {
    const list = newList()
    assert.strictEqual(list.ban("90.1.0.0/16", { until: NOW + 100, now: NOW }), "banned")
    assert.isTrue(list.isBanned(address("90.1.2.3"), NOW + 99))
    assert.isFalse(list.isBanned(address("90.1.2.3"), NOW + 100))
    assert.deepStrictEqual(list.list(NOW + 99), [{ subnet: "90.1.0.0/16", created: NOW, until: NOW + 100 }])
    assert.deepStrictEqual(list.list(NOW + 100), [])
    assert.strictEqual(list.unban("90.1.0.0/16"), "unknown")
  })

  it.each([
    ["90.1.0.0/16", "90.1.255.255", true],
    ["90.1.0.0/16", "90.2.0.0", false],
    ["90.1.0.0/17", "90.1.127.255", true],
    ["90.1.0.0/17", "90.1.128.0", false],
    ["90.1.2.3", "90.1.2.3", true],
    ["90.1.2.3", "90.1.2.2", false],
    ["0.0.0.0/0", "1.2.3.4", true],
    ["0.0.0.0/0", "0.0.0.0", false],
    ["::/0", "1.2.3.4", false],
    ["2a02::/16", "2a02:ffff::1", true],
    ["2a02::/16", "2a03::1", false],
    [ONION, ONION, true],
    [ONION, "90.1.2.3", false]
  ])("a ban of %s covers %s: %s", (subnet, text, banned) => {
    const list = newList()
    list.ban(subnet, { until: NOW + 1, now: NOW })
    assert.strictEqual(list.isBanned(address(text), NOW), banned)
  })

  it("an address in a banned range counts as banned, while a range in it can be banned separately", () => {
    const list = newList()
    list.ban("90.1.0.0/16", { until: NOW + 100, now: NOW })
    assert.strictEqual(list.ban("90.1.0.0/16", { until: NOW + 200, now: NOW }), "already")
    assert.strictEqual(list.ban("90.1.2.3", { until: NOW + 200, now: NOW }), "already")
    assert.strictEqual(list.ban("90.1.2.3/32", { until: NOW + 200, now: NOW }), "banned")
    assert.strictEqual(list.ban("90.1.2.3/32", { until: NOW + 200, now: NOW }), "already")
    assert.strictEqual(list.ban("90.1.2.0/24", { until: NOW + 200, now: NOW }), "banned")
    assert.strictEqual(list.ban("90.1.0.0/16", { until: NOW + 300, now: NOW + 100 }), "banned")
  })

  it("bans are removed one by one, or all at once", () => {
    const list = newList()
    list.ban("90.1.2.3", { until: NOW + 100, now: NOW })
    list.ban("90.1.0.0/16", { until: NOW + 100, now: NOW })
    assert.strictEqual(list.unban("90.1.2.0/24"), "unknown")
    assert.strictEqual(list.unban("90.1.2.3/32"), "unbanned")
    assert.isTrue(list.isBanned(address("90.1.2.3"), NOW))
    assert.strictEqual(list.unban("90.1.0.0/255.255.0.0"), "unbanned")
    assert.isFalse(list.isBanned(address("90.1.2.3"), NOW))
    list.ban("90.1.2.3", { until: NOW + 100, now: NOW })
    list.discourage(address("91.1.2.3"))
    list.clear()
    assert.deepStrictEqual(list.list(NOW), [])
    assert.isTrue(list.isDiscouraged(address("91.1.2.3")))
  })

  it("bans are listed in the order of network, address and mask", () => {
    const list = newList()
    const order = ["1.0.0.0/8", "1.0.0.0/16", "9.9.9.9/32", "10.0.0.0/8", "::/0", "2a02::/16", ONION, I2P]
    for (const subnet of [...order].reverse()) list.ban(subnet, { until: NOW + 1, now: NOW })
    assert.deepStrictEqual(list.list(NOW).map(({ subnet }) => subnet), order)
  })

  it("bans are restored from storage", () => {
    const list = newList()
    list.ban("90.1.0.0/16", { until: NOW + 100, now: NOW })
    const bans = [...list.list(NOW), { subnet: "nonsense", created: 0, until: NOW + 5 }]
    const restored = new BanList({ key: new Uint8Array(16), bans })
    assert.deepStrictEqual(restored.list(NOW), list.list(NOW))
  })
})

describe("discouraged addresses", () => {
  it("discouraged addresses are not banned; at least the last 50,000 and at most 75,000 are remembered", () => {
    const list = newList()
    for (let n = 0; n < 125_001; n++) list.discourage(numbered(n))
    const known = (n: number): boolean => list.isDiscouraged(numbered(n))
    assert.isFalse(list.isBanned(numbered(0), NOW))
    for (let n = 75_001; n < 125_001; n += 97) assert.isTrue(known(n))
    let old = 0
    for (let n = 0; n < 50_000; n++) if (known(n)) old++
    assert.isBelow(old, 5)
    assert.isFalse(list.isDiscouraged(address("90.1.2.3")))
  })
})
