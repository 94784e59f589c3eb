import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Logger } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Cursor } from "../../../src/chain/write/Follower.ts"
import {
  isEarlierSerial,
  KEPT_SERIALS,
  printSerials,
  readSerials,
  rowOfBlock,
  type SerialRow,
  withTip
} from "../../../src/dns/transfer/serials.ts"
import * as Zone from "../../../src/dns/transfer/ZoneSerials.ts"
import { CommitSignal } from "../../../src/names/CommitSignal.ts"
import { temporaryDirectory } from "../../support/chain.ts"

const hashOf = (height: number, branch: number): Uint8Array => {
  const hash = new Uint8Array(32).fill(branch)
  new DataView(hash.buffer).setUint32(0, height)
  return hash
}

const tipOf = (height: number, branch = 0): Cursor => ({ height, hash: hashOf(height, branch) })

/** Steps of a chain: blocks that are added, or a branch that takes the place of the last blocks. */
const tips = FastCheck.array(FastCheck.record({ back: FastCheck.nat(5), on: FastCheck.integer({ min: 1, max: 3 }) }), {
  maxLength: 40
}).map((steps) => {
  let height = 100
  return steps.map(({ back, on }, branch) => {
    height = Math.max(0, height - back) + on
    return tipOf(height, branch)
  })
})

const serialsOf = (rows: ReadonlyArray<SerialRow>) => rows.map(({ serial }) => serial)

describe("serials", () => {
  it("grow with every tip, are at least its height, and survive their text", () => {
    FastCheck.assert(FastCheck.property(tips, (list) => {
      let rows: ReadonlyArray<SerialRow> = []
      let last = -1
      for (const tip of list) {
        rows = readSerials(printSerials({ made: "", rows: withTip(rows, tip) }))?.rows ?? []
        const row = rows.at(-1)
        assert.deepStrictEqual([row?.height, row?.hash], [tip.height, tip.hash])
        assert.isAbove(row?.serial ?? -1, last)
        assert.isAtLeast(row?.serial ?? -1, tip.height)
        assert.strictEqual(withTip(rows, tip), rows)
        last = row?.serial ?? -1
      }
    }))
  })

  it("are the height until a reorganisation, and one more for each tip after it", () => {
    let rows: ReadonlyArray<SerialRow> = []
    for (const tip of [tipOf(10), tipOf(11), tipOf(10, 1), tipOf(11, 1), tipOf(40, 1)]) rows = withTip(rows, tip)
    assert.deepStrictEqual(serialsOf(rows), [10, 11, 12, 13, 40])
    rows = withTip(rows, tipOf(10))
    assert.strictEqual(rowOfBlock(rows, hashOf(10, 0))?.serial, 41)
    assert.isUndefined(rowOfBlock(rows, hashOf(12, 0)))
  })

  it("are remembered for the last 300 tips", () => {
    let rows: ReadonlyArray<SerialRow> = []
    for (let height = 0; height < 400; height++) rows = withTip(rows, tipOf(height))
    assert.deepStrictEqual([rows.length, rows[0]?.serial, rows.at(-1)?.serial], [KEPT_SERIALS, 100, 399])
  })

  it("compare as RFC 1982 says", () => {
    assert.isTrue(isEarlierSerial(1, 2))
    assert.isTrue(isEarlierSerial(0xffff_ffff, 0))
    assert.isTrue(isEarlierSerial(800_000, 1_795_000_000))
    assert.isFalse(isEarlierSerial(2, 2))
    assert.isFalse(isEarlierSerial(3, 2))
  })

  it("are not read from a damaged text", () => {
    const whole = printSerials({ made: "1", rows: withTip(withTip([], tipOf(1)), tipOf(2)) })
    assert.isDefined(readSerials(whole))
    assert.isDefined(readSerials("{\"version\":1,\"made\":\"\",\"rows\":[]}"))
    for (
      const damaged of [
        "",
        "{}",
        whole.slice(0, -3),
        whole.replace("\"serial\":2", "\"serial\":3"),
        "{\"version\":2,\"made\":\"\",\"rows\":[]}",
        `{"version":1,"made":"","rows":[{"serial":-1,"height":0,"hash":"${"0".repeat(64)}"}]}`,
        `{"version":1,"made":"","rows":[{"serial":5,"height":0,"hash":"00"}]}`,
        `{"version":1,"made":"","rows":${
          JSON.stringify([6, 5].map((serial) => ({ serial, height: 5, hash: "0".repeat(64) })))
        }}`
      ]
    ) assert.isUndefined(readSerials(damaged), damaged)
  })
})

