import { assert, describe, it } from "@effect/vitest"
import type { SyncReport } from "../../src/light/syncReport.ts"
import { statusWords, type SyncFacts } from "../../src/web/syncWords.ts"

const NOW = 1_800_000_000

const REPORT: SyncReport = {
  phase: "ready",
  proof: "full",
  height: 800_000,
  headers: 800_000,
  synced: true,
  percent: 100,
  secondsLeft: 0,
  window: undefined
}

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
  offline: false,
  report: REPORT,
  speed: undefined,
  spacing: 600,
  onDemand: false
}

const SYNCING: SyncFacts = {
  ...READY,
  syncing: true,
  height: 200_000,
  tipTime: NOW - 86_400 * 3_000,
  report: { ...REPORT, phase: "blocks", height: 200_000, synced: false, percent: 25, secondsLeft: 6_000 },
  speed: 100
}

describe("statusWords", () => {
  it.each<[string, SyncFacts, string, string]>([
    ["at the tip", READY, "good", "Up to date"],
    ["offline by choice", { ...READY, peers: 0, offline: true }, "good", "Offline by choice"],
    [
      "offline by choice with blocks missing",
      { ...SYNCING, peers: 0, offline: true },
      "attention",
      "Offline by choice"
    ],
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
    ["without a network", { ...READY, active: false, peers: 0 }, "attention", "Networking is turned off"],
    ["without peers", { ...READY, peers: 0 }, "attention", "No peers"],
    ["without peers while it syncs", { ...SYNCING, peers: 0 }, "attention", "Looking for peers"],
    ["fetching blocks", SYNCING, "busy", "Syncing"],
    [
      "fetching headers",
      { ...READY, syncing: true, height: 0, headers: 1_999, headerTime: NOW - 86_401 },
      "busy",
      "Downloading headers"
    ],
    ["waiting for the first answer", { ...READY, syncing: true }, "busy", "Asking peers for new blocks"],
    ["at 20 blocks' time of silence", { ...READY, tipTime: NOW - 12_000 }, "good", "Up to date"],
    ["after more than that", { ...READY, tipTime: NOW - 12_001 }, "attention", "No new block for a long time"],
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
      "Block 200,000 of 800,000, 25.0 %, from 8 yr. ago. 100 blocks/s. About 1 hour 40 minutes left."
    )
    assert.deepStrictEqual(words.progress, { value: 25, max: 100 })
  })

  it("shows no estimate if the speed is unknown or zero", () => {
    for (const speed of [undefined, 0]) {
      assert.strictEqual(statusWords({ ...SYNCING, speed }).detail, "Block 200,000 of 800,000, 25.0 %, from 8 yr. ago.")
    }
  })

  it("adds the blocks that the network has made since an old header", () => {
    const words = statusWords({ ...SYNCING, headers: 400_000, headerTime: NOW - 600 * 400_000 })
    assert.include(words.detail, "of about 800,000, 25.0 %")
    assert.deepStrictEqual(words.progress, { value: 25, max: 100 })
  })

  it("never shows completion too early", () => {
    const report = { ...SYNCING.report, percent: 99.9 }
    assert.include(statusWords({ ...SYNCING, height: 799_999, report }).detail, "99.9 %")
  })

  it.each<[Partial<SyncReport>, string, string, number | undefined]>([
    [
      { phase: "headers", percent: 12.3, secondsLeft: undefined },
      "Downloading headers",
      "800,000 headers so far. Then the node downloads recent blocks, which have all names.",
      12.3
    ],
    [
      { phase: "window", percent: 45.6, secondsLeft: 12 },
      "Downloading recent blocks",
      "16,000 of the last 36,100 blocks, newest first. About 12 seconds left.",
      45.6
    ],
    [
      { phase: "signatures", percent: 1, secondsLeft: 90, synced: true },
      "Resolving names, and checking signatures",
      "Names are known up to block 800,000. 1,200 signatures to check. About 1 minute 30 seconds left.",
      1
    ],
    [
      { phase: "blocks", percent: 2, secondsLeft: 7_200, synced: true, proof: "signatures" },
      "Resolving names, and checking the whole chain",
      "Names are known up to block 800,000. Answers come from recent blocks of the chain with the most work, " +
      "with checked signatures (signatures). About 2 hours left.",
      2
    ],
    [
      { phase: "ready", secondsLeft: 0, synced: true },
      "Up to date",
      "Names are known up to block 800,000. Answers come from recent blocks of the chain with the most work (work).",
      undefined
    ]
  ])("says what a node with a window does: %o", (change, title, detail, value) => {
    const window = { blocks: 16_000, of: 36_100, names: 90_000, unchecked: 1_200 }
    const report: SyncReport = { ...REPORT, proof: "work", synced: false, window, ...change }
    const words = statusWords({ ...READY, syncing: true, height: 0, report })
    assert.deepStrictEqual([words.title, words.detail, words.progress?.value], [title, detail, value])
    assert.include(statusWords({ ...READY, height: 0, report, peers: 0 }).detail, "Block 800,000 is the last one known")
  })
})
