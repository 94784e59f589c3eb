import { describe, expect, it } from "@effect/vitest"
import { fork } from "node:child_process"
import { nextMessage } from "../../scripts/bench/nodeProcess.ts"
import { type Measured, withSection } from "../../scripts/bench/report.ts"

const measured = (title: string, seconds: number): Measured => ({
  title,
  text: `What ${title} is.`,
  circumstances: "Measured today.",
  result: { seconds, of: { blocks: 6_000 } }
})

const TITLES = ["Import", "Sync", "Start"]

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
    const page = ["Start", "Import", "Sync"].reduce(
      (text, title) => withSection(text, measured(title, 1.25), TITLES),
      ""
    )
    expect(page.match(/^## .*$/gmu)).toEqual(["## Import", "## Sync", "## Start"])
    expect(page.match(/^# .*$/gmu)).toEqual(["# Performance"])
    expect(page).toContain(
      "What Sync is.\n\nMeasured today.\n\n| figure | value |\n|---|---|\n| seconds | 1.25 |\n| of.blocks | 6,000 |\n"
    )
  })

  it("replaces one section and keeps the others as they are", () => {
    const page = TITLES.reduce((text, title) => withSection(text, measured(title, 1), TITLES), "")
    const again = withSection(page, measured("Sync", 2), TITLES)
    expect(again).toBe(
      page.replace(
        "What Sync is.\n\nMeasured today.\n\n| figure | value |\n|---|---|\n| seconds | 1 |",
        () => "What Sync is.\n\nMeasured today.\n\n| figure | value |\n|---|---|\n| seconds | 2 |"
      )
    )
    expect(withSection(again, measured("Sync", 2), TITLES)).toBe(again)
  })

  it("drops a section that is not measured any more", () => {
    const page = withSection("", measured("Moon", 1), ["Moon"])
    expect(withSection(page, measured("Start", 1), TITLES)).not.toContain("Moon")
  })
})
