import { assert, describe, it } from "@effect/vitest"
import { statusWords, type SyncFacts } from "../../src/web/syncWords.ts"

const NOW = 1_800_000_000

/** A node at the tip of a public network. */
const READY: SyncFacts = {
  now: NOW,
  height: 800_000,
  headers: 800_000,
  tipTime: NOW - 600,
  headerTime: NOW - 600,
  syncing: false,
  loading: false,
  importing: undefined,
  peers: 8,
  active: true,
  speed: undefined,
  spacing: 600,
  onDemand: false
}

const SYNCING: SyncFacts = { ...READY, syncing: true, height: 200_000, tipTime: NOW - 86_400 * 3_000, speed: 100 }

describe("statusWords", () => {
  it.each<[string, SyncFacts, string, string]>([
    ["at the tip", READY, "good", "Up to date"],
    ["loading", { ...READY, loading: true }, "busy", "Starting"],
    [
      "importing",
      { ...READY, loading: true, importing: { phase: "blocks", done: 5, total: 10 } },
      "busy",
      "Importing blocks"
    ],
    [
      "reading files",
      { ...READY, importing: { phase: "headers", done: 5, total: 0 } },
      "busy",
      "Reading block files"
    ],
    ["without a network", { ...READY, active: false, peers: 0 }, "attention", "Network is off"],
    ["without peers", { ...READY, peers: 0 }, "attention", "No peers"],
    ["without peers while it syncs", { ...SYNCING, peers: 0 }, "attention", "Looking for peers"],
    ["fetching blocks", SYNCING, "busy", "Syncing"],
    [
      "fetching headers",
      { ...READY, syncing: true, height: 0, headers: 1_999, headerTime: NOW - 86_401 },
      "busy",
      "Fetching headers"
    ],
    ["waiting for the first answer", { ...READY, syncing: true }, "busy", "Asking peers for new blocks"],
    ["at 20 blocks' time of silence", { ...READY, tipTime: NOW - 12_000 }, "good", "Up to date"],
    ["after more than that", { ...READY, tipTime: NOW - 12_001 }, "attention", "No new block for long"],
    [
      "silent where blocks come on demand",
      { ...READY, onDemand: true, tipTime: 0, headerTime: 0 },
      "good",
      "Up to date"
    ]
  ])("%s", (_, facts, tone, title) => {
    const words = statusWords(facts)
    assert.deepStrictEqual([words.tone, words.title], [tone, title])
  })

  it("shows progress, speed and remaining time", () => {
    const words = statusWords(SYNCING)
    assert.strictEqual(
      words.detail,
      "Block 200,000 of 800,000, 25.0 %, from 8 yr. ago. 100 blocks/s, about 1 hour 40 minutes left."
    )
    assert.deepStrictEqual(words.progress, { value: 200_000, max: 800_000 })
  })

  it("shows no estimate if the speed is unknown or zero", () => {
    for (const speed of [undefined, 0]) {
      assert.strictEqual(statusWords({ ...SYNCING, speed }).detail, "Block 200,000 of 800,000, 25.0 %, from 8 yr. ago.")
    }
  })

  it("adds the blocks that the network has made since an old header", () => {
    const words = statusWords({ ...SYNCING, headers: 400_000, headerTime: NOW - 600 * 400_000 })
    assert.include(words.detail, "of about 800,000, 25.0 %")
    assert.deepStrictEqual(words.progress, { value: 200_000, max: 800_000 })
  })

  it("never shows completion too early", () => {
    assert.include(statusWords({ ...SYNCING, height: 799_999 }).detail, "99.9 %")
  })
})
