import { assert, describe, it } from "@effect/vitest"
import { decodeAddress, scriptOf } from "../../../src/protocol/address.ts"
import { concat, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { descriptorChecksum, descriptorOf } from "../../../src/protocol/descriptor/descriptor.ts"
import { hash160, sha256 } from "../../../src/protocol/hash.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { encodeWif } from "../../../src/protocol/wif.ts"
import { descriptorScript } from "../../../src/wallet/keys/expandDescriptor.ts"
import { pubkeyOf } from "../../support/keys.ts"

/** The point G, with the secret key 1. */
const X = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const KEY = `02${X}`
const LONG = `04${X}483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8`
const TWO = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
const HASH = "751e76e8199196d454941c45d1b3a323f1433bd6"
const LONG_HASH = "91b24bf9f5288532960ac687abb035127b1d28a5"

const bytes = (hex: string): Uint8Array => fromHex(hex) ?? assert.fail(hex)

const scriptHex = (text: string, network = regtest): string => {
  const parsed = descriptorScript(network, text)
  return "script" in parsed ? toHex(parsed.script) : assert.fail(`${text}: ${parsed.error}`)
}

const errorOf = (text: string, network = regtest): string => {
  const parsed = descriptorScript(network, text)
  return "error" in parsed ? `${parsed.kind}: ${parsed.error}` : assert.fail(`${text} is taken`)
}

const inSh = (script: string): string => `a914${toHex(hash160(bytes(script)))}87`
const inWsh = (script: string): string => `0020${toHex(sha256(bytes(script)))}`

describe("descriptorScript", () => {
  it("gives the script of each function", () => {
    const MULTI = `5121${KEY}21${TWO}52ae`
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["raw(51)", "51"],
      ["raw(5101)", "5101"],
      [`pk(${KEY})`, `21${KEY}ac`],
      [`pk(${LONG})`, `41${LONG}ac`],
      [`pkh(${KEY})`, `76a914${HASH}88ac`],
      [`pkh(${LONG})`, `76a914${LONG_HASH}88ac`],
      [`wpkh(${KEY})`, `0014${HASH}`],
      [`combo(${KEY})`, `0014${HASH}`],
      [`combo(${LONG})`, `76a914${LONG_HASH}88ac`],
      [`multi(1,${KEY},${TWO})`, MULTI],
      [`sortedmulti(1,${TWO},${KEY})`, MULTI],
      [`multi(1,${TWO},${KEY})`, `5121${TWO}21${KEY}52ae`],
      [`sh(pk(${KEY}))`, inSh(`21${KEY}ac`)],
      [`sh(wpkh(${KEY}))`, inSh(`0014${HASH}`)],
      [`wsh(multi(1,${KEY},${TWO}))`, inWsh(MULTI)],
      [`sh(wsh(pkh(${KEY})))`, inSh(inWsh(`76a914${HASH}88ac`))],
      [`rawtr(${X})`, `5120${X}`],
      // The first byte is not a prefix here, although a hybrid key begins with it.
      [`rawtr(06${"00".repeat(30)}01)`, `512006${"00".repeat(30)}01`],
      [`rawtr(07${"00".repeat(30)}02)`, `512007${"00".repeat(30)}02`],
      [`rawtr(${KEY})`, `5120${X}`],
      // BIP 341: the key of a wallet whose internal key is G.
      [`tr(${X})`, "5120da4710964f7852695de2da025290e24af6d8c281de5a0b902b7135fd9fd74d21"],
      [`tr(${KEY})`, "5120da4710964f7852695de2da025290e24af6d8c281de5a0b902b7135fd9fd74d21"]
    ]
    for (const [descriptor, script] of cases) assert.strictEqual(scriptHex(descriptor), script, descriptor)
  })

  it("gives the script of an address of its network alone", () => {
    const address = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"
    const parsed = decodeAddress(regtest, address)
    if ("error" in parsed) return assert.fail(parsed.error)
    assert.strictEqual(scriptHex(`addr(${address})`), toHex(scriptOf(parsed.destination)))
    assert.strictEqual(errorOf(`addr(${address})`, mainnet), "invalid: Address is not valid")
  })

  it("leads back from what is said of a script", () => {
    for (const script of [`21${KEY}ac`, `0014${HASH}`, `a914${HASH}87`, "51", `5120${X}`]) {
      assert.strictEqual(scriptHex(descriptorOf(regtest, bytes(script))), script)
    }
  })

  it("takes private keys, of its network, and origins", () => {
    const privateKey = concat(new Uint8Array(31), Uint8Array.of(1))
    assert.strictEqual(toHex(pubkeyOf(privateKey)), KEY)
    const wif = encodeWif(regtest, { privateKey, compressed: true })
    const longWif = encodeWif(regtest, { privateKey, compressed: false })
    assert.strictEqual(scriptHex(`pkh(${wif})`), `76a914${HASH}88ac`)
    assert.strictEqual(scriptHex(`pkh(${longWif})`), `76a914${LONG_HASH}88ac`)
    assert.strictEqual(errorOf(`pkh(${wif})`, mainnet), "invalid: pkh(): key '…' is not valid")
    assert.strictEqual(errorOf(`wpkh(${longWif})`), "invalid: wpkh(): Uncompressed keys are not allowed")
    assert.strictEqual(scriptHex(`pkh([deadbeef/1/2'/3h]${KEY})`), `76a914${HASH}88ac`)
    assert.match(errorOf(`pkh([deadbee/1]${KEY})`), /Fingerprint is not 4 bytes \(7 characters/)
    assert.match(errorOf(`pkh([deadbeeg]${KEY})`), /Fingerprint 'deadbeeg' is not hex/)
    assert.match(errorOf(`pkh([deadbeef/x]${KEY})`), /Key path value 'x' is not a valid uint32/)
  })

  it("takes a checksum that fits, and refuses another", () => {
    const sum = descriptorChecksum("raw(51)") ?? ""
    assert.strictEqual(scriptHex(`raw(51)#${sum}`), "51")
    assert.strictEqual(
      errorOf("raw(51)#qqqqqqqq"),
      `invalid: Provided checksum 'qqqqqqqq' does not match computed checksum '${sum}'`
    )
    assert.strictEqual(errorOf("raw(51)#abc"), "invalid: Expected 8 character checksum, not 3 characters")
    assert.strictEqual(errorOf("raw(51)#"), "invalid: Expected 8 character checksum, not 0 characters")
    assert.strictEqual(errorOf(`raw(51)#${sum}#`), "invalid: Multiple '#' symbols")
    assert.strictEqual(errorOf("raw(51)é"), "invalid: Invalid characters in payload")
  })

  it("says what is wrong", () => {
    const keys = (count: number): string => new Array(count).fill(KEY).join(",")
    const cases: ReadonlyArray<readonly [string, string]> = [
      ["", "'' is not a valid descriptor function"],
      ["nope", "'nope' is not a valid descriptor function"],
      ["raw(51", "'raw(51' is not a valid descriptor function"],
      ["toString(51)", "'toString(51)' is not a valid descriptor function"],
      ["addr(nope)", "Address is not valid"],
      ["raw(5)", "Raw script is not hex"],
      ["raw()", "Raw script is not hex"],
      ["pk()", "pk(): No key provided"],
      [`pk( ${KEY})`, `pk(): Key ' ${KEY}' is invalid due to whitespace`],
      ["pk(02)", "pk(): Pubkey '02' is invalid"],
      [`pk(${X})`, `pk(): Pubkey '${X}' is invalid`],
      [`pk(06${LONG.slice(2)})`, "pk(): Hybrid public keys are not allowed"],
      [`wpkh(${LONG})`, "wpkh(): Uncompressed keys are not allowed"],
      [`wsh(pk(${LONG}))`, "pk(): Uncompressed keys are not allowed"],
      [`tr(${LONG})`, "tr(): Uncompressed keys are not allowed"],
      [`tr(${X},{pk(${KEY})})`, "tr(): expected ',' after script expression"],
      [`tr(${X},pk(${KEY}),pk(${KEY}))`, "tr(): expected ')' after script expression"],
      ["sh(raw(51))", "Can only have raw() at top level"],
      [`sh(combo(${KEY}))`, "Can only have combo() at top level"],
      [`wsh(wpkh(${KEY}))`, "Can only have wpkh() at top level or inside sh()"],
      [`sh(sh(pk(${KEY})))`, "Can only have sh() at top level"],
      [`wsh(wsh(pk(${KEY})))`, "Can only have wsh() at top level or inside sh()"],
      ["sh(51)", "A function is needed within P2SH"],
      ["wsh(51)", "A function is needed within P2WSH"],
      [`multi(0,${KEY})`, "Multisig threshold cannot be 0, must be at least 1"],
      [
        `multi(2,${KEY})`,
        "Multisig threshold cannot be larger than the number of keys; threshold is 2 but only 1 keys specified"
      ],
      [`multi(x,${KEY})`, "Multi threshold 'x' is not valid"],
      ["multi(1)", "Cannot have 0 keys in multisig; must have between 1 and 20 keys, inclusive"],
      [`multi(1,${keys(4)})`, "Cannot have 4 pubkeys in bare multisig; only at most 3 pubkeys"],
      [`sh(multi(1,${keys(16)}))`, "P2SH script is too large, 547 bytes is larger than 520 bytes"],
      [`wsh(multi(1,${keys(21)}))`, "Cannot have 21 keys in multisig; must have between 1 and 20 keys, inclusive"]
    ]
    for (const [descriptor, error] of cases) assert.strictEqual(errorOf(descriptor), `invalid: ${error}`, descriptor)
  })

  it("takes as many keys as each place has room for", () => {
    const keys = (count: number): string => new Array(count).fill(KEY).join(",")
    for (const text of [`multi(1,${keys(3)})`, `sh(multi(1,${keys(15)}))`, `wsh(multi(1,${keys(20)}))`]) {
      assert.isNotEmpty(scriptHex(text))
    }
  })

  it("tells what stands for many scripts", () => {
    const xpub =
      "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
    assert.match(errorOf(`pkh(${xpub}/0/*)`), /^ranged: /)
    assert.match(errorOf(`pkh(${xpub}/<0;1>/*)`), /^multipath: /)
    assert.match(scriptHex(`pkh(${xpub}/0)`), /^76a914/)
    assert.strictEqual(errorOf(`pkh(${xpub}/0h)`), "invalid: Cannot derive script without private keys")
  })
})