/** Names that a test moves on. */
class Tips {
  at: Cursor | undefined
  readonly signal = new CommitSignal()

  readonly tip = Effect.suspend(() => {
    const { count } = this.signal
    return Effect.succeed({ tip: this.at, passed: Effect.asVoid(this.signal.behind(count, { milliseconds: 60_000 })) })
  })

  move(at: Cursor): void {
    this.at = at
    this.signal.tell()
  }
}

const withSerials = <A, E>(
  filename: string | undefined,
  tips: Tips,
  use: (serial: typeof Zone.ZoneSerials.Service) => Effect.Effect<A, E>,
  made = "as configured"
) =>
  Effect.provide(
    Effect.flatMap(Zone.ZoneSerials, use),
    Zone.layer({ filename, made, tip: tips.tip }).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))
  )

describe("ZoneSerials", () => {
  it.scopedLive("follows the names, and goes on after a restart", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "dns", "serials.json")
      const tips = new Tips()
      yield* withSerials(file, tips, ({ after, serial, rows }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual([serial(), rows(), existsSync(file)], [0, [], false])
          tips.move(tipOf(20))
          assert.strictEqual(yield* after(0), 20)
          tips.move(tipOf(21))
          assert.strictEqual(yield* after(20), 21)
          tips.move(tipOf(20, 1))
          assert.strictEqual(yield* after(21), 22)
          assert.strictEqual(readSerials(readFileSync(file, "utf8"))?.rows.at(-1)?.serial, 22)
        }))
      yield* withSerials(file, tips, ({ serial }) => Effect.sync(() => assert.strictEqual(serial(), 22)))
      tips.move(tipOf(19, 2))
      yield* withSerials(file, tips, ({ serial }) => Effect.sync(() => assert.strictEqual(serial(), 23)))
      // The records differ from here on, though the tip does not.
      const others = ({ rows }: typeof Zone.ZoneSerials.Service) =>
        Effect.sync(() => assert.deepStrictEqual(serialsOf(rows()), [24]))
      yield* withSerials(file, tips, others, "other settings")
      yield* withSerials(file, tips, others, "other settings")
    }))

  it.scopedLive("goes on from the time in seconds without its damaged file, again and again", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "serials.json")
      const tips = new Tips()
      tips.move(tipOf(20))
      const started = Math.floor(Date.now() / 1000)
      writeFileSync(file, "{\"version\":1,\"rows\":[{")
      yield* withSerials(file, tips, ({ serial }) =>
        Effect.sync(() => {
          assert.isAtLeast(serial(), started)
          assert.isTrue(isEarlierSerial(20, serial()))
        }))
      yield* withSerials(file, tips, ({ after, serial }) =>
        Effect.gen(function*() {
          const before = serial()
          tips.move(tipOf(21))
          assert.strictEqual(yield* after(before), before + 1)
        }))
    }))

  it.scopedLive("goes on in memory where it cannot be saved", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const tips = new Tips()
      tips.move(tipOf(20))
      const file = join(directory, "serials.json")
      // Where the draft of the file would be.
      mkdirSync(`${file}.new`)
      yield* withSerials(file, tips, ({ after, serial }) =>
        Effect.gen(function*() {
          assert.strictEqual(serial(), 20)
          tips.move(tipOf(21))
          assert.strictEqual(yield* after(20), 21)
        }))
    }))
})
