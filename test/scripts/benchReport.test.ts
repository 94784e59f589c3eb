import { describe, expect, it } from "@effect/vitest"
import { fork } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GROWTH_TITLE, REFERENCE_TITLE } from "../../scripts/bench/bars.ts"
import { ratiosOf, slowerFigures } from "../../scripts/bench/builds.ts"
import { measureSection } from "../../scripts/bench/measure.ts"
import { nextMessage } from "../../scripts/bench/nodeProcess.ts"
import { optionsOf } from "../../scripts/bench/options.ts"
import {
  figuresOf,
  type Measured,
  measuredIn,
  pageOf,
  type SectionText,
  withSection
} from "../../scripts/bench/report.ts"
import { TEXTS } from "../../scripts/bench/texts.ts"
import { inTurns, type Machine } from "../../scripts/bench/turnsOfTwo.ts"

const TITLES = ["Import", "Sync", "Start"]

const sections: ReadonlyArray<SectionText> = TITLES.map((title) => ({ title, text: `What ${title} is.` }))

const measured = (seconds: number): Measured => ({
  circumstances: "Measured on a day.",
  figures: figuresOf({ seconds, of: { blocks: 6_000 } })
})

const measuredPage = (titles: ReadonlyArray<string>): string =>
  titles.reduce((page, title) => withSection({ page, sections }, title, measured(1.25)), "")

describe("nextMessage", () => {
  it("says that the process of a measurement ended, and waits for nothing then", async () => {
    const child = fork("-", {
      execPath: process.execPath,
      execArgv: ["--eval", "process.send('first'); process.once('message', () => process.exit(3))"]
    })
    expect(await nextMessage(child, "the process")).toBe("first")
    child.send("end")
    const ended = "the process ended with status 3 before the measurement: see what it printed above"
    await expect(nextMessage(child, "the process")).rejects.toThrow(ended)
    await expect(nextMessage(child, "the process")).rejects.toThrow(ended)
  })
})

