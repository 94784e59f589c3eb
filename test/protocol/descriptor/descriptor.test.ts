import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { descriptorChecksum, descriptorOf, witnessDescriptorOf } from "../../../src/protocol/descriptor/descriptor.ts"
import { mainnet, regtest } from "../../../src/protocol/networks.ts"
import { bytesOf, hex } from "../../support/bytes.ts"

const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const KEY_2 = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
const X_ONLY = KEY.slice(2)
const UNCOMPRESSED = `04${X_ONLY}483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8`
const HYBRID = `06${UNCOMPRESSED.slice(2)}`
/** This x is not on the curve (BIP 340, test vector 5). */
const OFF_CURVE = "eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34"
const NAME = "53016101626d75"
const P2PKH = "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac"

describe("checksums", () => {
  it.each([
    // Printed by the reference node (reference/rpc.md 3.2, 3.4).
    ["addr(mv5eQbKYVrKeu5pjgfU9tu5kuAyVLjhEiR)", "dc8qct2l"],
    ["addr(ncrt1qxvenxvenxvenxvenxvenxvenxvenxvengnm3wg)", "k03dns2c"],
    ["raw(5303642f62056d6f7665646d7576a914d932a2ed0af4782b6769f6059d3fb16ad8826b7688ac)", "ukj4rk4j"],
    // BIP 380.
    ["raw(deadbeef)", "89f8spxm"]
  ])("%s has the checksum %s", (descriptor, checksum) => assert.strictEqual(descriptorChecksum(descriptor), checksum))

  it.each(["raw(deadbeef\u00e4)", "\n", "raw(\u0000)", "\u007f"])("%j has no checksum", (text) => {
    assert.isUndefined(descriptorChecksum(text))
  })

  it("the checksum detects every change of one character", () => {
    const characters = [
      ..."0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
    ]
    const text = FastCheck.array(FastCheck.constantFrom(...characters), { minLength: 1, maxLength: 100 })
    FastCheck.assert(
      FastCheck.property(text, FastCheck.nat(), FastCheck.constantFrom(...characters), (letters, at, other) => {
        const place = at % letters.length
        if (letters[place] === other) return
        const changed = letters.with(place, other)
        assert.notStrictEqual(descriptorChecksum(changed.join("")), descriptorChecksum(letters.join("")))
      })
    )
  })
})

const without = (descriptor: string): string => {
  const [text = "", checksum] = descriptor.split("#")
  assert.strictEqual(checksum, descriptorChecksum(text))
  return text
}

describe("descriptors of output scripts", () => {
  it.each([
    ["a key", `21${KEY}ac`, `pk(${KEY})`],
    ["an uncompressed key", `41${UNCOMPRESSED}ac`, `pk(${UNCOMPRESSED})`],
    ["a hybrid key", `41${HYBRID}ac`, `raw(41${HYBRID}ac)`],
    ["a multisig", `5121${KEY}41${UNCOMPRESSED}52ae`, `multi(1,${KEY},${UNCOMPRESSED})`],
    ["a multisig with a hybrid key", `5141${HYBRID}51ae`, `raw(5141${HYBRID}51ae)`],
    ["a multisig of more than three", `51${`21${KEY}`.repeat(4)}54ae`, `multi(1,${KEY},${KEY},${KEY},${KEY})`],
    ["taproot", `5120${X_ONLY}`, `rawtr(${X_ONLY})`],
    ["a key hash", P2PKH, "addr(mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r)"],
    ["a script hash", "a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487", "addr(2NAUYAHhujozruyzpsFRP63mbrdaU5wnEpN)"],
    ["an anchor", "51024e73", "addr(ncrt1pfeesjnvuq8)"],
    ["null data", "6a00", "raw(6a00)"],
    ["nothing", "", "raw()"],
    ["a name held by a key hash", `${NAME}${P2PKH}`, `raw(${NAME}${P2PKH})`],
    ["a name held by a witness", `${NAME}0014${"11".repeat(20)}`, `raw(${NAME}0014${"11".repeat(20)})`],
    ["a name held by a multisig: the multisig", `${NAME}5121${KEY}51ae`, `multi(1,${KEY})`],
    ["a name held by taproot: the key", `${NAME}5120${X_ONLY}`, `rawtr(${X_ONLY})`],
    ["a name held by taproot off the curve", `${NAME}5120${OFF_CURVE}`, `raw(${NAME}5120${OFF_CURVE})`]
  ])("%s", (_, script, expected) => assert.strictEqual(without(descriptorOf(regtest, hex(script))), expected))

  it.each([OFF_CURVE, "ff".repeat(32)])(
    "taproot without a point has an address as any witness program: %s",
    (x) => {
      assert.match(without(descriptorOf(regtest, hex(`5120${x}`))), /^addr\(ncrt1p[a-z0-9]{58}\)$/)
    }
  )

  it("an address is that of the network", () => {
    assert.strictEqual(without(descriptorOf(mainnet, hex(P2PKH))), "addr(N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR)")
  })

  it("any bytes have a descriptor", () => {
    FastCheck.assert(FastCheck.property(bytesOf(0, 100), (script) => {
      assert.match(without(descriptorOf(regtest, script)), /^(?:raw|addr|pk|multi|rawtr)\(.*\)$/)
    }))
  })
})

describe("descriptors of witness scripts", () => {
  it.each([
    ["a multisig", `5221${KEY}21${KEY_2}52ae`, `wsh(multi(2,${KEY},${KEY_2}))`],
    ["a key", `21${KEY}ac`, `wsh(pk(${KEY}))`],
    ["a miniscript", `21${KEY}ad029000b2`, `wsh(and_v(v:pk(${KEY}),older(144)))`],
    ["a multisig with the same key twice", `5221${KEY}21${KEY}52ae`, `wsh(multi(2,${KEY},${KEY}))`],
    ["a multisig behind a name prefix: the multisig", `${NAME}5121${KEY}51ae`, `wsh(multi(1,${KEY}))`]
  ])("%s", (_, script, expected) => {
    assert.strictEqual(without(witnessDescriptorOf(hex(script)) ?? ""), expected)
  })

  it.each([
    ["a script without a signature", "51"],
    ["a script that is not a miniscript", "74"],
    ["a script of nothing", ""]
  ])("no witness descriptor for %s", (_, script) => assert.isUndefined(witnessDescriptorOf(hex(script))))
})
