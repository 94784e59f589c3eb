import { spawn } from "node:child_process"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DaemonProcess } from "./DaemonProcess.ts"
import { basesOf, FLIP_FLAGS, makeDirectories } from "./flipData.ts"
import { kindOf } from "./flipKinds.ts"
import type { Line, Place, Plan } from "./flipWorker.ts"
import { isFailure } from "./judgeFlip.ts"
import { undoAtEnd } from "./leftovers.ts"
import { type Options, Tally } from "./report.ts"
import { freePort, makeWorkplace, ROOT } from "./workplace.ts"

/** Processes at a time, and the rounds of one process before the next replaces it. */
const WORKERS = 2
const ROUNDS_PER_WORKER = 1000

/** Milliseconds that a worker may stay silent. */
const SILENCE = 180_000

const WORKER = join(ROOT, "build/scripts/crash/flipWorker.js")

/** Runs rounds in a process of their own. Returns the rounds that are left where the process ended early. */
const work = (
  planFile: string,
  seed: number,
  rounds: ReadonlyArray<number>,
  hear: (line: Line) => void
): Promise<ReadonlyArray<number>> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [WORKER, planFile, String(seed), ...rounds.map(String)], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    const ended = undoAtEnd(() => void child.kill("SIGKILL"))
    let words = ""
    let begun: Line | undefined
    const done = new Set<number>()
    const watch = setTimeout(() => child.kill("SIGKILL"), SILENCE)
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (words = (words + text).slice(-3000)))
    createInterface(child.stdout).on("line", (text) => {
      watch.refresh()
      const line: Line = JSON.parse(text)
      if (line.verdict === undefined) return void (begun = line)
      begun = undefined
      done.add(line.round)
      hear(line)
    })
    child.once("close", () => {
      clearTimeout(watch)
      ended()
      if (begun !== undefined) {
        done.add(begun.round)
        hear({ ...begun, verdict: "DIED", detail: words })
      }
      const left = rounds.filter((round) => !done.has(round))
      resolve(done.size === 0 ? left.slice(1) : left)
    })
  })

const note = (tally: Tally, line: Line): void => {
  const { base = "", bit = 0, cpuMilliseconds = 0, detail = "", file = "", ill, offset = 0, round, verdict } = line
  if (verdict === undefined) return
  tally.count("rounds")
  tally.count(verdict)
  tally.count("CPU milliseconds", cpuMilliseconds)
  tally.count(`${kindOf(file).pattern.source} ${verdict}`)
  const where = { base: base.split("/").at(-1) ?? base, file, offset, bit }
  if (isFailure(verdict)) tally.fail({ round, what: verdict, detail, where })
  if (ill === undefined) return
  tally.count(`${ill === "" ? "well" : "ILL"} with a peer`)
  if (ill !== "") tally.fail({ round, what: "ILL", detail: `${detail}; with a peer: ${ill}`, where })
}

/** A node on a copy of a directory that serves blocks and nothing else: its mempool would change answers. */
const peerOn = async (directory: string): Promise<{ readonly peer: DaemonProcess; readonly port: number }> => {
  const copy = `${directory}-peer`
  cpSync(directory, copy, { recursive: true })
  const port = await freePort()
  const blocksAlone = ["-disablewallet", "-persistmempool=0"]
  const listening = ["-maxpeers", "20", "-maxoutbound", "0", "-listen", `127.0.0.1:${port}`]
  const args = [...listening, ...blocksAlone, ...FLIP_FLAGS.slice(2)]
  const peer = await DaemonProcess.spawn({ directory: copy, args })
  const start = await peer.start()
  if (!start.ready) throw new Error(`a peer for the test does not start: ${start.reason}`)
  return { peer, port }
}

/** Flips one bit of a data directory at a time, and checks the answers of a node on it. */
export const runFlip = async ({ count, files, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("bit flips", seed)
  const place = makeWorkplace()
  const peers: Array<DaemonProcess> = []
  try {
    const directories = await makeDirectories(place.path)
    const places = await Promise.all(directories.map(async (directory): Promise<Place> => {
      const { bare, full } = await basesOf(directory)
      const { peer, port } = await peerOn(directory)
      peers.push(peer)
      tell(`${directory}: ${full.asked.length} questions`)
      return { bare, full, peer: port }
    }))
    const planFile = join(place.path, "plan.json")
    const plan: Plan = { place: place.path, places, files: files ?? "" }
    writeFileSync(planFile, JSON.stringify(plan))

    const rounds = only === undefined ? Array.from({ length: count }, (_, i) => i) : [only]
    const size = Math.max(1, Math.min(ROUNDS_PER_WORKER, Math.ceil(rounds.length / WORKERS)))
    let told = performance.now()
    const hear = (line: Line): void => {
      note(tally, line)
      if (performance.now() - told < 20_000) return
      told = performance.now()
      tell(tally.line())
    }
    await Promise.all(Array.from({ length: WORKERS }, async () => {
      for (let part = rounds.splice(0, size); part.length > 0; part = rounds.splice(0, size)) {
        for (let left: ReadonlyArray<number> = part; left.length > 0;) left = await work(planFile, seed, left, hear)
      }
    }))
  } finally {
    for (const peer of peers) await peer.kill()
    place.remove()
  }
  return tally
}
