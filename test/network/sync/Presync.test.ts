import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import { Presync, type PresyncOptions, presyncParameters } from "../../../src/network/sync/Presync.ts"
import type { BlockHeader } from "../../../src/protocol/block.ts"
import { type Bytes, equal } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"

const BITS = 0x207fffff

const GENESIS = new Uint8Array(32).fill(7)

/** Headers after a hash; `salt` distinguishes chains. Each has work 2. */
const chain = (count: number, salt = 0, after: Bytes = GENESIS, bits = BITS): ReadonlyArray<BlockHeader> => {
  const headers: Array<BlockHeader> = []
  let prevHash = after
  for (let i = 0; i < count; i++) {
    const header = makeHeader({ version: 4, prevHash, merkleRoot: new Uint8Array(32), time: i, bits, nonce: salt })
    headers.push({ header, auxpow: undefined })
    prevHash = header.hash
  }
  return headers
}

const begin = (overrides: Partial<PresyncOptions> = {}): Presync =>
  new Presync({
    params: regtestParams,
    parameters: { period: 5, buffer: 20 },
    start: { hash: GENESIS, height: 10, bits: BITS, chainwork: 22n, medianTimePast: 1_000_000 },
    threshold: 22n + 200n,
    now: 1_000_600,
    key: [1, 2, 3, 4],
    offset: 2,
    ...overrides
  })

/** Sends a chain in messages of some size while more is requested. Returns the released headers and the result. */
const feed = (
  presync: Presync,
  first: ReadonlyArray<BlockHeader>,
  second: ReadonlyArray<BlockHeader>,
  size: number
) => {
  const released: Array<BlockHeader> = []
  let served = first
  let [sound, more, least] = [true, true, 0]
  while (sound && more) {
    const at = equal(presync.next, GENESIS) ? 0 : served.findIndex(({ header }) => equal(header.hash, presync.next)) + 1
    // The second pass starts where the first one did.
    if (at === 0 && presync.lookedAt === 10 && least > 0) served = second
    const message = served.slice(at, at + size)
    if (message.length === 0) break
    const step = presync.take(message, message.length === size)
    least++
    sound = step.sound
    more = step.more
    released.push(...step.released)
  }
  return { released, sound }
}

