import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  formatEndpoint,
  formatNetAddress,
  parseEndpoint,
  parseNetAddress
} from "../../../src/network/wire/addressText.ts"
import { decodeMessage, encodePayload } from "../../../src/network/wire/message.ts"
import {
  endpointKey,
  fitsAddr,
  fromIpv6,
  type NetAddress,
  readAddress,
  toIpv6,
  writeAddress
} from "../../../src/network/wire/netAddress.ts"
import { isLocal, isRoutable, isValid, linkedIpv4, networkGroup } from "../../../src/network/wire/netGroup.ts"
import { concat, toHex } from "../../../src/protocol/bytes.ts"
import { Reader } from "../../../src/protocol/Reader.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { decodeError, hex } from "../../support/bytes.ts"
import { netAddresses } from "../../support/wireMessages.ts"

const address = (text: string): NetAddress => parseNetAddress(text) ?? assert.fail(`no address: ${text}`)

const ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"
const ONION_KEY = "79bcc625184b05194975c28b66b66b0469f7f6556fb1ac3189a79b40dda32f1f"
const I2P = "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p"
const I2P_HASH = "a2894dabaec08c0051a481a6dac88b64f98232ae42d4b6fd2fa81952dfe36a87"

describe("BIP 155", () => {
  const read = (text: string) => {
    const reader = new Reader(hex(text))
    const found = readAddress(reader)
    reader.end("address")
    return found
  }

  it.each(
    [
      ["01 04 01020304", "ipv4", "1.2.3.4"],
      ["02 10 0102030405060708090a0b0c0d0e0f10", "ipv6", "102:304:506:708:90a:b0c:d0e:f10"],
      [`04 20 ${ONION_KEY}`, "torv3", ONION],
      [`05 20 ${I2P_HASH}`, "i2p", I2P],
      ["06 10 fc000001000200030004000500060007", "cjdns", "fc00:1:2:3:4:5:6:7"]
    ] as const
  )("%s is of %s: %s", (bytes, network, text) => {
    const found = read(bytes)
    if (found.network === "unknown") return assert.fail("unknown")
    assert.strictEqual(found.network, network)
    assert.strictEqual(formatNetAddress(found), text)
    assert.isTrue(isValid(found))
    assert.strictEqual(fitsAddr(found), network.startsWith("ipv"))
    const writer = new Writer()
    writeAddress(writer, found)
    assert.strictEqual(toHex(writer.written()), toHex(hex(bytes)))
  })

  it.each([
    ["01 05 0102030405", "an IPv4 address of 5 bytes"],
    ["01 03 010203", "an IPv4 address of 3 bytes"],
    ["02 04 01020304", "an IPv6 address of 4 bytes"],
    ["04 00", "a Tor key of no bytes"],
    [`04 23 ${ONION_KEY}abcd03`, "a Tor key with checksum and version"],
    ["05 03 010203", "an I2P hash of 3 bytes"],
    ["06 01 fc", "a CJDNS address of 1 byte"],
    ["01 fd0102 01020304", "513 bytes"],
    ["aa fd0102 01020304", "513 bytes of an unknown network"],
    ["aa fe00000002 01020304", "32 MiB of an unknown network"],
    ["01 04 0102", "fewer bytes than announced"]
  ])("%s does not parse: %s", (bytes) => {
    decodeError(() => read(bytes))
  })

  it.each([
    ["03 0a f1f2f3f4f5f6f7f8f9fa", 3, "Tor version 2, obsolete"],
    ["07 10 02000000000000000000000000000001", 7, "Yggdrasil"],
    ["aa 04 01020304", 0xaa, "a network of the future"],
    ["aa 00", 0xaa, "without a byte"],
    ["00 00", 0, "no network"]
  ])("%s is of an unknown network: %d, %s", (bytes, id) => {
    const found = read(bytes)
    assert.strictEqual(found.network === "unknown" ? found.id : -1, id)
    assert.isFalse(isValid(found))
    assert.isFalse(fitsAddr(found))
  })

  it.each([
    ["02 10 00000000000000000000ffff01020304", "IPv4 within IPv6"],
    ["02 10 fd87d87eeb430102030405060708090a", "OnionCat"],
    ["02 10 fd6b88c08724ca978112ca1bbdcafac2", "the reference node's own marks"],
    ["02 10 00000000000000000000000000000000", "no address"],
    ["06 10 aa000001000200030004000500060007", "CJDNS without its prefix"]
  ])("%s parses and is invalid: %s", (bytes) => {
    assert.isFalse(isValid(read(bytes)))
  })

  it("services are a 64-bit number in its shortest form", () => {
    const gossip = (services: string) => decodeMessage("addrv2", hex(`01 61bc6649 ${services} 01 04 01020304 208d`))
    for (
      const [bytes, services] of [
        ["00", 0n],
        ["fc", 252n],
        ["fdfd00", 253n],
        ["fd4804", 0x448n],
        ["fe00000002", 0x2000000n],
        ["fe01000002", 0x2000001n],
        ["ff0000000001000000", 1n << 32n],
        ["ffffffffffffffffff", (1n << 64n) - 1n]
      ] as const
    ) {
      const read = gossip(bytes)
      const addresses = [{ time: 0x4966bc61, services, address: address("1.2.3.4"), port: 8333 }]
      assert.strictEqual(toHex(concat(...encodePayload(read))), `0161bc6649${bytes}010401020304208d`)
      assert.deepEqual<unknown>(read, { type: "addrv2", addresses })
    }
    for (const bytes of ["fdfc00", "feffff0000", "ffffffffff00000000"]) {
      assert.include(decodeError(() => gossip(bytes)).reason, "shortest form")
    }
  })
})

