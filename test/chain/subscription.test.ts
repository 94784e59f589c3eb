import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

/** A reading that begins with a fiber, and not with the service. */
const LATE = /Stream\.run\w*\(\s*(?:Stream\.merge\([^()]*)?chain\.events/

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

describe("services that follow the chain", () => {
  it("miss no event between their start and the first turn of their fiber: they take a subscription", () => {
    assert.isAbove(sources.length, 500)
    assert.match("Stream.runForEach(Stream.merge(pool.events, chain.events), learn)", LATE)
    assert.deepStrictEqual(sources.filter((file) => LATE.test(readFileSync(`src/${file}`, "utf8"))), [])
  })
})
