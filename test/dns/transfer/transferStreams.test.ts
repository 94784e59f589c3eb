import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { join } from "node:path"
import { type SerialRow, withTip } from "../../../src/dns/transfer/serials.ts"
import { BLOCKS_AT_ONCE } from "../../../src/dns/transfer/transferStreams.ts"
import { hash256 } from "../../../src/protocol/hash.ts"
import { applyAll, blockAt, type Operation, searchBuilt, text, withDb } from "../../names/blocks.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { applied, changesAtOnce, changesOf, editionOf, serialOf, soaOf, wholeOf, zoneOf } from "./zones.ts"

const NAMES = ["d/a", "d/b", "d/c", "dd/x", "dd/y", "dd/z", "d/*bad", "id/a"]

const VALUES = [
  { ip: "192.0.2.1" },
  { ip: ["192.0.2.1", "192.0.2.2"], map: { www: { alias: "" }, "*": { ip6: "2001:db8::1" } } },
  { ns: "ns.example.org." },
  { import: "dd/x" },
  { import: "dd/y", ip: "192.0.2.9" },
  { import: [["dd/z", "sub"]], map: { sub: { import: ["dd/x"], txt: "own" } } },
  { delegate: "dd/y", ip: "192.0.2.8" },
  { import: "d/a", map: { sub: { txt: "below", ip: "192.0.2.7" } } },
  { map: { sub: "192.0.2.6", deep: { map: { leaf: { import: " DD/X" } } } } },
  {},
  "not an object"
].map((value) => text(JSON.stringify(value)))

const operation: FastCheck.Arbitrary<Operation> = FastCheck.record({
  name: FastCheck.constantFrom(...NAMES.map(text)),
  value: FastCheck.constantFrom(...VALUES)
})

/** Blocks that replace the last `back` ones. Names expire after 30 blocks. */
const step = FastCheck.record({
  back: FastCheck.oneof({ weight: 3, arbitrary: FastCheck.constant(0) }, FastCheck.integer({ min: 1, max: 4 })),
  lists: FastCheck.array(FastCheck.array(operation, { maxLength: 2 }), { minLength: 1, maxLength: 12 })
})

const hashOf = (height: number, branch: number) => hash256(text(`block ${height} of ${branch}`))

