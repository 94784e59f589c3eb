import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { addressOf } from "../../../src/protocol/address.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import {
  descriptorText,
  faultless,
  keysOf,
  privatePositions,
  publicDescriptor,
  withChecksum
} from "../../../src/wallet/keys/descriptors.ts"
import { describedScripts, outputTypeOf } from "../../../src/wallet/keys/descriptorScripts.ts"
import { publicDeriver } from "../../../src/wallet/keys/keyExpression.ts"
import { parseDescriptor } from "../../../src/wallet/keys/parseDescriptor.ts"

const MASTER =
  "tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd7zrbniJr6nrCzd"
const MASTER_PUBLIC =
  "tpubD6NzVbkrYhZ4XYa9MoLt4BiMZ4gkt2faZ4BcmKu2a9te4LDpQmvEz2L2yDERivHxFPnxXXhqDRkUNnQCpZggCyEZLBktV7VaSmwayqMJy1s"
const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
const ONE = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const TWO = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
const UNCOMPRESSED =
  "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"

const parse = (text: string) => Either.getOrThrow(parseDescriptor(regtest, withChecksum(text)))

/** The scripts of a descriptor's public form at an index. */
const scriptsAt = (text: string, index: number) => {
  const descriptor = publicDescriptor(parse(text))
  const derivers = keysOf(descriptor).map(publicDeriver)
  return describedScripts(descriptor, (position) => {
    const derive = derivers[position]
    if (derive === undefined) throw new Error(`no key ${position}`)
    return derive(index)
  })
}

