import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { METRICS } from "../../src/metrics/metrics.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, startNode } from "../support/daemon.ts"
import { type ExposedFamily, readExposition } from "../support/exposition.ts"
import { ownFixture } from "../support/fixtures.ts"

const fetched = (port: number) =>
  Effect.tryPromise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    return { status: response.status, text: await response.text() }
  })

const valueOf = (families: ReadonlyArray<ExposedFamily>, name: string, label?: string): number => {
  const family = families.find((family) => family.name === name) ?? assert.fail(`no ${name}`)
  const wanted = family.type === "histogram" ? `${name}_count` : name
  return family.samples
    .filter((sample) => sample.name === wanted && (label === undefined || Object.values(sample.labels).includes(label)))
    .reduce((sum, { value }) => sum + value, 0)
}

const promtool = (args: ReadonlyArray<string>, input = "") => spawnSync("promtool", args, { encoding: "utf8", input })

describe("svcd -metricsaddr", () => {
  it.scopedLive("shows all metrics while it still imports, and what it did afterwards", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const port = yield* freePort
      const file = ownFixture("regtest-names/blocks.dat")
      const node = yield* startNode(
        directory,
        "-loadblock",
        file,
        "-metricsaddr",
        `127.0.0.1:${port}`,
        "-metricsdetail"
      )
      const first = yield* Effect.retry(fetched(port), Schedule.spaced("10 millis"))
      const early = readExposition(first.text)
      assert.deepStrictEqual(early.map(({ name }) => name), METRICS.map(({ name }) => name))
      assert.strictEqual(valueOf(early, "svcd_blockchain_syncing"), 1)
      yield* node.ready
      yield* Effect.ignore(node.call("getblockhash", -1))
      const { text } = yield* fetched(port)
      const late = readExposition(text)
      const height = Number(yield* node.call("getblockcount"))
      assert.strictEqual(valueOf(late, "svcd_blockchain_height"), height)
      assert.strictEqual(valueOf(late, "svcd_blockchain_syncing"), 0)
      assert.strictEqual(valueOf(late, "svcd_blocks_total", "connected"), height)
      assert.isAbove(valueOf(late, "svcd_namedb_names_count"), 0)
      assert.isAbove(valueOf(late, "svcd_namedb_write_latency_seconds"), 0)
      assert.strictEqual(valueOf(late, "svcd_rpc_errors_total", "getblockhash"), 1)
      assert.strictEqual(valueOf(late, "svcd_rpc_duration_seconds", "getblockhash"), 1)
      assert.strictEqual(valueOf(late, "svcd_errors_total", "rpc_invalid_params"), 1)
      if (promtool(["--version"]).status === 0) {
        const { stderr, stdout } = promtool(["check", "metrics"], text)
        assert.match(`${stdout}${stderr}`, /^svcd_namedb_names_count [^\n]*\n$/)
      }
      const ended = yield* node.running.end()
      assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
    }))
})
