import { assert, describe, it } from "@effect/vitest"
import { recordsOfValue } from "../../src/dns/recordsOfValue.ts"

const VALUE = JSON.stringify({ ip: "192.0.2.1", map: { www: { alias: "" }, far: { alias: "other.bit." } } })

describe("recordsOfValue", () => {
  it.each([
    ["example.bit", "A", { status: "records", data: ["192.0.2.1"], missing: [] }],
    ["WWW.Example.bit.", "a", { status: "records", data: ["example.bit.", "192.0.2.1"], missing: [] }],
    ["example.bit", "MX", { status: "no-data", data: [], missing: [] }],
    ["none.example.bit", "A", { status: "no-name", data: [], missing: [] }],
    ["far.example.bit", "A", { status: "no-name", data: ["other.bit."], missing: ["'d/other'"] }]
  ])("answers %s %s", (host, type, expected) => {
    const found = recordsOfValue(VALUE, host, type)
    if ("failed" in found) return assert.fail(found.failed)
    const { missing, records, status } = found
    assert.deepStrictEqual({ status, data: records.map(({ data }) => data), missing: [...missing] }, expected)
    return undefined
  })

  it("names the imports that the value needs", () => {
    const found = recordsOfValue("{\"import\":\"dd/more\",\"ip\":\"192.0.2.1\"}", "example.bit", "A")
    assert.deepStrictEqual("failed" in found ? found : found.missing, ["'dd/more'"])
  })

  it.each([
    ["example.com", "A", "the host has to be a host below .bit, such as www.example.bit"],
    ["example.bit", "B", "the type has to be a type of records, such as A, AAAA, TXT or TYPE65"]
  ])("refuses %s %s", (host, type, failed) => {
    assert.deepStrictEqual(recordsOfValue(VALUE, host, type), { failed })
  })
})
