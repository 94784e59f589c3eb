import { assert, describe, it } from "@effect/vitest"
import { runCut } from "../../scripts/crash/cut.ts"
import { runElectrum } from "../../scripts/crash/electrum.ts"
import { runEvents } from "../../scripts/crash/events.ts"
import { runFlip } from "../../scripts/crash/flip.ts"
import { runKill } from "../../scripts/crash/kill.ts"
import { FIRST_BLOCKS } from "../../scripts/crash/Load.ts"
import { runPostgres } from "../../scripts/crash/postgres.ts"
import type { Options } from "../../scripts/crash/report.ts"
import { runSnapshot } from "../../scripts/crash/snapshot.ts"
import { runWebhooks } from "../../scripts/crash/webhooks.ts"

/** Short forms of `npm run crash`: they show that each part works, and what it finds in a few rounds. */

const few = (count: number): Options => ({ count, seed: 11, only: undefined, tell: () => {} })

describe("npm run crash", () => {
  // Two directories with two rounds each: the second round begins with what a kill left.
  it("kill finds everything that was acknowledged, after each kill", async () => {
    const tally = await runKill(few(4))
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("whole"), 4)
  })

  it("snapshot finds a whole chain state after each kill, and validates it in the end", async () => {
    const tally = await runSnapshot(few(1))
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("whole"), 1)
  })

  it("events keeps a copy of all names equal over kills of both sides", async () => {
    const tally = await runEvents(few(2))
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("equal"), 2)
  })

  it("webhooks brings a receiver every block in order over kills of the daemon", async () => {
    const tally = await runWebhooks(few(2))
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("equal"), 2)
    assert.isAbove(tally.of("messages"), FIRST_BLOCKS)
  })

  it("postgres keeps the tables of an export equal over kills of both sides", async (context) => {
    const tally = await runPostgres(few(2))
    if (tally.skipped !== undefined) return context.skip(tally.skipped)
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("equal"), 2)
  })

  it("electrum finds all rows of the index of scripts up to its cursor after each kill", async () => {
    const tally = await runElectrum(few(6))
    assert.deepStrictEqual(tally.failures, [])
    const killed = tally.of("killed before the first rows") + tally.of("killed while it was built")
    assert.strictEqual(killed + tally.of("complete"), 6)
    assert.isAbove(killed, 0)
    assert.strictEqual(tally.of("directories whose last build is whole"), 2)
  })

  it("cut starts nodes on what a disk may hold after a power cut", async (context) => {
    const tally = await runCut(few(2))
    if (tally.skipped !== undefined) return context.skip(tally.skipped)
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("runs recorded"), 1)
    assert.isAbove(tally.of("events recorded"), 100)
  })

  it("flip starts nodes on data with a flipped bit", async () => {
    const tally = await runFlip({ ...few(3), files: "^(blocks/|wallet|peers|fee_|mempool|svcd|NETWORK|LOCK)" })
    assert.deepStrictEqual(tally.failures, [])
    assert.strictEqual(tally.of("rounds"), 3)
  })
})
