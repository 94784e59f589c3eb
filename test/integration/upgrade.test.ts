import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { existsSync, readdirSync, readFileSync, watch } from "node:fs"
import { basename, dirname, join } from "node:path"
import { DaemonProcess } from "../../scripts/crash/DaemonProcess.ts"
import { InnerDaemon } from "../../scripts/crash/InnerDaemon.ts"
import { recordOf, RpcClient } from "../../scripts/crash/rpc.ts"
import { SECOND } from "../../scripts/upgrade/fill.ts"
import { FIXTURE_FLAGS } from "../../scripts/upgrade/questions.ts"
import { pragmas } from "../../src/storage/Database.ts"
import { PageGuard } from "../../src/storage/PageGuard.ts"
import { readSums } from "../../src/storage/pageSums.ts"
import { otherAnswers, withOldDirectory } from "../support/oldDirectory.ts"

/** Data directories of svcd 0.1.0, opened with this version. */

const DATABASES = ["names.db", "chainstate/chainstate.db", "chainstate/txindex.db", "chainstate/wallet.db"]

/** Every database has sums of its pages and this version's format, and all that is stored is sound. */
const upgraded = async (directory: string, port: number): Promise<void> => {
  const wallets = readdirSync(join(directory, "chainstate")).filter((name) => /^wallet-.*\.db$/.test(name))
  assert.strictEqual(wallets.length, 1)
  for (const name of [...DATABASES, ...wallets.map((wallet) => `chainstate/${wallet}`)]) {
    assert.isObject(readSums(join(directory, name)), name)
  }
  const rpc = new RpcClient(port)
  assert.isTrue(await rpc.call("verifychain", 4, 0))
  const { doubts, missing_blocks, parts } = recordOf(await rpc.call("getcheckinfo"))
  assert.deepStrictEqual([doubts, missing_blocks], [[], 0])
  for (const part of Object.values(recordOf(parts))) assert.strictEqual(recordOf(part)["damaged"], 0)
}

/** Runs this version on a directory. */
const withNode = async (directory: string, use: (daemon: InnerDaemon) => Promise<void>): Promise<void> => {
  const daemon = await InnerDaemon.open(directory, FIXTURE_FLAGS)
  try {
    assert.deepStrictEqual(await daemon.start(60_000, 60_000), { _tag: "Ready" })
    await use(daemon)
  } finally {
    assert.isTrue(await daemon.stop())
  }
}

/** Starts this version in a process of its own, and kills it as soon as a file appears. */
const killedAt = async (directory: string, file: string): Promise<void> => {
  const path = join(directory, file)
  const daemon = await DaemonProcess.spawn({ directory, args: FIXTURE_FLAGS })
  await new Promise<void>((resolve) => {
    const watcher = watch(dirname(path), (_, name) => {
      if (name !== basename(path) || !existsSync(path)) return
      watcher.close()
      resolve(daemon.kill())
    })
  })
}

describe("a data directory of svcd 0.1.0", () => {
  for (const kind of ["stopped", "killed"] as const) {
    it(`of a node that was ${kind} gives the same answers, is upgraded in place, and gives them again`, () =>
      withOldDirectory(kind, async (directory) => {
        assert.isFalse(existsSync(join(directory, "names.db.sums")))
        for (const time of ["first", "second"]) {
          await withNode(directory, async (daemon) => {
            assert.deepStrictEqual(await otherAnswers(daemon.port, kind), [])
            await upgraded(directory, daemon.port)
            // The node rebuilt nothing that could be kept.
            assert.notMatch(daemon.log(), /rebuil|damaged/, time)
          })
        }
        assert.match(readFileSync(join(directory, "wallets.json"), "utf8"), new RegExp(SECOND))
      }))
  }

  it("whose upgrade is killed, again and again, is upgraded by the next start", () =>
    withOldDirectory("killed", async (directory) => {
      // In the order in which a start opens them.
      for (const name of ["chainstate/chainstate.db", "chainstate/txindex.db", "names.db", "chainstate/wallet.db"]) {
        await killedAt(directory, `${name}.sums`)
      }
      await withNode(directory, async (daemon) => {
        assert.deepStrictEqual(await otherAnswers(daemon.port, "killed"), [])
        await upgraded(directory, daemon.port)
        assert.notMatch(daemon.log(), /rebuil|damaged/)
      })
    }))

  it("that has sums and is otherwise as it was, which a kill may leave, is upgraded by the next start", () =>
    withOldDirectory("stopped", async (directory) => {
      for (const name of DATABASES) {
        const file = join(directory, name)
        const database = new SQLite(file)
        for (const pragma of pragmas(4096)) database.pragma(pragma)
        new PageGuard(file, database).abandon()
      }
      await withNode(directory, async (daemon) => {
        assert.deepStrictEqual(await otherAnswers(daemon.port, "stopped"), [])
        await upgraded(directory, daemon.port)
        assert.notMatch(daemon.log(), /rebuil|damaged/)
      })
    }))
})
