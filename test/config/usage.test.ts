import { assert, describe, it } from "@effect/vitest"
import { strangeVariables } from "../../src/config/sources.ts"
import { UsageError } from "../../src/config/UsageError.ts"

describe("UsageError", () => {
  it("prints at most six lines, each prefixed with the program's name", () => {
    const problems = ["a", "b", "c", "d", "e", "f", "g"]
    assert.deepStrictEqual(new UsageError({ problems }).report("svcd"), [
      "svcd: a",
      "svcd: b",
      "svcd: c",
      "svcd: d",
      "svcd: e",
      "svcd: and 2 more"
    ])
    assert.deepStrictEqual(new UsageError({ problems: ["a"] }).report("svcd"), ["svcd: a"])
  })
})

describe("variables of the environment", () => {
  it.each([
    {
      env: { SVCD_NETWRK: "regtest" },
      said: ["\"SVCD_NETWRK\" in the environment is not a setting of svcd; did you mean SVCD_NETWORK?"]
    },
    {
      env: { svcd_network: "regtest" },
      said: ["\"svcd_network\" in the environment is not a setting of svcd; did you mean SVCD_NETWORK?"]
    },
    {
      env: { SVCD_FROB: "1" },
      said: ["\"SVCD_FROB\" in the environment is not a setting of svcd: use a flag or svcd.conf"]
    },
    { env: { SVCD_FROB: "", SVCD_RPC_USER: "me", SVCD_MAIL_FLAGS: "x", SVCD_EXPORT_URL: "x", HOME: "/" }, said: [] }
  ])("with no meaning are named: $env", ({ env, said }) => {
    assert.deepStrictEqual(strangeVariables(env), said)
  })
})
