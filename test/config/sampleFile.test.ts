import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { fromFile } from "../../src/config/configFile.ts"
import { decodeGathered } from "../../src/config/decodeSettings.ts"
import { type Option, optionNamesOf } from "../../src/config/optionRow.ts"
import { OPTIONS } from "../../src/config/options.ts"
import type { OptionSource } from "../../src/config/sources.ts"
import { inputOf } from "./input.ts"

const sample = readFileSync(fileURLToPath(new URL("../../docs/svcd.conf.sample", import.meta.url)), "utf8")

/** The sample with every key in force. */
const inForce = sample.replace(/^# (?=[a-z]+ = )/gm, "")

const sourceOf = (text: string) =>
  Either.getOrThrowWith(fromFile({ text, file: "svcd.conf" }), (problems) => problems.join("\n"))

const isValid = (source: OptionSource): boolean =>
  Either.isRight(decodeGathered({ source, configFile: "/svcd.conf" }, inputOf([])))

describe("docs/svcd.conf.sample", () => {
  it("sets nothing as shipped", () => assert.strictEqual(sourceOf(sample).size, 0))

  it("shows every key, with its default if there is one", () => {
    const source = sourceOf(inForce)
    const keys = optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].key !== undefined)
    assert.sameMembers([...source.keys()], keys)
    for (const name of keys) {
      const option: Option = OPTIONS[name]
      if (option.default !== "") assert.deepStrictEqual(source.get(name)?.texts, [option.default], name)
    }
  })

  it("shows valid values", () => {
    const onRegtest = inForce.replace("\"mainnet\"", "\"regtest\"")
    assert.isTrue(isValid(sourceOf(onRegtest)))
    assert.isTrue(isValid(sourceOf(inForce.replace(/^(testact|vbp|test ).*$/gm, ""))))
  })
})
