import { describe, expect, it } from "@effect/vitest"
import { type Measured, withSection } from "../../scripts/bench/report.ts"

const measured = (title: string, seconds: number): Measured => ({
  title,
  text: `What ${title} is.`,
  circumstances: "Measured today.",
  result: { seconds, of: { blocks: 6_000 } }
})

const TITLES = ["Import", "Sync", "Start"]

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
