import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, run, startNode } from "../support/daemon.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "svcd-log-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

interface Entry {
  readonly level: string
  readonly msg: string
  readonly subsystem?: string
}

const entriesIn = (path: string): ReadonlyArray<Entry> =>
  readFileSync(path, "utf8").split("\n").slice(0, -1).map((line): Entry => JSON.parse(line))

/** Parts whose debug entries a node without peers has. */
const SUBSYSTEMS = ["mempool", "metrics", "names", "rpc", "storage", "wallet"]

describe("a daemon with a log file", () => {
  it.scopedLive("writes there what each part has to say, and goes on in a new file after SIGHUP", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const [path, rotated] = [join(folder, "svcd.log"), join(folder, "svcd.log.1")]
      const metrics = `127.0.0.1:${yield* freePort}`
      const flags = [
        "-logfile",
        path,
        "-logformat=json",
        "-debugsubsystem",
        SUBSYSTEMS.join(","),
        "-metricsaddr",
        metrics
      ]
      const node = yield* startNode(join(folder, "data"), ...flags)
      yield* node.ready
      const address = yield* node.call("getnewaddress")
      yield* node.call("generatetoaddress", 101, address)
      yield* node.call("sendtoaddress", address, 1)
      yield* Effect.promise(() => fetch(`http://${metrics}/metrics`).then((reply) => reply.text()))
      assert.deepInclude(yield* node.call("getrpcinfo"), { logpath: path })
      assert.deepInclude(yield* node.call("logging", [], ["names"]), { names: false, rpc: true, network: false })

      renameSync(path, rotated)
      node.running.child.kill("SIGHUP")
      yield* Effect.sync(() => existsSync(path) && entriesIn(path).length > 0).pipe(
        Effect.repeat({ until: (there) => there, schedule: Schedule.spaced("10 millis") })
      )
      yield* node.call("generatetoaddress", 1, address)
      const { code, stderr, stdout } = yield* node.running.end()
      assert.deepStrictEqual([code, stdout, stderr], [0, "", ""])

      const before = entriesIn(rotated)
      const after = entriesIn(path)
      const debugged = new Set(before.filter(({ level }) => level === "debug").map(({ subsystem }) => subsystem))
      assert.sameMembers([...debugged], SUBSYSTEMS)
      assert.deepInclude(after[0], { level: "info", msg: "log file reopened" })
      assert.lengthOf(before.filter(({ msg }) => msg === "new block"), 101)
      assert.lengthOf(after.filter(({ msg }) => msg === "new block"), 1)
      assert.notInclude(after.map(({ subsystem }) => subsystem), "names")
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    }))

  it.scopedLive("does not start where it cannot write it", () =>
    Effect.gen(function*() {
      const folder = yield* directory
      const ended = yield* run("svcd", "-network=regtest", "-datadir", join(folder, "data"), "-logfile", folder)
      assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
      assert.strictEqual(ended.stderr, `Error: log file ${folder}: it is a directory; check -logfile\n`)
      assert.isFalse(existsSync(join(folder, "data")))
    }))
})