describe("Presync", () => {
  it("the parameters are those of reference/protocol.md 1.1", () => {
    assert.deepStrictEqual(presyncParameters, {
      mainnet: { period: 641, buffer: 15_218 },
      testnet: { period: 673, buffer: 14_460 },
      regtest: { period: 275, buffer: 7_017 }
    })
  })

  it("property: a chain with enough work is released completely and in order, for any message sizes", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 100, max: 260 }),
        FastCheck.integer({ min: 1, max: 80 }),
        FastCheck.integer({ min: 0, max: 4 }),
        (count, size, offset) => {
          const headers = chain(count)
          const { released, sound } = feed(begin({ offset }), headers, headers, size)
          assert.isTrue(sound)
          assert.isAtLeast(released.length, 100)
          assert.deepStrictEqual(released, headers.slice(0, released.length))
        }
      ),
      { numRuns: 40 }
    )
  })

  it("nothing is released of a chain whose work is one below the threshold", () => {
    const enough = chain(100)
    assert.lengthOf(feed(begin(), enough, enough, 30).released, 100)
    const short = chain(99)
    assert.deepStrictEqual(feed(begin(), short, short, 30), { released: [], sound: true })
    assert.isFalse(begin().take(short, false).more)
    assert.isTrue(begin().take(short, true).more)
  })

  it("nothing is released before the buffer is full, or the work is reached", () => {
    const presync = begin()
    const headers = chain(100)
    assert.deepStrictEqual(presync.take(headers, false), { sound: true, released: [], more: true, cut: false })
    assert.lengthOf(presync.take(headers.slice(0, 20), true).released, 0)
    assert.lengthOf(presync.take(headers.slice(20, 21), true).released, 1)
    assert.lengthOf(presync.take(headers.slice(21, 99), true).released, 78)
    assert.deepStrictEqual(presync.take(headers.slice(99), true), {
      sound: true,
      released: headers.slice(79),
      more: false,
      cut: false
    })
  })

  it("a different chain in the second pass is detected before any of it is released", () => {
    let caught = 0
    for (let salt = 1; salt <= 20; salt++) {
      const { released, sound } = feed(
        begin({ parameters: { period: 2, buffer: 60 }, offset: 1 }),
        chain(100),
        chain(100, salt),
        50
      )
      if (!sound) {
        caught++
        assert.deepStrictEqual(released, [])
      }
    }
    // 29 bits are compared before the first header is released, too many to guess.
    assert.strictEqual(caught, 20)
  })

  it("a chain longer than possible is refused", () => {
    const parameters = { period: 1, buffer: 20 }
    const start = { hash: GENESIS, height: 10, bits: BITS, chainwork: 0n, medianTimePast: 1_000_000 }
    // The clock may be two hours off, and six blocks per second are possible.
    const most = 6 * 7_200
    const long = begin({ parameters, offset: 0, start, now: 1_000_000, threshold: 1n << 100n })
    const headers = chain(most + 1)
    assert.isTrue(long.take(headers.slice(0, most), true).sound)
    assert.isFalse(long.take(headers.slice(most), true).sound)
  })

  it("headers that do not connect, or have an impossible difficulty, are refused", () => {
    assert.isFalse(begin().take(chain(3).slice(1), true).sound)
    const [first, , third] = chain(3)
    if (first === undefined || third === undefined) throw new Error("too short")
    assert.isFalse(begin().take([first, third], true).sound)
    const start = { hash: GENESIS, height: 10, bits: 0x1d00ffff, chainwork: 22n, medianTimePast: 1_000_000 }
    const strict = { params: mainnetParams, start, threshold: 1n << 100n }
    assert.isTrue(begin(strict).take(chain(3, 0, GENESIS, 0x1d00ffff), true).sound)
    assert.isFalse(begin(strict).take(chain(3, 0, GENESIS, 0x1d00fffe), true).sound)
  })

  it("after an anchor, the first header may have any difficulty, and fixes that of the next ones", () => {
    const start = { hash: GENESIS, height: 10, bits: undefined, chainwork: 22n, medianTimePast: 1_000_000 }
    const anchored = { params: mainnetParams, start, threshold: 1n << 100n }
    const one = chain(1, 0, GENESIS, 0x1d00fffe)
    assert.isTrue(begin(anchored).take(one, true).sound)
    const changed = [...one, ...chain(1, 0, one[0]?.header.hash, 0x1d00ffff)]
    assert.isFalse(begin(anchored).take(changed, true).sound)
  })

  it("an anchor ends both passes, and nothing after it is released", () => {
    const headers = chain(100)
    const hash = headers[59]?.header.hash ?? GENESIS
    const params = { ...regtestParams, anchors: [{ hash, height: 70, chainwork: 1n }] }
    const presync = begin({ params, threshold: 1n << 100n })
    assert.isTrue(presync.take(headers.slice(0, 40), true).more)
    assert.deepStrictEqual(presync.take(headers.slice(40, 80), true), {
      sound: true,
      released: [],
      more: true,
      cut: false
    })
    assert.deepStrictEqual(presync.next, GENESIS)
    const early = presync.take(headers.slice(0, 40), true).released
    const { cut, more, released } = presync.take(headers.slice(40, 80), true)
    assert.deepStrictEqual([...early, ...released], headers.slice(0, 60))
    assert.isFalse(more)
    // The peer is asked for the headers after the anchor again.
    assert.isTrue(cut)
    // The same block at another height is none.
    const other = begin({
      params: { ...params, anchors: [{ hash, height: 71, chainwork: 1n }] },
      threshold: 1n << 100n
    })
    other.take(headers.slice(0, 80), true)
    assert.deepStrictEqual(other.next, headers[79]?.header.hash)
  })

  it("the last checked header and its height are returned", () => {
    const presync = begin()
    const headers = chain(4)
    presync.take(headers, true)
    assert.strictEqual(presync.lookedAt, 14)
    assert.deepStrictEqual(presync.next, headers[3]?.header.hash)
    assert.isTrue(presync.continues(chain(1, 5, headers[3]?.header.hash)))
    assert.isFalse(presync.continues([]))
  })
})
