import { Effect } from "effect"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { paramsOf } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { networks } from "../../src/protocol/networks.ts"
import { importNames, nameOf, NAMES_PER_BLOCK, openNames } from "./nameDb.ts"

/** Searches of a kind that are timed. */
const QUERIES = 400

const PAGE = 100

export const percentileOf = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 100) / 100

/**
 * Searches over many names, one page each: a text of one name, a part of a text that some names have, a text that all
 * have from any page on, an item of values, and names that expire. First the time until the indexes are built behind
 * the import.
 */
export const benchSearch = async ({ names }: { readonly names: number }): Promise<object> => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-search-"))
  const filename = join(folder, "names.db")
  const tipHeight = Math.ceil(names / NAMES_PER_BLOCK) - 1
  const clock = { tipHeight, params: paramsOf(networks.mainnet) }
  const label = (index: number): string => Buffer.from(nameOf((index * 7919) % names)).toString("latin1")

  const timed = (queryAt: (index: number) => { readonly asked: NameDb.NameQuery; readonly cursor?: string }) =>
    Effect.gen(function*() {
      const db = yield* NameDb.NameDb
      const times: Array<number> = []
      let found = 0
      for (let i = 0; i < QUERIES; i++) {
        const { asked, cursor } = queryAt(i)
        const started = performance.now()
        const { records } = yield* db.find({ includeExpired: true, ...asked }, { clock, limit: PAGE, cursor })
        times.push(performance.now() - started)
        found += records.length
      }
      times.sort((a, b) => a - b)
      return {
        p50Milliseconds: percentileOf(times, 0.5),
        p99Milliseconds: percentileOf(times, 0.99),
        namesFound: Math.round(found / QUERIES)
      }
    })

  const measured = Effect.gen(function*() {
    const db = yield* NameDb.NameDb
    const importSeconds = yield* importNames(names)
    const started = performance.now()
    for (let indexed = 0; indexed < 1;) {
      yield* Effect.sleep("500 millis")
      indexed = (yield* db.find({ changedSince: tipHeight }, { clock, limit: 1 })).indexed
    }
    const buildSeconds = (performance.now() - started) / 1000
    return {
      names,
      importSeconds: Math.round(10 * importSeconds) / 10,
      buildSeconds: Math.round(buildSeconds),
      oneName: yield* timed((i) => ({ asked: { text: label(i) } })),
      threeCharacters: yield* timed((i) => ({ asked: { text: label(i).slice(3, 6) } })),
      fourCharacters: yield* timed((i) => ({ asked: { text: label(i).slice(2, 6) } })),
      everyName: yield* timed((i) => ({
        asked: { text: "198.51.100.7" },
        cursor: `1.text.${Math.floor((names * i) / QUERIES)}`
      })),
      absent: yield* timed((i) => ({ asked: { text: `no such ${i} text` } })),
      pair: yield* timed((i) => ({ asked: { key: "ip", value: `192.0.2.${i % 256}` } })),
      key: yield* timed(() => ({ asked: { key: "ip" } })),
      expiring: yield* timed((i) => ({ asked: { expiresWithin: 100 + 10 * i } })),
      changed: yield* timed((i) => ({ asked: { changedSince: tipHeight - i } }))
    }
  })

  try {
    const figures = await Effect.runPromise(measured.pipe(
      Effect.provide(openNames(filename))
    ))
    return { ...figures, fileMB: Math.round(statSync(filename).size / 1e6) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
