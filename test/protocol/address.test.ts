import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  addressOf,
  decodeAddress,
  type Destination,
  destinationOf,
  encodeAddress,
  scriptOf
} from "../../src/protocol/address.ts"
import { encodeBase58Check } from "../../src/protocol/base58.ts"
import { encodeBech32 } from "../../src/protocol/bech32.ts"
import { concat, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { mainnet, type Network, networks, regtest, testnet } from "../../src/protocol/networks.ts"
import { bitcoinNetworks } from "../support/bitcoinNetworks.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)

const KEY_HASH = "751e76e8199196d454941c45d1b3a323f1433bd6"
const X_ONLY_KEY = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

/** The script of an address in hex, or the error. */
const parsed = (network: Network, text: string): string => {
  const result = decodeAddress(network, text)
  return "error" in result ? result.error : toHex(scriptOf(result.destination))
}

const p2pkh = (hash: string): string => `76a914${hash}88ac`

describe("addresses of private key 1 (reference/protocol.md 1.4)", () => {
  const scripts = {
    p2pkh: p2pkh(KEY_HASH),
    p2sh: "a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487",
    p2wpkh: `0014${KEY_HASH}`,
    p2wsh: "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262",
    p2tr: `5120${X_ONLY_KEY}`
  }

  it.each<[Network, keyof typeof scripts, string]>([
    [mainnet, "p2pkh", "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"],
    [mainnet, "p2sh", "6Xd9yRABooCXFfUyPUU4M6xdgKRqxVdLs1"],
    [mainnet, "p2wpkh", "nc1qw508d6qejxtdg4y5r3zarvary0c5xw7kttkktk"],
    [mainnet, "p2wsh", "nc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q5r8hjk"],
    [mainnet, "p2tr", "nc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqwd67vg"],
    [testnet, "p2pkh", "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"],
    [testnet, "p2sh", "2NAUYAHhujozruyzpsFRP63mbrdaU5wnEpN"],
    [testnet, "p2wpkh", "tn1qw508d6qejxtdg4y5r3zarvary0c5xw7ku7wsq7"],
    [testnet, "p2wsh", "tn1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qrd6us3"],
    [testnet, "p2tr", "tn1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqer84w0"],
    [regtest, "p2pkh", "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"],
    [regtest, "p2sh", "2NAUYAHhujozruyzpsFRP63mbrdaU5wnEpN"],
    [regtest, "p2wpkh", "ncrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kwsfjw6"],
    [regtest, "p2wsh", "ncrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qljytf5"],
    [regtest, "p2tr", "ncrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq9uezh2"]
  ])("private key 1 has its addresses: %s", (network, kind, address) => {
    assert.strictEqual(addressOf(network, hex(scripts[kind])), address)
    assert.strictEqual(parsed(network, address), scripts[kind])
  })

  it.each([
    ["N5e1vXUUL3KfhPyVjQZSes1qQ7eyarDbUU", "6369de647593f3261b67c0838ba094f8dc038860"],
    ["MyUGVwiPwomjPJwBBud1pxnmNp73dKB9s1", "1fc11f39be1729bf973a7ab6a615ca4729d64574"]
  ])("%s pays to the key hash %s", (address, hash) => {
    assert.strictEqual(parsed(mainnet, address), p2pkh(hash))
    assert.strictEqual(addressOf(mainnet, hex(p2pkh(hash))), address)
  })
})

describe("first characters of legacy addresses (reference/protocol.md 1.4)", () => {
  const ends = (network: Network, kind: "pubkeyhash" | "scripthash"): ReadonlyArray<string> =>
    [0, 255].map((byte) => encodeAddress(network, { kind, hash: new Uint8Array(20).fill(byte) }).slice(0, 2))

  it("the first characters are within the range of the version byte", () => {
    assert.deepStrictEqual(ends(mainnet, "pubkeyhash"), ["Mv", "NK"])
    assert.deepStrictEqual(ends(mainnet, "scripthash"), ["6E", "6d"])
    assert.match(ends(testnet, "pubkeyhash").join(" "), /^m. n.$/)
    assert.match(ends(testnet, "scripthash").join(" "), /^2. 2.$/)
  })
})

interface KeyVector {
  readonly text: string
  readonly data: string
  readonly chain: string
  readonly isPrivkey: boolean
  readonly tryCaseFlip: boolean
}

const keyVectors = (name: string): ReadonlyArray<KeyVector> =>
  !hasShared ? [] : fixtureJson<ReadonlyArray<[string, string, Omit<KeyVector, "text" | "data">]>>(name)
    .map(([text, data, facts]) => ({ ...facts, text, data }))

const flipped = (text: string): string =>
  [...text].map((c) => c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()).join("")

const checkValid = (network: Network, { data, text, tryCaseFlip }: KeyVector): void => {
  assert.strictEqual(parsed(network, text), data)
  assert.strictEqual(addressOf(network, hex(data)), text)
  const turned = flipped(text)
  if (tryCaseFlip) assert.strictEqual(parsed(network, turned), data)
  else assert.property(decodeAddress(network, turned), "error")
}

describe.skipIf(!hasShared)("key_io vectors", () => {
  const addresses = (name: string) => keyVectors(name).filter(({ isPrivkey }) => !isPrivkey)

  it("the files have all vectors", () => {
    assert.strictEqual(addresses("namecoin-mainnet/params/key_io_valid_namecoin.json").length, 40)
    assert.strictEqual(addresses("core/unit/key_io_valid.json").length, 54)
    assert.strictEqual(fixtureJson<Array<[string]>>("core/unit/key_io_invalid.json").length, 70)
  })

  it.each(addresses("namecoin-mainnet/params/key_io_valid_namecoin.json"))("$chain: $text pays to $data", (vector) => {
    const network = Object.values(networks).find(({ chainName }) => chainName === vector.chain)
    checkValid(network ?? assert.fail("unknown chain"), vector)
  })

  it.each(addresses("core/unit/key_io_valid.json"))("Bitcoin's $chain: $text pays to $data", (vector) => {
    checkValid(new Map(Object.entries(bitcoinNetworks)).get(vector.chain) ?? assert.fail("unknown chain"), vector)
  })

  it.each(hasShared ? fixtureJson<Array<[string]>>("core/unit/key_io_invalid.json") : [])(
    "%j is not an address of any network",
    (text) => {
      for (const network of [...Object.values(networks), ...Object.values(bitcoinNetworks)]) {
        const result = decodeAddress(network, text)
        if (!("error" in result)) assert.fail(`accepted on ${network.bech32Hrp}`)
        assert.notStrictEqual(result.error, "")
      }
    }
  )
})

describe("destinationOf", () => {
  it.each<[string, string]>([
    ["", "an empty script"],
    [`21${"02"}${X_ONLY_KEY}ac`, "a bare public key"],
    ["6a0474657374", "a data output"],
    [`76a914${KEY_HASH}88`, "P2PKH without OP_CHECKSIG"],
    [`76a914${KEY_HASH}88ac61`, "P2PKH with something behind it"],
    [`76a914${KEY_HASH}88ad`, "P2PKH with another last opcode"],
    [`76a915${KEY_HASH}0088ac`, "P2PKH with 21 bytes"],
    [`76a94c14${KEY_HASH}88ac`, "P2PKH with a long push"],
    [`76a814${KEY_HASH}88ac`, "P2PKH with another hash function"],
    [`a914${KEY_HASH}88`, "P2SH with another comparison"],
    [`a914${KEY_HASH}8787`, "P2SH with something behind it"],
    [`aa14${KEY_HASH}87`, "P2SH with another hash function"],
    [`aa20${X_ONLY_KEY}87`, "a hash of 32 bytes"],
    ["00", "OP_0 alone"],
    ["0000", "OP_0 and an empty push"],
    [`0013${KEY_HASH.slice(2)}`, "a version 0 program of 19 bytes"],
    [`0015${KEY_HASH}00`, "a version 0 program of 21 bytes"],
    [`001f${X_ONLY_KEY.slice(2)}`, "a version 0 program of 31 bytes"],
    [`0021${X_ONLY_KEY}00`, "a version 0 program of 33 bytes"],
    [`0014${KEY_HASH}00`, "a version 0 program with something behind it"],
    [`4f14${KEY_HASH}`, "OP_1NEGATE and a push"],
    [`5014${KEY_HASH}`, "OP_RESERVED and a push"],
    [`6114${KEY_HASH}`, "OP_NOP and a push"],
    ["51014e", "a version 1 program of 1 byte"],
    [`5129${X_ONLY_KEY}${"00".repeat(9)}`, "a version 1 program of 41 bytes"],
    [`514c20${X_ONLY_KEY}`, "a version 1 program in a long push"],
    ["5151", "OP_1 OP_1"]
  ])("destinationOf returns undefined for %s: %s", (script) => {
    assert.isUndefined(destinationOf(hex(script)))
    assert.isUndefined(addressOf(mainnet, hex(script)))
  })

  it.each([
    ["51024e73", 1, "4e73"],
    [`5128${X_ONLY_KEY}${"00".repeat(8)}`, 1, `${X_ONLY_KEY}${"00".repeat(8)}`],
    ["60020102", 16, "0102"]
  ])("destinationOf finds in %s the program of version %s", (script, version, program) => {
    assert.deepStrictEqual(destinationOf(hex(script)), { kind: "witness", version, program: hex(program) })
  })

  it("pay-to-anchor has its address", () => {
    assert.strictEqual(addressOf(bitcoinNetworks.main, hex("51024e73")), "bc1pfeessrawgf")
    assert.strictEqual(parsed(bitcoinNetworks.main, "bc1pfeessrawgf"), "51024e73")
    assert.strictEqual(parsed(mainnet, addressOf(mainnet, hex("51024e73")) ?? ""), "51024e73")
  })
})

describe("parseAddress", () => {
  const payload = (network: Network, version: number, length: number) =>
    parsed(network, encodeBase58Check(concat(Uint8Array.of(version), new Uint8Array(length))))

  const bech32 = (variant: "bech32" | "bech32m", hrp: string, ...values: ReadonlyArray<number>) =>
    parsed(mainnet, encodeBech32(variant, hrp, values))

  it("Base58Check is first: legacy addresses may begin like segwit ones (reference/protocol.md 1.4, trap 1)", () => {
    const legacy = Array.from({ length: 40_000 }, (_, i): Destination => {
      const hash = new Uint8Array(20).fill(0xd0)
      new DataView(hash.buffer).setUint16(0, 0x8000 + i)
      return { kind: "pubkeyhash", hash }
    }).map((destination) => encodeAddress(mainnet, destination)).find((text) => text.startsWith("NC"))
    const text = legacy ?? assert.fail("no such address among those tried")
    assert.match(parsed(mainnet, text), /^76a914/)
    // A damaged address is decoded in the form of its first characters.
    assert.strictEqual(parsed(mainnet, `${text.slice(0, -1)}${text.endsWith("2") ? "3" : "2"}`).slice(0, 7), "Invalid")
  })

  it("the error names another network's prefix", () => {
    assert.strictEqual(
      parsed(mainnet, "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"),
      "Invalid or unsupported Base58-encoded address."
    )
    assert.strictEqual(
      parsed(testnet, "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"),
      "Invalid or unsupported Base58-encoded address."
    )
    // "ncrt" begins with "nc": the prefix is named. "nc" does not begin with "ncrt": the text looks like nothing.
    assert.strictEqual(
      parsed(mainnet, "ncrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kwsfjw6"),
      "Invalid or unsupported prefix for Segwit (Bech32) address (expected nc, got ncrt)."
    )
    assert.strictEqual(
      parsed(regtest, "nc1qw508d6qejxtdg4y5r3zarvary0c5xw7kttkktk"),
      "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
    )
    assert.strictEqual(
      parsed(mainnet, "tn1qw508d6qejxtdg4y5r3zarvary0c5xw7ku7wsq7"),
      "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
    )
  })

  it("a wrong length, a wrong prefix and a wrong checksum have different errors", () => {
    assert.strictEqual(payload(mainnet, 52, 20), p2pkh("00".repeat(20)))
    assert.strictEqual(payload(mainnet, 52, 19), "Invalid length for Base58 address (P2PKH or P2SH)")
    assert.strictEqual(payload(mainnet, 13, 0), "Invalid length for Base58 address (P2PKH or P2SH)")
    assert.strictEqual(payload(mainnet, 53, 19), "Invalid or unsupported Base58-encoded address.")
    assert.strictEqual(payload(mainnet, 52, 21), "Invalid checksum or length of Base58 address (P2PKH or P2SH)")
    assert.strictEqual(parsed(mainnet, "3QJmnh"), "Invalid or unsupported Base58-encoded address.")
  })

  it("Base58 with a wrong checksum and text that is not Base58 have different errors", () => {
    const checksum = "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
    const encoding = "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
    assert.strictEqual(parsed(mainnet, "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAS"), checksum)
    assert.strictEqual(parsed(mainnet, ""), checksum)
    assert.strictEqual(parsed(mainnet, "x"), checksum)
    assert.strictEqual(parsed(mainnet, "1".repeat(100)), checksum)
    assert.strictEqual(parsed(mainnet, "1".repeat(101)), encoding)
    assert.strictEqual(parsed(mainnet, "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpA0"), encoding)
    assert.strictEqual(parsed(mainnet, "z".repeat(1_000_000)), encoding)
  })

  it("white space is ignored only around a legacy address", () => {
    assert.strictEqual(parsed(mainnet, " N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR\n"), p2pkh(KEY_HASH))
    assert.deepStrictEqual(decodeAddress(mainnet, "nc1qw508d6qejxtdg4y5r3zarvary0c5xw7kttkktk "), {
      error: "Invalid character or mixed case",
      locations: [42]
    })
  })

  it("the error has the positions of typing errors in a segwit address", () => {
    assert.deepStrictEqual(decodeAddress(mainnet, "nc1qw508d6qejxtdg4y5r3zarvary0c5xw7kttkktq"), {
      error: "Invalid Bech32 checksum",
      locations: [41]
    })
    assert.deepStrictEqual(decodeAddress(mainnet, "nc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kttkktk"), {
      error: "Invalid character or mixed case",
      locations: [3]
    })
    assert.strictEqual(parsed(mainnet, "nc"), "Missing separator")
  })

  it("the error in data with a correct checksum is found in the reference node's order", () => {
    assert.strictEqual(bech32("bech32", "nc"), "Empty Bech32 data section")
    assert.strictEqual(bech32("bech32", "ncx"), "Empty Bech32 data section")
    assert.strictEqual(bech32("bech32m", "nc", 0), "Version 0 witness address must use Bech32 checksum")
    assert.strictEqual(bech32("bech32", "nc", 1), "Version 1+ witness address must use Bech32m checksum")
    assert.strictEqual(bech32("bech32m", "nc", 1, 0), "Invalid padding in Bech32 data section")
    assert.strictEqual(bech32("bech32m", "nc", 1, 0, 1), "Invalid padding in Bech32 data section")
    assert.strictEqual(bech32("bech32m", "nc", 17, 0, 0), "Invalid Bech32 address witness version")
    assert.strictEqual(bech32("bech32m", "nc", 1, 0, 0), "Invalid Bech32 address program size (1 byte)")
    assert.strictEqual(bech32("bech32m", "nc", 1), "Invalid Bech32 address program size (0 bytes)")
    assert.strictEqual(bech32("bech32", "nc", 0, 0, 0), "Invalid Bech32 v0 address program size (1 byte), per BIP141")
    assert.strictEqual(
      bech32("bech32", "nc", 0, 0, 0, 0, 0),
      "Invalid Bech32 v0 address program size (2 bytes), per BIP141"
    )
  })
})

/** Any destination that has an address. */
const destinations: FastCheck.Arbitrary<Destination> = FastCheck.oneof(
  FastCheck.record({
    kind: FastCheck.constantFrom<"pubkeyhash" | "scripthash">("pubkeyhash", "scripthash"),
    hash: FastCheck.uint8Array({ minLength: 20, maxLength: 20 })
  }),
  FastCheck.constantFrom(20, 32).chain((length) =>
    FastCheck.record({
      kind: FastCheck.constant("witness" as const),
      version: FastCheck.constant(0),
      program: FastCheck.uint8Array({ minLength: length, maxLength: length })
    })
  ),
  FastCheck.record({
    kind: FastCheck.constant("witness" as const),
    version: FastCheck.integer({ min: 1, max: 16 }),
    program: FastCheck.uint8Array({ minLength: 2, maxLength: 40 })
  })
)

describe("address properties", () => {
  it.prop("a destination survives its script and its address", {
    destination: destinations,
    network: FastCheck.constantFrom(mainnet, testnet, regtest)
  }, ({ destination, network }) => {
    const script = scriptOf(destination)
    assert.strictEqual(toHex(scriptOf(destinationOf(script) ?? assert.fail("no destination"))), toHex(script))
    assert.strictEqual(parsed(network, encodeAddress(network, destination)), toHex(script))
    assert.strictEqual(addressOf(network, script), encodeAddress(network, destination))
  })

  it.prop("an address of mainnet is invalid on testnet and regtest, and vice versa", {
    destination: destinations
  }, ({ destination }) => {
    for (const network of [testnet, regtest]) {
      assert.property(decodeAddress(network, encodeAddress(mainnet, destination)), "error")
      assert.property(decodeAddress(mainnet, encodeAddress(network, destination)), "error")
    }
  })

  it.prop("any script that has a destination is the script of that destination", {
    script: FastCheck.oneof(
      FastCheck.uint8Array({ maxLength: 45 }),
      FastCheck.tuple(FastCheck.integer({ min: 0, max: 0x62 }), FastCheck.uint8Array({ maxLength: 43 })).map(
        ([opcode, data]) => Uint8Array.of(opcode, data.length, ...data)
      )
    )
  }, ({ script }) => {
    const destination = destinationOf(script)
    if (destination !== undefined) assert.strictEqual(toHex(scriptOf(destination)), toHex(script))
  })

  it.prop("any text gives a destination or an error text", {
    text: FastCheck.oneof(
      FastCheck.string(),
      FastCheck.fullUnicodeString(),
      FastCheck.string().map((rest) => `nc1${rest}`)
    )
  }, ({ text }) => {
    assert.notStrictEqual(parsed(mainnet, text), "")
  })
})
