import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { InnerDaemon } from "../../scripts/crash/InnerDaemon.ts"
import { pause } from "../../scripts/crash/rpc.ts"
import { FIXTURE_FLAGS } from "../../scripts/upgrade/questions.ts"
import { RESTARTS_AN_HOUR } from "../../src/node/daemon.ts"
import { flipByte } from "../support/liveDamage.ts"
import { otherAnswers, withOldDirectory } from "../support/oldDirectory.ts"

/** Changes a byte of the chain state, in its write-ahead log while that has all of it. */
const damage = (directory: string): void => {
  const file = join(directory, "chainstate", "chainstate.db")
  const log = `${file}-wal`
  const target = existsSync(log) && statSync(log).size > 0 ? log : file
  flipByte(target, statSync(target).size >> 1)
}

/** Reads all coins, so that damage is found before the check of stored data begins, seconds after a start. */
const readCoins = ({ rpc }: InnerDaemon): Promise<unknown> => rpc.ask(["gettxoutsetinfo"]).catch(() => undefined)

/** Waits until a condition holds, for at most a minute. */
const until = async (what: string, test: () => boolean): Promise<void> => {
  const end = performance.now() + 60_000
  while (!test()) {
    if (performance.now() > end) assert.fail(`not within a minute: ${what}`)
    await pause(10)
  }
}

/** Answers that differ: stored blocks do not record that a branch was once the best one. */
const differences = async (port: number): Promise<ReadonlyArray<string>> =>
  (await otherAnswers(port, "stopped")).filter((difference) => !difference.includes("getchaintips"))

describe("a daemon whose chain state is damaged while it runs", () => {
  it("restarts in the same process twice; the third time it ends with an error that names the disk", () =>
    withOldDirectory("stopped", async (directory) => {
      const daemon = await InnerDaemon.open(directory, FIXTURE_FLAGS)
      const ready = async (): Promise<void> =>
        assert.deepStrictEqual(await daemon.start(60_000, 60_000), { _tag: "Ready" })
      const restarts = (): number => daemon.log().split("node restarts to rebuild its chain state").length - 1
      try {
        await ready()
        for (let time = 1; time <= RESTARTS_AN_HOUR; time++) {
          damage(directory)
          // The first damage is left to the check.
          if (time > 1) await readCoins(daemon)
          await until(`restart ${time}`, () => restarts() === time)
          await ready()
        }
        // At once: the check of stored data begins seconds after the start, and then rests for an hour.
        damage(directory)
        await readCoins(daemon)
        await until("its end", () => daemon.end !== undefined)
        const { end } = daemon
        if (end?._tag !== "Refused") return assert.fail(JSON.stringify(end))
        assert.match(
          end.reason,
          /chainstate\.db is corrupted: .* does not match its checksum\. Start the node again: it rebuilds .*/
        )
        assert.include(daemon.log(), "damaged repeatedly within an hour: check the disk")
        assert.strictEqual(restarts(), RESTARTS_AN_HOUR)
        assert.isNotEmpty(readFileSync(join(directory, "chainstate", "REBUILD"), "utf8"))
      } finally {
        await daemon.stop()
      }
      const next = await InnerDaemon.open(directory, FIXTURE_FLAGS)
      try {
        assert.deepStrictEqual(await next.start(60_000, 60_000), { _tag: "Ready" })
        assert.deepStrictEqual(await differences(next.port), [])
      } finally {
        assert.isTrue(await next.stop())
      }
    }))
})

describe("-reindex", () => {
  for (const flag of ["-reindex", "-reindex-chainstate"]) {
    it(`${flag} rebuilds everything from the stored blocks, with the same answers`, () =>
      withOldDirectory("stopped", async (directory) => {
        const daemon = await InnerDaemon.open(directory, [...FIXTURE_FLAGS, flag])
        try {
          assert.deepStrictEqual(await daemon.start(60_000, 60_000), { _tag: "Ready" })
          assert.include(daemon.log(), "chain state missing: rebuilding it from the stored blocks")
          assert.deepStrictEqual(await differences(daemon.port), [])
        } finally {
          assert.isTrue(await daemon.stop())
        }
      }))
  }
})