describe("addr", () => {
  it("addr has IPv4 mapped into IPv6, and zeros for addresses that do not fit", () => {
    const bytes = hex("00000000000000000000ffff01020304")
    assert.deepStrictEqual(fromIpv6(bytes), { network: "ipv4", bytes: hex("01020304") })
    assert.strictEqual(toHex(toIpv6(address("1.2.3.4"))), toHex(bytes))
    assert.strictEqual(toHex(toIpv6(address("1:2::"))), "00010002000000000000000000000000")
    assert.strictEqual(toHex(toIpv6(address(ONION))), "00".repeat(16))
    assert.strictEqual(
      toHex(toIpv6({ network: "cjdns", bytes: hex("fc000001000200030004000500060007") })),
      "00".repeat(16)
    )
  })

  it("the port is big endian", () => {
    const read = decodeMessage("addr", hex(`01 61bc6649 0100000000000000 00000000000000000000ffff01020304 208d`))
    assert.strictEqual(read.type === "addr" ? read.addresses[0]?.port : -1, 8333)
  })
})

describe("text", () => {
  it.each([
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["1122:3344:5566:7788:9900:AABB:CCDD:EEFF", "1122:3344:5566:7788:9900:aabb:ccdd:eeff"],
    // RFC 5952: no leading zeros; the longest run, the first of equal ones, and never a single group.
    ["2001:0db8:0000:0000:0000:0000:0002:0001", "2001:db8::2:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["1:2:3:4:5:6::", "1:2:3:4:5:6::"],
    ["::3:4:5:6:7:8", "::3:4:5:6:7:8"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:0102:0304", "1.2.3.4"],
    [ONION.toUpperCase(), ONION],
    [I2P, I2P]
  ])("%s is parsed and formatted as %s", (text, shown) => {
    assert.strictEqual(formatNetAddress(address(text)), shown)
  })

  it.each([
    "",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.4 ",
    "1.2.3.-4",
    "0x1.2.3.4",
    "1",
    "seed.example.org",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "1::2::3",
    "12345::",
    "g::",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "fe80::1%eth0",
    "1:".repeat(30),
    ".onion",
    ".b32.i2p",
    // A wrong character, a wrong checksum, a wrong version, a name of version 2.
    ONION.replace("pg6", "pg1"),
    ONION.replace("pg6", "pg7"),
    ONION.replace("yd.onion", "yc.onion"),
    "6hzph5hv6337r6p2.onion",
    I2P.replace("ukeu", "uke1"),
    I2P.replace("q.b32", "r.b32"),
    I2P.slice(1)
  ])("%j is not an address", (text) => {
    assert.isUndefined(parseNetAddress(text))
  })

  it.prop("an address round-trips as text", { one: netAddresses }, ({ one }) => {
    // IPv4-mapped IPv6 becomes IPv4, and CJDNS is parsed as IPv6.
    const plain = one.network === "ipv6" || one.network === "cjdns" ? fromIpv6(one.bytes) : one
    assert.deepStrictEqual(parseNetAddress(formatNetAddress(one)), plain)
    assert.deepStrictEqual(parseEndpoint(formatEndpoint(one, 8334), 1), { address: plain, port: 8334 })
    assert.deepStrictEqual(parseEndpoint(formatNetAddress(one), 1), { address: plain, port: 1 })
  }, { fastCheck: { numRuns: 500 } })

  it.each([
    ["1.2.3.4:0", 0],
    ["1.2.3.4:65535", 65535],
    ["1.2.3.4:08334", 8334],
    ["[::1]:8334", 8334],
    ["[::1]", 7],
    ["::1", 7],
    [`${ONION}:8334`, 8334]
  ])("%s has the port %d", (text, port) => {
    assert.strictEqual(parseEndpoint(text, 7)?.port, port)
  })

  it.each([
    "1.2.3.4:65536",
    "1.2.3.4:",
    "1.2.3.4:x",
    "1.2.3.4:-1",
    "[1.2.3.4]:1",
    "[::1",
    "::1]:1",
    "[::1]x",
    "[]:1",
    ":1"
  ])(
    "%s is not an address with a port",
    (text) => {
      assert.isUndefined(parseEndpoint(text, 7))
    }
  )

  it("keys of different endpoints differ", () => {
    const keys = [
      endpointKey(address("1.2.3.4"), 1),
      endpointKey(address("1.2.3.4"), 2),
      endpointKey(address("1.2.3.5"), 1),
      endpointKey(address("fc00::1"), 1),
      endpointKey({ network: "cjdns", bytes: address("fc00::1").bytes }, 1)
    ]
    assert.strictEqual(new Set(keys).size, keys.length)
  })
})

describe("networkGroup (upstream netgroup.cpp)", () => {
  it.each([
    ["127.0.0.1", "unroutable", "local"],
    ["10.0.0.1", "unroutable", "RFC 1918"],
    ["169.254.1.1", "unroutable", "RFC 3927"],
    ["::1", "unroutable", "local"],
    ["1.2.3.4", "ipv4:0102", "/16"],
    ["1.2.255.255", "ipv4:0102", "/16"],
    ["1.3.3.4", "ipv4:0103", "/16"],
    ["::ffff:0:102:304", "ipv4:0102", "RFC 6145"],
    ["64:ff9b::102:304", "ipv4:0102", "RFC 6052"],
    ["2002:102:304:9999:9999:9999:9999:9999", "ipv4:0102", "RFC 3964"],
    ["2001:0:9999:9999:9999:9999:fefd:fcfb", "ipv4:0102", "RFC 4380"],
    ["2001:470:abcd:9999:9999:9999:9999:9999", "ipv6:20010470af", "he.net has /36"],
    ["2001:470:bbcd::1", "ipv6:20010470bf", "he.net has /36"],
    ["2001:2001:9999:9999:9999:9999:9999:9999", "ipv6:20012001", "/32"],
    [ONION, "torv3:7f", "4 bits of the key"],
    [I2P, "i2p:af", "4 bits of the hash"]
  ])("of %s is %s: %s", (text, group) => {
    assert.strictEqual(networkGroup(address(text)), group)
  })

  it("the group of CJDNS is the 4 bits after the common prefix", () => {
    const group = (bytes: string): string => networkGroup({ network: "cjdns", bytes: hex(bytes) })
    assert.strictEqual(group("fc120001000200030004000500060007"), "cjdns:fc1f")
    assert.strictEqual(group("fc1f0001000200030004000500060007"), "cjdns:fc1f")
    assert.strictEqual(group("fc200001000200030004000500060007"), "cjdns:fc2f")
    assert.strictEqual(group("aa200001000200030004000500060007"), "unroutable")
  })
})

describe("types of addresses (upstream netaddress.cpp)", () => {
  it.each([
    ["9.255.255.255", true],
    ["10.0.0.0", false],
    ["10.255.255.255", false],
    ["11.0.0.0", true],
    ["172.15.255.255", true],
    ["172.16.0.0", false],
    ["172.31.255.255", false],
    ["172.32.0.0", true],
    ["192.167.255.255", true],
    ["192.168.0.0", false],
    ["192.169.0.0", true],
    ["100.63.255.255", true],
    ["100.64.0.0", false],
    ["100.127.255.255", false],
    ["100.128.0.0", true],
    ["169.253.255.255", true],
    ["169.254.0.0", false],
    ["198.17.255.255", true],
    ["198.18.0.0", false],
    ["198.19.255.255", false],
    ["198.20.0.0", true],
    ["192.0.2.1", false],
    ["192.0.3.1", true],
    ["198.51.100.1", false],
    ["203.0.113.255", false],
    ["126.255.255.255", true],
    ["127.1.2.3", false],
    ["0.0.0.1", false],
    ["255.255.255.254", true],
    ["255.255.255.255", false],
    ["2001:db7:ffff::1", true],
    ["2001:db8::1", false],
    ["2001:db9::1", true],
    ["fe80::1", false],
    ["fe80:0:0:1::1", true],
    ["fbff::1", true],
    ["fc00::1", false],
    ["fdff::1", false],
    ["fe00::1", true],
    ["2001:f::1", true],
    ["2001:10::1", false],
    ["2001:1f:ffff::1", false],
    ["2001:20::1", false],
    ["2001:2f:ffff::1", false],
    ["2001:30::1", true],
    ["::1", false],
    ["::2", true],
    [ONION, true],
    [I2P, true]
  ])("%s is routable: %s", (text, routable) => {
    assert.strictEqual(isRoutable(address(text)), routable)
  })

  it.each([["127.0.0.1", true], ["0.1.2.3", true], ["126.0.0.1", false], ["::1", true], ["::2", false], [
    ONION,
    false
  ]])(
    "%s is this machine's: %s",
    (text, local) => {
      assert.strictEqual(isLocal(address(text)), local)
    }
  )

  it.each([["10.0.0.1", true], ["fc00::1", true], ["0.0.0.0", false], ["255.255.255.255", false], [
    "2001:db8::1",
    false
  ]])(
    "%s is valid: %s",
    (text, valid) => {
      assert.strictEqual(isValid(address(text)), valid)
    }
  )

  it("only routable addresses have a linked IPv4 address", () => {
    assert.isUndefined(linkedIpv4(address("10.0.0.1")))
    assert.isUndefined(linkedIpv4(address("2001:2001::1")))
    assert.isUndefined(linkedIpv4(address(ONION)))
    assert.deepStrictEqual(linkedIpv4(address("1.2.3.4")), hex("01020304"))
  })

  it("every routable address is valid, and only unroutable ones share a group", () => {
    FastCheck.assert(FastCheck.property(netAddresses, (one) => {
      if (isRoutable(one)) assert.isTrue(isValid(one))
      assert.strictEqual(networkGroup(one) === "unroutable", !isRoutable(one))
    }))
  })
})