describe("the page of the bench", () => {
  it("has a new section in the order of the sections", () => {
    const page = measuredPage(["Start", "Import", "Sync"])
    expect(page.match(/^## .*$/gmu)).toEqual(["## Import", "## Sync", "## Start"])
    expect(page.match(/^# .*$/gmu)).toEqual(["# Performance"])
    expect(page).toContain(
      "What Sync is.\n\nMeasured on a day.\n\n| figure | value |\n|---|---|\n| seconds | 1.25 |\n| of.blocks | 6,000 |\n"
    )
  })

  it("replaces one section and keeps the others as they are", () => {
    const page = measuredPage(TITLES)
    const again = withSection({ page, sections }, "Sync", measured(2))
    expect(again).toBe(
      page.replace(
        "What Sync is.\n\nMeasured on a day.\n\n| figure | value |\n|---|---|\n| seconds | 1.25 |",
        () => "What Sync is.\n\nMeasured on a day.\n\n| figure | value |\n|---|---|\n| seconds | 2 |"
      )
    )
    expect(withSection({ page: again, sections }, "Sync", measured(2))).toBe(again)
  })

  it("drops a section that is not measured any more", () => {
    const page = withSection({ page: "", sections: [{ title: "Moon", text: "" }] }, "Moon", measured(1))
    expect(page).toContain("## Moon")
    expect(withSection({ page, sections }, "Start", measured(1))).not.toContain("Moon")
  })

  it("names the figures that miss a goal, and the goals that have no figure", () => {
    const goals: SectionText["goals"] = [["*.seconds", "<=", 2], ["rate", ">=", 1_000], ["idle", "<", 5], [
      "moon",
      "<",
      1
    ]]
    const figures = figuresOf({ one: { seconds: 2 }, two: { seconds: 2.5 }, rate: 999, idle: 5 })
    const page = pageOf(
      [{ title: "Start", text: "Text.", goals }],
      new Map([["Start", { figures, circumstances: "" }]])
    )
    expect(page).toContain(
      "Text.\n\nGoals: `*.seconds` <= 2; `rate` >= 1,000; `idle` < 5; `moon` < 1.\n\n" +
        "Misses: `two.seconds` is 2.50 (goal: <= 2); `rate` is 999 (goal: >= 1,000); `idle` is 5 (goal: < 5).\n\n" +
        "Not measured: `moon`.\n\n| figure | value |\n"
    )
  })

  it("begins with what svcd is judged by", () => {
    const pair = (first: number, second: number): object => ({ first, second, ratio: first / second })
    const figures = figuresOf({
      import: { cpuSeconds: pair(12, 10), seconds: pair(12, 10) },
      memoryAtTipMB: pair(151, 71)
    })
    const page = pageOf(
      [REFERENCE_TITLE, GROWTH_TITLE].map((title) => ({ title, text: "" })),
      new Map([
        [REFERENCE_TITLE, { figures, circumstances: "" }],
        [GROWTH_TITLE, { figures: figuresOf({ lastTenthToSecond: 1.15, memoryMB: { peak: 251 } }), circumstances: "" }]
      ])
    )
    const [table = ""] = page.split("\n## ", 1)
    expect(table).toContain("| figure | svcd | reference | ratio | bar | held |\n")
    expect(table).toContain("| import, CPU seconds | 12 | 10 | 1.20 | ratio <= 1.25 | yes |\n")
    expect(table).toContain("| import, seconds | 12 | 10 | 1.20 | ratio <= 1.1 | no |\n")
    expect(table).toContain("| memory a minute after the import, MB | 151 | 71 | 2.13 | svcd <= 150 | no |\n")
    expect(table).toContain("| peak memory of a chain ten times as long, MB | 251 |  |  | svcd <= 250 | no |\n")
    expect(table).toContain("|  |  | 1.15 | ratio <= 1.15 | yes |\n")
    expect(table).toContain("| not measured | not measured | not measured | ratio <= 0.4 | no |\n")
  })

  it("is what the bench writes", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/performance.md"), "utf8")
    expect(pageOf(TEXTS, measuredIn(page))).toBe(page)
  })
})

describe("a measurement", () => {
  const inDirectory = async (use: (page: string) => Promise<void>): Promise<void> => {
    const directory = mkdtempSync(join(tmpdir(), "svcd-report-"))
    try {
      await use(join(directory, "page.md"))
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
  const run = (page: string, result: object): Promise<number> =>
    measureSection(
      { title: "Sync", text: "What Sync is.", measure: () => Promise.resolve(result) },
      { page, sections, circumstances: () => "Measured on a day." }
    )

  it("that was skipped, or a part of it, leaves the page as it is and ends with status 1", () =>
    inDirectory(async (page) => {
      writeFileSync(page, measuredPage(TITLES))
      expect(await run(page, { skipped: "there is no chain" })).toBe(1)
      expect(await run(page, { seconds: 1, part: { skipped: "there is no browser" } })).toBe(1)
      expect(readFileSync(page, "utf8")).toBe(measuredPage(TITLES))
      expect(await run(page, { seconds: 7 })).toBe(0)
      expect(readFileSync(page, "utf8")).toContain("| seconds | 7 |\n")
    }))
})

describe("turns of two programs", () => {
  const first = { program: "one", reference: false, version: "" }
  const second = { program: "two", reference: true, version: "" }
  /** The machine and the order of turns: `foreign` has the cores that other programs use in each, `undefined` for one that cannot begin. */
  const inOrder = (foreign: ReadonlyArray<number | undefined>) => {
    const order: Array<string> = []
    let at = -1
    const machine: Machine = {
      untilQuiet: () => Promise.resolve(foreign[++at] !== undefined),
      watch: () => ({ cores: () => foreign[at] ?? 0 })
    }
    const run = (options: { readonly pairs: number; readonly busy: boolean }) =>
      inTurns({ first, second, ...options }, ({ program }, watch) => {
        order.push(program)
        return watch(() => Promise.resolve(`${program}${order.length}`))
      }, machine)
    return { order, run }
  }

  it("begin with one and with the other", async () => {
    const { order, run } = inOrder([0, 0, 0, 0.1])
    expect(await run({ pairs: 2, busy: false })).toEqual({
      pairs: [["one1", "two2"], ["one4", "two3"]],
      leftOut: 0,
      foreignCores: 0.1
    })
    expect(order).toEqual(["one", "two", "two", "one"])
  })

  it("do not count beside other programs, and others take their place", async () => {
    const { run } = inOrder([0, 0.5, undefined, 0, 0, 0, 0])
    expect(await run({ pairs: 2, busy: false })).toMatchObject({
      pairs: [["one3", "two4"], ["one6", "two5"]],
      leftOut: 2
    })
  })

  it("fail where fewer than half of them count", async () => {
    await expect(inOrder([0, 0]).run({ pairs: 3, busy: false })).rejects.toThrow(
      "1 of 6 pairs ran without other programs' load, which is too few"
    )
  })

  it("all count where the caller wants it", async () => {
    expect(await inOrder([]).run({ pairs: 1, busy: true })).toMatchObject({ pairs: [["one1", "two2"]], leftOut: 0 })
  })
})

describe("a comparison of two builds", () => {
  it("has the smallest, the middle and the largest ratio of each figure", () => {
    const turn = (cpuSeconds: number, seconds: number) => ({
      "import.cpuSeconds": cpuSeconds,
      "import.seconds": seconds
    })
    const ratios = ratiosOf([
      [turn(11, 30), turn(10, 10)],
      [turn(12, 30), turn(10, 10)],
      [turn(9, 30), turn(10, 10)]
    ])
    expect(ratios["import.cpuSeconds"]).toEqual({ min: 0.9, median: 1.1, max: 1.2 })
    expect(slowerFigures(ratios, 1.05)).toEqual(["import.cpuSeconds"])
    expect(slowerFigures(ratios, 1.1)).toEqual([])
    expect(slowerFigures(ratiosOf([[turn(0, 1), turn(0, 1)]]), 1.05)).toEqual(["import.cpuSeconds"])
  })

  it.each([
    [["--build", "/nowhere/svcd.js"], "/nowhere/svcd.js is not a program that can be started."],
    [
      ["--build", "/usr/bin/env"],
      "--build takes the build/bin/svcd.js of another build, not /usr/bin/env: for a namecoind use --against."
    ],
    [
      ["--against", "build/bin/svcd.js"],
      "--against takes a namecoind, not build/bin/svcd.js: for another build of svcd use --build."
    ],
    [
      ["--against", process.execPath],
      `${process.execPath} does not say that it is a Namecoin Core daemon when called with --version.`
    ],
    [["--pairs", "0"], "--pairs takes a number from 1 to 9999, not \"0\"."],
    [["--runs", "many"], "--runs takes a number from 1 to 9999, not \"many\"."],
    [["--limit", "fast"], "--limit takes a number above 0, not \"fast\"."],
    [["--busy", "--write"], "--busy measures beside other programs, which is nothing to --write."],
    [
      ["--build", "x", "--write"],
      "--build compares two builds and measures nothing else: leave out --write, --against and the sections."
    ]
  ])("is refused in one sentence: %j", (args, sentence) => {
    expect(optionsOf(args)).toBe(sentence)
  })

  it("takes the flags of sections", () => {
    expect(optionsOf(["--import", "--write", "--runs", "2"])).toMatchObject({
      flags: new Set(["import"]),
      write: true,
      limit: 1.05
    })
  })
})
