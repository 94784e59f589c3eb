import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  coinKey,
  decodeCoin,
  decodeUndo,
  encodeCoin,
  encodeUndo,
  keyInto,
  outpointOfKey,
  readCoin
} from "../../../src/chain/state/coinCodec.ts"
import type { Coin, NameClaim } from "../../../src/consensus/view.ts"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"
import { concat, EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import { nameKey } from "../../../src/protocol/keys.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { bytesOf, decodeError, everyTruncationFails, hex } from "../../support/bytes.ts"

const coins: FastCheck.Arbitrary<Coin> = FastCheck.record({
  value: FastCheck.oneof(FastCheck.nat(300), FastCheck.integer({ min: 0, max: MAX_MONEY })),
  script: FastCheck.oneof(bytesOf(0, 40), bytesOf(250, 260)),
  height: FastCheck.oneof(FastCheck.nat(300), FastCheck.nat(0x7fffffff)),
  coinbase: FastCheck.boolean()
})
const u32 = FastCheck.oneof(FastCheck.nat(300), FastCheck.integer({ min: 0, max: 0xffffffff }))
const outpoints = FastCheck.tuple(bytesOf(32), u32).map(([txid, index]) => outpointKey(outpoint(txid, index)))
const claims: FastCheck.Arbitrary<NameClaim> = FastCheck.record({ height: u32, outpoint: outpoints })

const shown = ({ script, ...coin }: Coin): object => ({ ...coin, script: toHex(script) })

describe("coins", () => {
  it("decoding a coin returns the encoded coin", () => {
    FastCheck.assert(FastCheck.property(coins, (coin) => {
      assert.deepStrictEqual(shown(decodeCoin(encodeCoin(coin))), shown(coin))
    }))
  })

  it("a coin between other bytes is read as it is decoded alone, with a script of its own", () => {
    FastCheck.assert(FastCheck.property(coins, bytesOf(0, 9), FastCheck.boolean(), (coin, around, isBuffer) => {
      const plain = concat(around, encodeCoin(coin), around)
      const bytes = isBuffer ? Buffer.from(plain) : plain
      const read = readCoin(bytes, around.length, bytes.length - around.length)
      bytes.fill(0)
      assert.deepStrictEqual(shown(read), shown(coin))
    }))
  })

  it.each([
    [0, 0, false, "", "0000"],
    [126, 1, false, "51", "fc0151"],
    [126, 1, true, "51", "fdfd000151"],
    [1, MAX_MONEY, true, "", "03ff0040075af0750700"]
  ])("at height %d of %d, coinbase %s, script %j: %s", (height, value, coinbase, script, expected) => {
    assert.strictEqual(toHex(encodeCoin({ height, value, coinbase, script: hex(script) })), expected)
  })

  it("a coin with an incomplete head fails to decode", () => {
    // The script fills the rest, so only the fields before it can be too short.
    everyTruncationFails(encodeCoin({ value: MAX_MONEY, height: 800_000, coinbase: true, script: EMPTY }), decodeCoin)
    decodeError(() => decodeCoin(hex("fd000000")))
  })
})

describe("keys", () => {
  it("keys decode to their outpoints, and order coins by txid and index", () => {
    const near = FastCheck.tuple(FastCheck.uint8Array({ minLength: 32, maxLength: 32, max: 1 }), u32)
    FastCheck.assert(FastCheck.property(near, near, FastCheck.boolean(), (one, other, sameTxid) => {
      const [a, i] = one
      const [b, j] = sameTxid ? [a, other[1]] : other
      const [first, second] = [outpointKey(outpoint(a, i)), outpointKey(outpoint(b, j))]
      assert.strictEqual(outpointOfKey(coinKey(first)), first)
      const key = new Uint8Array(36)
      keyInto(first, key)
      assert.strictEqual(toHex(key), toHex(coinKey(first)))
      const expected = Buffer.compare(a, b) || Math.sign(i - j)
      assert.strictEqual(Buffer.compare(coinKey(first), coinKey(second)), expected)
    }))
  })

  it("keys have the index in big endian", () => {
    assert.strictEqual(
      coinKey(outpointKey(outpoint(new Uint8Array(32), 0x01020304))).toString("hex").slice(64),
      "01020304"
    )
  })
})

describe("undo data", () => {
  const undos = FastCheck.record({
    removed: FastCheck.array(FastCheck.tuple(outpoints, coins), { maxLength: 8 }).map((list) => new Map(list)),
    claimsBefore: FastCheck.array(
      FastCheck.tuple(bytesOf(0, 255).map(nameKey), FastCheck.option(claims, { nil: undefined })),
      { maxLength: 8 }
    ).map((list) => new Map(list))
  })

  it("undo data decode in order, and fail if truncated or followed by other bytes", () => {
    FastCheck.assert(
      FastCheck.property(undos, (undo) => {
        const bytes = encodeUndo(undo)
        const read = decodeUndo(bytes)
        assert.deepStrictEqual(
          [...read.removed].map(([key, coin]) => [key, shown(coin)]),
          [...undo.removed].map(([key, coin]) => [key, shown(coin)])
        )
        assert.deepStrictEqual([...read.claimsBefore], [...undo.claimsBefore])
        decodeError(() => decodeUndo(concat(bytes, hex("00"))))
        if (bytes.length < 800) everyTruncationFails(bytes, decodeUndo)
      }),
      { numRuns: 60 }
    )
  })

  it("empty undo data are two zero counts", () => {
    assert.strictEqual(toHex(encodeUndo({ removed: new Map(), claimsBefore: new Map() })), "0000")
  })

  it("decoded scripts are copies, not views of the input", () => {
    const bytes = encodeUndo({
      removed: new Map([[outpointKey(outpoint(new Uint8Array(32), 1)), {
        value: 1,
        height: 1,
        coinbase: false,
        script: hex("aa")
      }]]),
      claimsBefore: new Map()
    })
    const [coin] = decodeUndo(bytes).removed.values()
    bytes.fill(0)
    assert.strictEqual(toHex(coin?.script ?? EMPTY), "aa")
  })

  it("arbitrary bytes decode or fail with a DecodeError", () => {
    FastCheck.assert(
      FastCheck.property(bytesOf(0, 100), (bytes) => {
        for (const decode of [decodeUndo, decodeCoin]) {
          try {
            decode(bytes)
          } catch (cause) {
            decodeError(() => {
              throw cause
            })
          }
        }
      }),
      { numRuns: 500 }
    )
  })
})
