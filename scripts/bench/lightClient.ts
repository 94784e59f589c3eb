// A light client in an empty directory, in a process of its own: prints what it measured as JSON.
// Arguments: data directory, ports of the peers (JSON), directory of the generated chain.

import { Effect, Either, Layer, Logger, Stream } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { turnOfEventLoop } from "../../src/base/turnOfEventLoop.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import * as DataDirectory from "../../src/config/DataDirectory.ts"
import { decodeSettings } from "../../src/config/settings.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import * as Light from "../../src/light/Light.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import * as Memory from "../../src/node/memory.ts"
import { answersDigest } from "../../test/support/shapedChain.ts"
import { anchorOf, type ShapedFacts } from "../../test/support/shapedFile.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { YEARS } from "./lightSettings.ts"

const [directory = "", portList = "[]", chainDirectory = ""] = process.argv.slice(2)
const ports: ReadonlyArray<number> = JSON.parse(portList)
const facts: ShapedFacts = JSON.parse(readFileSync(join(chainDirectory, "facts.json"), "utf8"))
const params = shapedParams([anchorOf(facts)])

const settings = Either.getOrThrow(decodeSettings({
  argv: [
    "-network=regtest",
    `-datadir=${directory}`,
    "-listen=",
    `-maxtipage=${YEARS}`,
    ...ports.map((port) => `-addpeer=127.0.0.1:${port}`)
  ],
  env: {},
  readFile: () => Either.right(undefined),
  homedir: homedir(),
  cwd: process.cwd(),
  cores: 2
}))

const diskMB = (): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0) / 1e6

const status = (line: string): number =>
  Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1024)

const started = performance.now()
const seconds = (): number => (performance.now() - started) / 1000

const CALLS = 300_000

/** Milliseconds between two looks at the progress. */
const LOOK = 25

const program = Effect.gen(function*() {
  const client = yield* NameClient
  const light = yield* Light.Light
  const times = { headers: 0, firstAnswer: 0, answers: 0, signatures: 0 }
  const recent = facts.recent.at(-1) ?? ""
  let mostDisk = 0
  const look = Effect.gen(function*() {
    const { headers, phase, unchecked } = yield* light.progress
    if (times.headers === 0 && phase === "window" && headers === facts.height) times.headers = seconds()
    if (times.firstAnswer === 0) {
      const found = yield* Effect.option(client.resolveName(recent))
      if (found._tag === "Some") times.firstAnswer = seconds()
    }
    if (times.answers === 0 && phase === "ready" && (yield* light.complete)) times.answers = seconds()
    mostDisk = Math.max(mostDisk, diskMB())
    return times.answers > 0 && unchecked === 0
  })
  while (!(yield* look)) yield* Effect.sleep(LOOK)
  times.signatures = seconds()
  const peakMemoryMB = status("VmHWM")
  const tip = (yield* light.progress).tip.height
  const names = yield* Stream.runCollect(light.scan(new Uint8Array(0)))
  const living = [...names].filter(({ record }) => !isExpired(record, tip, params))
  const digest = answersDigest(living.map(({ record }) => record))
  const signed = living.filter(({ proof }) => proof === "signatures").length
  const call = (count: number) =>
    Effect.gen(function*() {
      const from = performance.now()
      for (let n = 0; n < count; n++) yield* client.resolveName(facts.samples[n % facts.samples.length] ?? "")
      return count / ((performance.now() - from) / 1000)
    })
  yield* call(CALLS / 10)
  const resolvesPerSecond = yield* call(CALLS)
  globalThis.gc?.()
  yield* Effect.sleep(2_000)
  yield* turnOfEventLoop
  return {
    ...times,
    equal: digest === facts.answers && living.length === facts.living,
    names: living.length,
    signed,
    diskMB: diskMB(),
    mostDiskMB: mostDisk,
    peakMemoryMB,
    tipMemoryMB: status("VmRSS"),
    resolvesPerSecond
  }
})

const client = Layer.provideMerge(LightClient.namesLayer(undefined), LightClient.nodeLayer(settings, params)).pipe(
  Layer.provide(DataDirectory.layer({ path: settings.dataDir, network: settings.network })),
  Layer.provide(Memory.layer),
  Layer.provide(Logger.remove(Logger.defaultLogger))
)

const result = await Effect.runPromise(Effect.scoped(Effect.provide(program, client)))
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit()
