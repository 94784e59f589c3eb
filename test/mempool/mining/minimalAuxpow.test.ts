import { assert, describe, it } from "@effect/vitest"
import { checkProofOfWork } from "../../../src/consensus/header.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { mineParent, minimalAuxpow, parentCoinbase } from "../../../src/mempool/mining/minimalAuxpow.ts"
import { displayHash, fromHex, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"

/** Regtest block 1 of reference/protocol.md A.5. */
const HASH = "f2553bf57c0fe633f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb34"
const COINBASE = "010000000100000000000000000000000000000000000000000000000000000000000000" +
  "00ffffffff2928f2553bf57c0fe633f93e2cccac041c48233e0cbf16a8d4621c1bfec1d051cb340100000000000000ffffffff0000000000"
const PARENT = "0100000000000000000000000000000000000000000000000000000000000000000000" +
  "004bef56443e9fd794f62f2df45a216f938575dbeb356434e55bed4009c90b6253000000000000000001000000"
const AUXPOW = `${COINBASE}${"00".repeat(32)}0000000000` + `0000000000${PARENT}`

const { powLimit } = regtestParams
const coinbase = parentCoinbase(parseDisplayHash(HASH) ?? assert.fail())
const work = { coinbase, bits: 0x207fffff, powLimit }

describe("minimalAuxpow", () => {
  it("makes the proof of the reference node", () => {
    assert.strictEqual(toHex(coinbase.bytes), COINBASE)
    const parent = mineParent(work, { first: 0, count: 10 }) ?? assert.fail("no nonce")
    assert.strictEqual(toHex(parent.bytes), PARENT)
    assert.strictEqual(toHex(minimalAuxpow(coinbase, parent).bytes), AUXPOW)
  })

  it("tries exactly the given nonces", () => {
    assert.isUndefined(mineParent(work, { first: 0, count: 1 }), "the first that is good is 1")
    assert.isUndefined(mineParent(work, { first: 0, count: 0 }))
    assert.strictEqual(mineParent(work, { first: 0, count: 2 })?.nonce, 1)
    assert.strictEqual(mineParent(work, { first: 1, count: 1 })?.nonce, 1)
    assert.isAbove(mineParent(work, { first: 2, count: 100 })?.nonce ?? 0, 1)
  })

  it("meets our own target, and finds nothing for an invalid one", () => {
    const harder = mineParent({ ...work, bits: 0x1f7fffff }, { first: 0, count: 100_000 }) ?? assert.fail("no nonce")
    assert.match(displayHash(harder.hash), /^00/)
    assert.isUndefined(mineParent({ ...work, bits: 0 }, { first: 0, count: 1_000 }))
  })

  it("proves any header", () => {
    for (let time = 1; time <= 20; time++) {
      const header = makeHeader({
        version: 0x00010104,
        prevHash: fromHex("11".repeat(32)) ?? assert.fail(),
        merkleRoot: new Uint8Array(32),
        time,
        bits: 0x207fffff,
        nonce: 0
      })
      const coinbase = parentCoinbase(header.hash)
      const parent = mineParent({ ...work, coinbase }, { first: 0, count: 1_000 }) ?? assert.fail("no nonce")
      const auxpow = minimalAuxpow(coinbase, parent)
      assert.isUndefined(checkProofOfWork({ header, auxpow }, regtestParams))
    }
  })
})
