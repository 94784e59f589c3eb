import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeBase58, encodeBase58, encodeBase58Check } from "../../src/protocol/base58.ts"
import { concat, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { mainnet, type Network, networks, regtest, testnet } from "../../src/protocol/networks.ts"
import { encodeWif, isPrivateKey, parseWif } from "../../src/protocol/wif.ts"
import { bitcoinNetworks } from "../support/bitcoinNetworks.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)

const ONE = `${"00".repeat(31)}01`
const ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
const ORDER_MINUS_1 = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140"

/** The key in hex, followed by `c` if compressed, or the error. */
const parsed = (network: Network, text: string): string => {
  const result = parseWif(network, text)
  return "error" in result ? result.error : `${toHex(result.privateKey)}${result.compressed ? "c" : ""}`
}

const check = (network: Network, text: string, key: string, compressed: boolean): void => {
  assert.strictEqual(parsed(network, text), `${key}${compressed ? "c" : ""}`)
  assert.strictEqual(encodeWif(network, { privateKey: hex(key), compressed }), text)
}

describe("private key 1 (reference/protocol.md 1.4)", () => {
  it.each([
    { network: mainnet, compressed: true, text: "TdNVv3rvWfukQ9PGYe3kJL2foDARGKorJX8TimN3P8f7h5uGyJzz" },
    { network: mainnet, compressed: false, text: "72tzkjnkPajmGfbxBLirgivPqXrG1kgce3kNuxpMvxCoq86mi8f" },
    { network: testnet, compressed: true, text: "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA" },
    { network: testnet, compressed: false, text: "91avARGdfge8E4tZfYLoxeJ5sGBdNJQH4kvjJoQFacbgwmaKkrx" },
    { network: regtest, compressed: true, text: "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA" },
    { network: regtest, compressed: false, text: "91avARGdfge8E4tZfYLoxeJ5sGBdNJQH4kvjJoQFacbgwmaKkrx" }
  ])("private key 1 is $text on $network.name", ({ compressed, network, text }) => {
    check(network, text, ONE, compressed)
  })
})

describe("keys of the salt vectors (reference/protocol.md 9.2)", () => {
  it.each([
    [
      "cQDxbmQfwRV3vP1mdnVHq37nJekHLsuD3wdSQseBRA2ct4MFk5Pq",
      "4ed773bc3f9ec494681440938224e11b91938393ac371c009fab1b837bd42858"
    ],
    [
      "cU9hVzhpvfn91u2zTVn8uqF2ymS7ucYH8V5TmsTDmuyMHgRk9WsJ",
      "c3ffe066efb9974c2cb38e2e26f43998e875d76f1dc51a48a239e639077590c5"
    ],
    [
      "cPuQzcNEgbeYZ5at9VdGkCwkPA9r34gvEVJjuoz384rTfYpahfe7",
      "454d282288174ed70840a3bc3554632295a927adccf90916e50f45d560264080"
    ]
  ])("%s is %s", (text, key) => {
    check(regtest, text, key, true)
  })
})

type KeyVector = [
  string,
  string,
  { readonly chain: string; readonly isPrivkey: boolean; readonly isCompressed?: boolean }
]

describe.skipIf(!hasShared)("key_io vectors", () => {
  const keys = (name: string): Array<KeyVector> =>
    hasShared ? fixtureJson<Array<KeyVector>>(name).filter(([, , { isPrivkey }]) => isPrivkey) : []

  it("the files have all vectors", () => {
    assert.strictEqual(keys("namecoin-mainnet/params/key_io_valid_namecoin.json").length, 12)
    assert.strictEqual(keys("core/unit/key_io_valid.json").length, 16)
    assert.strictEqual(fixtureJson<Array<[string]>>("core/unit/key_io_invalid.json").length, 70)
  })

  it.each(keys("namecoin-mainnet/params/key_io_valid_namecoin.json"))("%s is %s", (text, key, facts) => {
    const network = Object.values(networks).find(({ chainName }) => chainName === facts.chain)
    check(network ?? assert.fail("unknown chain"), text, key, facts.isCompressed ?? assert.fail("no flag"))
  })

  it.each(keys("core/unit/key_io_valid.json"))("Bitcoin's %s is %s", (text, key, facts) => {
    const network = new Map(Object.entries(bitcoinNetworks)).get(facts.chain)
    check(network ?? assert.fail("unknown chain"), text, key, facts.isCompressed ?? assert.fail("no flag"))
  })

  it.each(hasShared ? fixtureJson<Array<[string]>>("core/unit/key_io_invalid.json") : [])(
    "%j is not a private key of any network",
    (text) => {
      for (const network of [...Object.values(networks), ...Object.values(bitcoinNetworks)]) {
        assert.property(parseWif(network, text), "error")
      }
    }
  )
})

describe("isPrivateKey", () => {
  it.each([
    ["00".repeat(32), false, "zero"],
    [ONE, true, "one"],
    [ORDER_MINUS_1, true, "the order less one"],
    [ORDER, false, "the order"],
    [ORDER.replace(/41$/, "42"), false, "the order and one"],
    ["ff".repeat(32), false, "the largest number"],
    ["01".repeat(31), false, "31 bytes"],
    ["01".repeat(33), false, "33 bytes"]
  ])("isPrivateKey of %s is %s (%s)", (key, valid) => {
    assert.strictEqual(isPrivateKey(hex(key)), valid)
    if (valid) check(mainnet, encodeWif(mainnet, { privateKey: hex(key), compressed: true }), key, true)
    else assert.throws(() => encodeWif(mainnet, { privateKey: hex(key), compressed: true }), RangeError)
  })
})

describe("parseWif", () => {
  const text = (network: Network, key: string, tail = "") =>
    encodeBase58Check(concat(Uint8Array.of(network.base58.wif), hex(key), hex(tail)))

  it.each([
    ["00".repeat(32), "", "private key out of range"],
    [ORDER, "01", "private key out of range"],
    [ORDER_MINUS_1, "01", `${ORDER_MINUS_1}c`],
    [ONE, "00", "not a private key"],
    [ONE, "02", "not a private key"],
    [ONE, "0101", "not a Base58Check text"],
    [ONE.slice(2), "", "not a private key"],
    ["", "", "not a private key"]
  ])("the result for key %s and flag %j: %s", (key, flag, expected) => {
    assert.strictEqual(parsed(mainnet, text(mainnet, key, flag)), expected)
  })

  it("another network's key and a text that is not a key have different errors", () => {
    assert.strictEqual(parsed(mainnet, text(testnet, ONE)), "not a private key of this network")
    assert.strictEqual(parsed(regtest, text(mainnet, ONE, "01")), "not a private key of this network")
    assert.strictEqual(parsed(mainnet, text(bitcoinNetworks.main, ONE)), "not a private key of this network")
    assert.strictEqual(parsed(mainnet, "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"), "not a private key")
    for (const other of ["", "1", "TdNVv3rvWfukQ9PGYe3kJL2foDARGKorJX8TimN3P8f7h5uGyJzx", "T".repeat(100_000)]) {
      assert.strictEqual(parsed(mainnet, other), "not a Base58Check text")
    }
  })

  it("white space around the text is ignored", () => {
    assert.strictEqual(parsed(mainnet, " 72tzkjnkPajmGfbxBLirgivPqXrG1kgce3kNuxpMvxCoq86mi8f\n"), ONE)
  })
})

describe("WIF properties", () => {
  const privateKeys = FastCheck.bigInt({ min: 1n, max: BigInt(`0x${ORDER_MINUS_1}`) }).map((number) =>
    hex(number.toString(16).padStart(64, "0"))
  )

  it.prop("an encoded key is decoded again, on its own network only", {
    privateKey: privateKeys,
    compressed: FastCheck.boolean(),
    network: FastCheck.constantFrom(mainnet, testnet, regtest)
  }, ({ compressed, network, privateKey }) => {
    const text = encodeWif(network, { privateKey, compressed })
    check(network, text, toHex(privateKey), compressed)
    assert.strictEqual(
      parsed(network === mainnet ? testnet : mainnet, text),
      "not a private key of this network"
    )
  })

  it.prop("every text with one changed byte is refused", {
    privateKey: privateKeys,
    compressed: FastCheck.boolean(),
    at: FastCheck.nat(),
    difference: FastCheck.integer({ min: 1, max: 255 })
  }, ({ at, compressed, difference, privateKey }) => {
    const bytes = decodeBase58(encodeWif(mainnet, { privateKey, compressed })) ?? assert.fail("undecoded")
    const position = at % bytes.length
    bytes[position] = (bytes[position] ?? 0) ^ difference
    assert.strictEqual(parsed(mainnet, encodeBase58(bytes)), "not a Base58Check text")
  })
})
