import { assert, it } from "@effect/vitest"
import { syncFacts } from "../../src/dns/syncText.ts"

it.each<[string, number, boolean, string]>([
  ["before the first block", 0, false, "phase=headers; height=0; proof=none"],
  ["of a new regtest chain", 0, true, "phase=headers; height=0; proof=full"],
  ["with blocks", 9, false, "phase=headers; height=9; proof=full"]
])("the facts of the sync %s", (_, height, synced, text) => {
  const report = { phase: "headers", proof: "full", height, headers: 9, synced, percent: 0 } as const
  assert.strictEqual(syncFacts(report), text)
})