describe("zone transfers", () => {
  it.effect.prop(
    "from any serial on give the zone that a whole transfer gives",
    { steps: FastCheck.array(step, { minLength: 2, maxLength: 8 }) },
    ({ steps }) =>
      Effect.scoped(Effect.gen(function*() {
        const filename = join(yield* temporaryDirectory, "names.db")
        const zones = new Map<number, ReadonlySet<string>>()
        const chain: Array<Uint8Array> = []
        let rows: ReadonlyArray<SerialRow> = []
        yield* withDb(filename, (db) =>
          Effect.forEach(steps, ({ back, lists }, branch) =>
            Effect.scoped(Effect.gen(function*() {
              const kept = Math.max(1, chain.length - back)
              if (kept < chain.length) {
                chain.length = kept
                yield* db.follower.rewind({ height: kept - 1, hash: chain[kept - 1] ?? new Uint8Array() })
              }
              for (const list of lists) {
                const height = chain.length
                const hash = hashOf(height, branch)
                yield* db.follower.apply([{ ...blockAt(height, list), hash }])
                chain.push(hash)
                rows = withTip(rows, { height, hash })
              }
              const edition = yield* editionOf(filename, rows)
              const whole = yield* wholeOf(edition)
              const zone = zoneOf(whole)
              for (const [serial, old] of zones) {
                const since = rows.find((row) =>
                  row.serial === serial
                )
                assert(since !== undefined)
                const changes = yield* changesOf(edition, since)
                const isInChain = chain[since.height] !== undefined &&
                  Buffer.compare(chain[since.height] ?? new Uint8Array(), since.hash) === 0
                assert.strictEqual(changes !== undefined, isInChain)
                const atOnce = yield* changesAtOnce(db, edition, since)
                const few = edition.row.height - since.height <= BLOCKS_AT_ONCE ? changes : undefined
                assert.deepStrictEqual(atOnce?.map(({ line }) => line), few?.map(({ line }) => line))
                if (changes === undefined) continue
                assert.strictEqual(serialOf(changes[1] ?? assert.fail("no second record")), serial)
                assert.deepStrictEqual([...applied(old, changes)].sort(), [...zone].sort())
              }
              zones.set(edition.row.serial, zone)
            })), { discard: true }))
      })),
    { fastCheck: { numRuns: 12 } }
  )

  it.effect("have the apex without SOA, imports, no expired names, and records once", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "names.db")
      yield* withDb(filename, (db) =>
        Effect.scoped(Effect.gen(function*() {
          const lists: ReadonlyArray<ReadonlyArray<Operation>> = [
            [{ name: text("d/old"), value: VALUES[0] ?? text("") }],
            [
              { name: text("d/imports"), value: text("{\"import\":\"dd/x\"}") },
              { name: text("dd/x"), value: text("{\"ip\":[\"192.0.2.5\",\"192.0.2.5\"]}") },
              { name: text("d/empty"), value: text("{}") },
              { name: text("d/Capital"), value: VALUES[0] ?? text("") }
            ],
            ...Array.from({ length: 28 }, () => [])
          ]
          let rows: ReadonlyArray<SerialRow> = []
          const blocks = lists.map((list, height) => blockAt(height, list))
          yield* applyAll(db, [blocks])
          for (const { hash, height } of blocks) rows = withTip(rows, { height, hash })
          const before = yield* editionOf(filename, rows)
          const shown = (lines: Effect.Effect.Success<ReturnType<typeof wholeOf>>) =>
            lines.map(({ owner, type }) => `${owner.replace(/[^a-z0-9-]/g, ".")} ${type}`)
          const names = shown(yield* wholeOf(before))
          assert.deepStrictEqual(names, [
            ".bit. 6",
            ".bit. 2",
            ".this.x--nmc.bit. 1",
            ".aia.x--nmc.bit. 5",
            ".imports.bit. 1",
            ".old.bit. 1",
            ".bit. 6"
          ])
          const next = blockAt(30)
          yield* db.follower.apply([next])
          rows = withTip(rows, next)
          const after = yield* editionOf(filename, rows)
          assert.notInclude(shown(yield* wholeOf(after)), ".old.bit. 1")
          const changes = yield* changesOf(after, before.row)
          assert.deepStrictEqual(changes?.map(({ type }) => type), [6, 6, 1, 6, 6])
          assert.lengthOf(yield* soaOf(after), 1)
        })))
    })))

  it.effect("need the index of importers for changes", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "names.db")
      yield* withDb(filename, (db) =>
        Effect.scoped(Effect.gen(function*() {
          const many = Array.from(
            { length: 600 },
            (_, at) => ({ name: text(`d/n${at}`), value: VALUES[3] ?? text("") })
          )
          const blocks = [blockAt(0), blockAt(1, many)]
          yield* applyAll(db, [blocks])
          let rows: ReadonlyArray<SerialRow> = []
          for (const { hash, height } of blocks) rows = withTip(rows, { height, hash })
          const since = rows[0] ?? assert.fail("no row")
          assert.isUndefined(yield* changesOf(yield* editionOf(filename, rows), since))
          yield* searchBuilt(db)
          assert.isDefined(yield* changesOf(yield* editionOf(filename, rows), since))
          const one = blockAt(2, [{ name: text("dd/x"), value: VALUES[0] ?? text("") }])
          yield* db.follower.apply([one])
          rows = withTip(rows, one)
          const edition = yield* editionOf(filename, rows)
          const changes = yield* changesOf(edition, rows[1] ?? since)
          assert.lengthOf(changes ?? [], 604)
        })))
    })))
})