describe("descriptors", () => {
  // The results of the reference node 31.1 for the same descriptors.
  it.each([
    [`pkh(${MASTER}/44h/1h/0h/0/*)`, "y2laz3qd"],
    [`wsh(multi(1,${MASTER}/0h/*,${TWO}))`, "gl5gt99m"],
    [`combo(${WIF})`, "q4v09aql"],
    [`tr(${WIF})`, "tnrke5yz"],
    [`sh(multi(2,${ONE},${TWO}))`, "lew70nes"],
    [`pk(${ONE})`, "gn28ywm7"],
    ["raw(51)", "8lvh9jxk"]
  ])("%s is printed unchanged, with its checksum", (text, checksum) => {
    assert.strictEqual(descriptorText(regtest, parse(text)), `${text}#${checksum}`)
  })

  it.each([
    [
      `wpkh(${MASTER}/84h/1h/0h/0/*)`,
      "wpkh([73c5da0a/84h/1h/0h]tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M/0/*)#evh9fu0w"
    ],
    [
      `wsh(multi(1,${MASTER}/0h/*,${TWO}))`,
      `wsh(multi(1,[73c5da0a/0h]tpubD97UxEEVXiRs2uHYkHSU6ddidnoP2XQ54ddFZYJ7Cqo1szH58GtZeEDf7yiGGz5ABCaECZE5AusSmQWfFvoAeM56m6CzoB77UGDb1wTwDyz/*,${TWO}))#qr699njs`
    ],
    [`wpkh(${MASTER}/*)`, `wpkh(${MASTER_PUBLIC}/*)#37xn4gxq`],
    [`tr(${WIF})`, `tr(${ONE.slice(2)})#gxjkeue2`],
    [`combo(${WIF})`, `combo(${ONE})#lq9sf04s`]
  ])("%s is shown without private keys as %s", (text, shown) => {
    assert.strictEqual(descriptorText(regtest, publicDescriptor(parse(text))), shown)
    assert.deepStrictEqual(privatePositions(publicDescriptor(parse(text))), [])
  })

  it("key positions follow the order of the text", () => {
    assert.deepStrictEqual(privatePositions(parse(`sh(wsh(multi(1,${ONE},${WIF},${MASTER}/*)))`)), [1, 2])
  })

  it("an origin contains the hidden part of the path", () => {
    const text = descriptorText(regtest, publicDescriptor(parse(`pkh([aabbccdd/7']${MASTER}/1h/2/*)`)))
    assert.match(text, /^pkh\(\[aabbccdd\/7h\/1h\]tpub\w+\/2\/\*\)#/)
  })
})

describe("the scripts of a descriptor", () => {
  it("are those of the reference node", () => {
    const multisig = `sh(wsh(sortedmulti(2,${TWO},${ONE},${MASTER}/*)))`
    const addresses = [0, 1, 2].map((index) =>
      addressOf(regtest, scriptsAt(multisig, index)[0]?.script ?? new Uint8Array())
    )
    assert.deepStrictEqual(addresses, [
      "2MtRX8SndEopQx5NsSewQbukkESrT6ijaoU",
      "2N842JPkLZbXJpLF8CxYMqpTESXRraX9ibJ",
      "2ND5WZS2QhX3uAKZcPAvj7N92KAEqZcMJUd"
    ])
    const [third] = scriptsAt(multisig, 2)
    assert.strictEqual(
      withChecksum(third?.text() ?? ""),
      `sh(wsh(multi(2,[751e76e8]${ONE},[06afd46b]${TWO},[73c5da0a/2]03b4c210719212afb16b5f136a2dcb3cc9fc231721f711994facf3b6111afba7d0)))#ca2wuyze`
    )
    assert.strictEqual(
      toHex(third?.redeemScript ?? new Uint8Array()),
      "00204db9ce151a37917e99af9c8e83f9f27cfb1015d45f0eb1f8572a00961b571cbd"
    )
    assert.deepStrictEqual([third?.type, third?.required], ["p2sh-segwit", 2])
  })

  it("of a combo descriptor are four, and two for an uncompressed key", () => {
    const shown = (text: string) =>
      scriptsAt(text, 0).map((each) => [addressOf(regtest, each.script), each.type, withChecksum(each.text())])
    assert.deepStrictEqual(shown(`combo(${WIF})`), [
      [undefined, "other", withChecksum(`pk([751e76e8]${ONE})`)],
      ["mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r", "legacy", withChecksum(`pkh([751e76e8]${ONE})`)],
      ["ncrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kwsfjw6", "bech32", withChecksum(`wpkh([751e76e8]${ONE})`)],
      ["2NAUYAHhujozruyzpsFRP63mbrdaU5wnEpN", "p2sh-segwit", `sh(wpkh([751e76e8]${ONE}))#ehygyxlc`]
    ])
    assert.deepStrictEqual(scriptsAt(`combo(${UNCOMPRESSED})`, 0).map(({ type }) => type), ["other", "legacy"])
  })

  it.each([
    [`tr(${WIF})`, "ncrt1pmfr3p9j00pfxjh0zmgp99y8zftmd3s5pmedqhyptwy6lm87hf5ssxu7gnq", "bech32m"],
    [`sh(multi(2,${ONE},${TWO}))`, "2MtycqikMJfc1GfzPar2xBzBMqmfHSdGF9s", "legacy"],
    ["addr(mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r)", "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r", "legacy"],
    ["raw(51)", undefined, "other"]
  ])("%s pays to %s", (text, address, type) => {
    const [found, ...more] = scriptsAt(text, 0)
    assert.deepStrictEqual([found && addressOf(regtest, found.script), found?.type, more], [address, type, []])
  })

  it.each([
    [`pkh(${ONE})`, "legacy"],
    [`sh(wpkh(${ONE}))`, "p2sh-segwit"],
    [`sh(multi(1,${ONE}))`, "legacy"],
    [`wsh(multi(1,${ONE}))`, "bech32"],
    [`rawtr(${ONE.slice(2)})`, "bech32m"],
    [`combo(${ONE})`, undefined],
    [`pk(${ONE})`, undefined]
  ])("%s gives out %s", (text, type) => {
    assert.strictEqual(outputTypeOf(parse(text)), type)
  })
})

describe("an invalid descriptor", () => {
  const reasonOf = (text: string): string =>
    Either.match(Either.flatMap(parseDescriptor(regtest, text), (found) => faultless(() => publicDescriptor(found))), {
      onLeft: ({ reason }) => reason,
      onRight: () => ""
    })

  it.each([
    ["x", "'x' is not a valid descriptor function"],
    [`pkh(${"0".repeat(66)})`, `pkh(): Pubkey '${"0".repeat(66)}' is invalid`],
    ["combo(nokey)", "combo(): key 'nokey' is not valid"],
    [`wpkh(${UNCOMPRESSED})`, "wpkh(): Uncompressed keys are not allowed"],
    [
      `pkh(${MASTER_PUBLIC}/0h)`,
      "Cannot expand descriptor. Probably because of hardened derivations without private keys provided"
    ],
    [`pkh(${MASTER_PUBLIC}/2147483648)`, "pkh(): Key path value 2147483648 is out of range"],
    [`pkh(${MASTER_PUBLIC}/a)`, "pkh(): Key path value 'a' is not a valid uint32"],
    [`pkh([aabbcc]${ONE})`, "pkh(): Fingerprint is not 4 bytes (6 characters instead of 8 characters)"],
    [`pkh([aabbccdg]${ONE})`, "pkh(): Fingerprint 'aabbccdg' is not hex"],
    [`pkh(aabbccdd]${ONE})`, "pkh(): Key origin start '[ character expected but not found, got 'a' instead"],
    ["pkh()", "pkh(): No key provided"],
    [`sh(sh(pk(${ONE})))`, "Can only have sh() at top level"],
    [`sh(x)`, "A function is needed within P2SH"],
    [`wsh(wpkh(${ONE}))`, "Can only have wpkh() at top level or inside sh()"],
    [`multi(0,${ONE})`, "Multisig threshold cannot be 0, must be at least 1"],
    [
      `multi(2,${ONE})`,
      "Multisig threshold cannot be larger than the number of keys; threshold is 2 but only 1 keys specified"
    ],
    [`multi(1,${ONE},${ONE},${ONE},${ONE})`, "Cannot have 4 pubkeys in bare multisig; only at most 3 pubkeys"],
    [`sh(multi(1${`,${ONE}`.repeat(16)}))`, "P2SH script is too large, 547 bytes is larger than 520 bytes"],
    ["raw(5)", "Raw script is not hex"],
    ["addr(x)", "Address is not valid"],
    [`pkh(${MASTER}/0H)`, "pkh(): Key path value '0H' is not a valid uint32"],
    [`pkh([aabbccdd/2147483648h]${ONE})`, "pkh(): Key path value 2147483648 is out of range"],
    [
      `pkh([aabbccdd/<0;1>]${ONE})`,
      "pkh(): Key path value '<0;1>' specifies multipath in a section where multipath is not allowed"
    ],
    [`pkh(${MASTER}/<0;1>)`, "Multipath descriptor not accepted"]
  ])("%s", (text, reason) => {
    assert.strictEqual(reasonOf(withChecksum(text)), reason)
  })

  it("more than 15 keys in P2SH are refused", () => {
    assert.strictEqual(reasonOf(withChecksum(`sh(multi(1${`,${ONE}`.repeat(15)}))`)), "")
  })

  it.each([
    [`pkh(${ONE})`, "Missing checksum"],
    [`pkh(${ONE})#00000000`, "Provided checksum '00000000' does not match computed checksum 'e48zzw02'"],
    [`pkh(${ONE})#0000000`, "Expected 8 character checksum, not 7 characters"],
    [`pkh(${ONE})#e48zzw02#`, "Multiple '#' symbols"],
    ["pkh(\u00e9)#00000000", "Invalid characters in payload"]
  ])("%s", (text, reason) => {
    assert.strictEqual(reasonOf(text), reason)
  })
})
