import { assert, describe, it } from "@effect/vitest"
import { lint } from "../../src/values/lint.ts"
import { recordText, recordTypeText } from "../../src/values/records.ts"
import { type DomainZone, domainZone, recordsBelow, zoneFrom } from "../../src/values/zone.ts"
import { fixtureText, sharedFixture } from "../support/fixtures.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (given: Uint8Array): string => new TextDecoder().decode(given)

/** The zone of `d/example` among these values. */
const zoneOf = (values: ReadonlyMap<string, string>, host = "example.bit."): DomainZone =>
  zoneFrom(
    domainZone({ name: bytes("d/example"), value: bytes(values.get("d/example") ?? ""), host }),
    (name) => {
      const value = values.get(text(name))
      return value === undefined ? undefined : bytes(value)
    }
  )

const linesOf = ({ host, top }: DomainZone): ReadonlyArray<string> =>
  Array.from(
    recordsBelow(host, top),
    ({ owner, record }) => `${owner} ${recordTypeText(record)} ${recordText(record)}`
  )

/** The cases that all programs for .bit share (hlandau/nctestsuite), in a companion of the project. */
const SUITE = "dns/nctestsuite/testsuite.txt"

interface SuiteCase {
  readonly id: string
  readonly values: ReadonlyMap<string, string>
  readonly records: ReadonlyArray<string>
}

const suiteCases = (): ReadonlyArray<SuiteCase> => {
  const lines = fixtureText(SUITE).split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  const cases: Array<{ id: string; values: Map<string, string>; records: Array<string> }> = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const [, id] = /^IN ?(.*)$/.exec(line) ?? []
    if (id !== undefined) {
      if (id !== "" || cases.length === 0) cases.push({ id, values: new Map(), records: [] })
      cases.at(-1)?.values.set(lines[++at] ?? "", lines[++at] ?? "")
    } else if (!line.startsWith("OUT")) cases.at(-1)?.records.push(line.replace(/ IN /, " ").toLowerCase())
  }
  return cases
}

const NOT_JSON = ["ipv6-array-trailing-invalid", "import-subsubreference", "delegate-subsubreference"]

const HAS_SUITE = sharedFixture(SUITE) !== undefined

describe.runIf(HAS_SUITE)("the shared cases of programs for .bit", () => {
  const cases = HAS_SUITE ? suiteCases() : []
  const withDs = cases.filter(({ records }) => records.some((line) => line.includes(" ds ")))

  it("are 98: 3 are not JSON, and 3 have DS without NS", () => {
    assert.lengthOf(cases, 98)
    assert.lengthOf(withDs, 3)
  })

  it.each(cases)("$id", ({ id, records, values }) => {
    const seen = linesOf(zoneOf(values)).map((line) => line.toLowerCase())
    if (NOT_JSON.includes(id)) {
      assert.deepStrictEqual(seen, [])
      const { findings } = lint("d/example", values.get("d/example") ?? "")
      assert.deepStrictEqual(findings.map(({ code, severity }) => `${severity} ${code}`), ["error json"])
    } else assert.deepStrictEqual(seen.toSorted(), records.filter((line) => !line.includes(" ds ")).toSorted())
  })
})
