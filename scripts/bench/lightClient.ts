// A light client in an empty directory, in a process of its own: prints what it measured as JSON.
// Arguments: data directory, ports and processes of the peers (JSON), directory of the generated chain.

import { Effect, Layer, Logger, Stream } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { NameClient } from "../../src/client/NameClient.ts"
import * as DataDirectory from "../../src/config/DataDirectory.ts"
import { isExpired } from "../../src/consensus/expiry.ts"
import * as Light from "../../src/light/Light.ts"
import * as LightClient from "../../src/node/lightClient.ts"
import * as Memory from "../../src/node/memory.ts"
import { AnswersDigest } from "../../test/support/answersDigest.ts"
import { anchorOf, type ShapedFacts } from "../../test/support/shapedFile.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { cpuSecondsOf, ownCpuSeconds } from "./cpuTime.ts"
import { settingsFor, withPeers } from "./lightSettings.ts"

const [directory = "", peers = "{}", chainDirectory = ""] = process.argv.slice(2)
const { pids, ports }: { readonly pids: ReadonlyArray<number>; readonly ports: ReadonlyArray<number> } = JSON.parse(
  peers
)
const facts: ShapedFacts = JSON.parse(readFileSync(join(chainDirectory, "facts.json"), "utf8"))
const params = shapedParams([anchorOf(facts)])

const settings = settingsFor(directory, withPeers(ports))

const diskMB = (): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0) / 1e6

const status = (line: string): number =>
  Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) / 1024)

const started = performance.now()
const seconds = (): number => (performance.now() - started) / 1000

/** Seconds of processor time so far: of this process, of the peers, and of the process with the line. */
const cpu = () => {
  const peers = pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  return { client: ownCpuSeconds(), peers, line: cpuSecondsOf(process.ppid) }
}

type Cpu = ReturnType<typeof cpu>

const between = (from: Cpu, to: Cpu): Cpu => ({
  client: to.client - from.client,
  peers: to.peers - from.peers,
  line: to.line - from.line
})

const CALLS = 300_000

/** How long the client is left alone at the tip before its memory is read. */
const AT_TIP = "15 seconds"

/** Milliseconds between two looks at the progress. */
const LOOK = 25

/** Waits for the phases of a light start. */
const phases = Effect.gen(function*() {
  const client = yield* NameClient
  const light = yield* Light.Light
  const times = { headers: 0, firstAnswer: 0, answers: 0, signatures: 0 }
  const recent = facts.recent.at(-1) ?? ""
  const began = cpu()
  let [headers, answers] = [began, began]
  let mostDiskMB = 0
  for (;;) {
    const { headers: known, phase, unchecked } = yield* light.progress
    if (times.headers === 0 && phase === "window" && known === facts.height) {
      times.headers = seconds()
      headers = cpu()
    }
    if (times.firstAnswer === 0) {
      const found = yield* Effect.option(client.resolveName(recent))
      if (found._tag === "Some") times.firstAnswer = seconds()
    }
    if (times.answers === 0 && phase === "ready" && (yield* light.complete)) {
      times.answers = seconds()
      answers = cpu()
    }
    mostDiskMB = Math.max(mostDiskMB, diskMB())
    if (times.answers > 0 && unchecked === 0) break
    yield* Effect.sleep(LOOK)
  }
  times.signatures = seconds()
  return {
    ...times,
    mostDiskMB,
    peakMemoryMB: status("VmHWM"),
    cpu: {
      headers: between(began, headers),
      window: between(headers, answers),
      signatures: between(answers, cpu())
    }
  }
})

/** Compares all answers with those of the generator. */
const comparison = Effect.gen(function*() {
  const light = yield* Light.Light
  const { tip } = yield* light.progress
  const digest = new AnswersDigest()
  let signed = 0
  yield* Stream.runForEach(light.scan(new Uint8Array(0)), ({ proof, record }) =>
    Effect.sync(() => {
      if (isExpired(record, tip.height, params)) return
      digest.add(record)
      if (proof === "signatures") signed++
    }))
  const { count } = digest
  return { equal: digest.end() === facts.answers && count === facts.living, names: count, signed }
})

const resolves = (count: number) =>
  Effect.gen(function*() {
    const client = yield* NameClient
    const from = performance.now()
    for (let n = 0; n < count; n++) yield* client.resolveName(facts.samples[n % facts.samples.length] ?? "")
    return count / ((performance.now() - from) / 1000)
  })

const program = Effect.gen(function*() {
  const figures = yield* phases
  yield* Effect.sleep(AT_TIP)
  const tipMemoryMB = status("VmRSS")
  const compared = yield* comparison
  yield* resolves(CALLS / 10)
  const resolvesPerSecond = yield* resolves(CALLS)
  return { ...figures, ...compared, diskMB: diskMB(), tipMemoryMB, resolvesPerSecond }
})

const client = Layer.provideMerge(LightClient.namesLayer(undefined), LightClient.nodeLayer(settings, params)).pipe(
  Layer.provide(DataDirectory.layer({ path: settings.chain.dataDir, network: settings.chain.network })),
  Layer.provide(Memory.layer),
  Layer.provide(Logger.remove(Logger.defaultLogger))
)

const result = await Effect.runPromise(Effect.scoped(Effect.provide(program, client)))
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit()
