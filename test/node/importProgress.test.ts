import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, TestClock } from "effect"
import type { ProgressTerminal } from "../../src/base/progressBar.ts"
import { Chain, type ChainProgress } from "../../src/chain/Chain.ts"
import type { ImportProgress } from "../../src/chain/import/ImportRun.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { drawBar, showImport, summarize } from "../../src/node/layers/files.ts"
import { noTree } from "../support/noTree.ts"

const blocks = (change: Partial<ImportProgress> = {}): ImportProgress => ({
  phase: "blocks",
  done: 5_000,
  total: 20_000,
  bytesDone: 25_000_000,
  bytesTotal: 100_000_000,
  height: 4_999,
  elapsedMs: 10_000,
  ...change
})

const headers = (change: Partial<ImportProgress> = {}): ImportProgress => blocks({ phase: "headers", ...change })

describe("summarize", () => {
  it("returns rate, share and remaining time, based on bytes", () => {
    assert.deepStrictEqual(summarize(blocks()), {
      height: 4_999,
      blocks: 5_000,
      of: 20_000,
      blocksPerSecond: 500,
      etaSeconds: 30,
      share: 0.25
    })
  })

  it("returns sensible values at the very start, for empty files, and beyond the end", () => {
    const nothing = summarize(blocks({ done: 0, total: 0, bytesDone: 0, bytesTotal: 0, elapsedMs: 0 }))
    assert.deepStrictEqual([nothing.blocksPerSecond, nothing.etaSeconds, nothing.share], [0, 0, 0])
    const over = summarize(blocks({ bytesDone: 200_000_000 }))
    assert.strictEqual(over.share, 1)
    assert.isAtMost(over.etaSeconds, 0)
  })
})

describe("drawBar", () => {
  it("draws a bar proportional to the progress", () => {
    assert.strictEqual(
      drawBar(blocks(), 120),
      `[${"#".repeat(10)}${".".repeat(30)}]  25% height 4999, 500 blocks/s, 0:30 left`
    )
    assert.match(drawBar(blocks({ bytesDone: 0 }), 120), /^\[\.{40}\] {3}0% height/)
    assert.match(drawBar(blocks({ bytesDone: 100_000_000 }), 120), /^\[#{40}\] 100% height/)
    assert.match(drawBar(blocks({ bytesDone: 99_999_999 }), 120), / 99% height/)
    assert.strictEqual(drawBar(headers(), 120), `[${"#".repeat(10)}${".".repeat(30)}]  25% reading headers, 5000 found`)
  })

  it("distinguishes hours from minutes", () => {
    const left = (seconds: number): string =>
      drawBar(blocks({ bytesDone: 1_000_000, elapsedMs: seconds * 1000 / 99 }), 120)
    assert.match(left(59), / 0:59 left$/)
    assert.match(left(60), / 1:00 left$/)
    assert.match(left(3_599), / 59:59 left$/)
    assert.match(left(3_600), / 1:00:00 left$/)
    assert.match(left(90_061), / 25:01:01 left$/)
  })

  it("is always narrower than the terminal, and loses the bar before it loses words", () => {
    for (const progress of [blocks(), headers(), blocks({ bytesDone: 100_000_000, height: 800_000 })]) {
      for (let columns = 0; columns <= 200; columns++) {
        const line = drawBar(progress, columns)
        assert.isAtMost(line.length, Math.max(0, columns - 1), `${columns} columns`)
      }
    }
    const facts = " 25% height 4999, 500 blocks/s, 0:30 left"
    assert.strictEqual(drawBar(blocks(), facts.length + 13), facts)
    assert.strictEqual(
      drawBar(blocks(), facts.length + 14),
      `[###.......] ${facts}`.replace("[###.......]", "[###.......]")
    )
    assert.strictEqual(drawBar(blocks(), 10), facts.slice(0, 9))
    assert.strictEqual(drawBar(blocks(), 0), "")
  })
})

describe("showImport", () => {
  const CLEAR = "\r\u001b[2K"

  /** A chain with the import that the test describes. */
  const chainOf = (importing: () => ImportProgress | undefined) =>
    Layer.mock(Chain, {
      params: regtestParams,
      tree: noTree,
      progress: Effect.sync((): ChainProgress => ({
        tip: { height: 0, hash: new Uint8Array(32) },
        headers: 0,
        importing: importing(),
        behind: false,
        missing: undefined
      }))
    })

  /** Runs `showImport`; returns its output and its log. */
  const showing = (
    onTerminal: boolean,
    use: (
      shown: {
        readonly written: Array<string>
        readonly logged: Array<unknown>
        readonly become: (progress: ImportProgress | undefined) => void
        readonly resize: (columns: number) => void
        readonly end: Effect.Effect<unknown>
      }
    ) => Effect.Effect<void>
  ) =>
    Effect.gen(function*() {
      let now: ImportProgress | undefined
      let columns = 60
      const written: Array<string> = []
      const logged: Array<unknown> = []
      const terminal: ProgressTerminal = {
        get columns() {
          return columns
        },
        write: (text) => void written.push(text)
      }
      const logger = Logger.make(({ message }) => void logged.push(message))
      const fiber = yield* showImport(onTerminal ? terminal : undefined).pipe(
        Effect.provide(Layer.merge(chainOf(() => now), Logger.replace(Logger.defaultLogger, logger))),
        Effect.fork
      )
      yield* use({
        written,
        logged,
        become: (progress) => {
          now = progress
        },
        resize: (wide) => {
          columns = wide
        },
        end: Fiber.interrupt(fiber)
      })
    })

  it.effect("draws five times a second at the width of a terminal, and clears its line at the end", () =>
    showing(true, ({ become, end, logged, resize, written }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(written, [])
        become(headers())
        yield* TestClock.adjust("200 millis")
        assert.deepStrictEqual(written.splice(0), [CLEAR + drawBar(headers(), 60)])
        become(blocks())
        resize(100)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(written.splice(0), Array.from({ length: 5 }, () => CLEAR + drawBar(blocks(), 100)))
        become(undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(written, [])
        yield* end
        assert.deepStrictEqual(written, [CLEAR])
        assert.deepStrictEqual(logged, [])
      })))

  it.effect("logs a line every thirty seconds without a terminal, and none for a shorter import", () =>
    showing(false, ({ become, end, logged, written }) =>
      Effect.gen(function*() {
        become(headers())
        yield* TestClock.adjust("29999 millis")
        assert.deepStrictEqual(logged, [])
        yield* TestClock.adjust("1 millis")
        const facts = { height: 4_999, blocks: 5_000, of: 20_000, blocksPerSecond: 500, etaSeconds: 30 }
        assert.deepStrictEqual(logged.splice(0), [["reading headers", facts]])
        become(blocks({ height: 5 }))
        yield* TestClock.adjust("29999 millis")
        assert.deepStrictEqual(logged, [])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(logged.splice(0), [["importing blocks", { ...facts, height: 5 }]])
        yield* TestClock.adjust("150 seconds")
        assert.strictEqual(logged.splice(0).length, 5)
        yield* end
        yield* TestClock.adjust("60 seconds")
        assert.deepStrictEqual([logged, written], [[], []])
      })))
})
