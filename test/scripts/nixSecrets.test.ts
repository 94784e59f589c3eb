import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { OPTIONS } from "../../src/config/options.ts"

describe("the NixOS module", () => {
  it("refuses every option with a secret among its settings: each user can read the Nix store", () => {
    const module = readFileSync("nix/module.nix", "utf8")
    // The line of rpcauth has the hash of a password that the command makes.
    const secrets = Object.entries(OPTIONS).flatMap(([key, { secret }]) => secret && key !== "rpcauth" ? [key] : [])
    assert.includeMembers(secrets.map((key) => key.toLowerCase()), ["webhook"])
    for (const key of secrets) assert.include(module, `!(cfg.settings ? ${key.toLowerCase()})`)
  })
})
