import { Effect, Stream } from "effect"
import { importNames } from "../../scripts/bench/nameDb.ts"
import { mainnetParams } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
const filename = process.argv[2]!
const N = Number(process.argv[3])
const timed = <A, E, R>(what: string, e: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const t = performance.now()
    let worst = 0, last = t
    const i = setInterval(() => {
      const n = performance.now()
      worst = Math.max(worst, n - last)
      last = n
    }, 1)
    const r = yield* e
    clearInterval(i)
    console.log(
      what,
      Math.round(performance.now() - t),
      "ms, longest gap",
      Math.round(worst),
      typeof r === "object" ? JSON.stringify(r) : r
    )
  })
const text = (s: string) => new TextEncoder().encode(s)
await Effect.runPromise(
  Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    if ((yield* db.cursor) === undefined) console.log("import s", yield* importNames(N))
    const count = (s: Stream.Stream<unknown, unknown>) => Stream.runCount(s)
    yield* timed("scan all, match none", count(db.scan({ matches: () => false })))
    yield* timed("scan 500", count(db.scan({ count: 500 })))
    yield* timed("scan 500 prefix d/", count(db.scan({ count: 500, prefix: text("d/") })))
    yield* timed("scan maxConf", count(db.scan({ count: 500, minHeight: Math.floor(N / 20) - 6 })))
    yield* timed("prefix d/ab", count(db.scanByPrefix({ prefix: text("d/ab") })))
    yield* timed("stats", db.stats({ tipHeight: N / 20, params: mainnetParams }))
    yield* timed("expiring", count(db.expiringBetween({ from: 36000 + 100, to: 36000 + 244 }, mainnetParams)))
    const check = yield* db.check
    yield* timed("check", check.result.pipe(Effect.map((r) => r.faults)))
    yield* timed(
      "rewind 1000 blocks",
      db.follower.rewind({ height: Math.floor(N / 20) - 1001, hash: new Uint8Array(32) })
    )
  }).pipe(Effect.provide(NameDb.layer({ filename, pageSize: 4096 })))
)
