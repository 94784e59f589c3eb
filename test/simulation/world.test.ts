import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { eventually } from "../support/eventually.ts"
import { MEMORY, WorldProcesses } from "./ownProcess.ts"
import { runSeed } from "./runs.ts"
import { makeTemplate } from "./template.ts"
import { drawPlan, firstHours } from "./worlds.ts"

describe("a world", () => {
  const place = mkdtempSync(join(tmpdir(), "svcd-simulation-"))
  const processes = new WorldProcesses()
  let template = ""

  beforeAll(async () => {
    template = await makeTemplate(1, place)
  })

  afterAll(() => {
    processes.close()
    rmSync(place, { recursive: true, force: true })
  })

  const run = (seed: number, double: boolean) =>
    runSeed(firstHours(drawPlan(seed, 1), 1 / 20), {
      place,
      templateOf: () => Promise.resolve(template),
      processes,
      trace: false,
      double,
      shrink: false,
      file: join(place, "sim-1.ndjson"),
      print: () => {}
    })

  it("runs a seed behind another one as in a process of its own", async () => {
    assert.isUndefined((await run(2, false)).failure)
    const { failure, tasks } = await run(1, true)
    assert.isUndefined(failure)
    assert.isAbove(tasks, 1_000)
  })
})

describe("the command", () => {
  it("leaves no files when a signal ends it", async () => {
    const main = fileURLToPath(new URL("main.ts", import.meta.url))
    const child = spawn(process.execPath, [...process.execArgv, main, "--runs", "1"], { stdio: "ignore" })
    const closed = once(child, "close")
    const left = (): ReadonlyArray<string> =>
      readdirSync(MEMORY).filter((name) => name.startsWith(`svcd-simulation-${child.pid}-`))
    // A process that makes a template has begun its world.
    const hasBegun = (): boolean =>
      left().some((name) => readdirSync(join(MEMORY, name)).some((each) => each.startsWith("svcd-world-")))
    await Effect.runPromise(eventually("a world", hasBegun))
    child.kill("SIGTERM")
    assert.deepStrictEqual(await closed, [143, null])
    assert.deepStrictEqual(left(), [])
  })
})
