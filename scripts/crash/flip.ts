import { spawn } from "node:child_process"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DaemonProcess } from "./DaemonProcess.ts"
import { baseOf, FLIP_FLAGS, makeDirectories } from "./flipData.ts"
import { kindOf } from "./flipKinds.ts"
import type { Line, Plan } from "./flipWorker.ts"
import { isFailure } from "./judgeFlip.ts"
import { undoAtEnd } from "./leftovers.ts"
import { type Options, Tally } from "./report.ts"
import { freePort, makeWorkplace, ROOT } from "./workplace.ts"

/** Processes at a time, and the rounds of one before the next takes its place. */
const WORKERS = 2
const ROUNDS_PER_WORKER = 200

/** How long a worker may say nothing, in milliseconds. */
const SILENCE = 180_000

const WORKER = join(ROOT, "build/scripts/crash/flipWorker.js")

/** Does rounds in a process of their own. Returns those that are left where the process did not come to their end. */
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
  const { base = "", bit = 0, cpuMilliseconds = 0, detail = "", file = "", healed, offset = 0, round, verdict } = line
  if (verdict === undefined) return
  tally.count("rounds")
  tally.count(verdict)
  tally.count("CPU milliseconds", cpuMilliseconds)
  tally.count(`${kindOf(file).pattern.source} ${verdict}`)
  const where = { base: base.split("/").at(-1) ?? base, file, offset, bit }
  if (isFailure(verdict)) tally.fail({ round, what: verdict, detail, where })
  if (healed !== undefined) tally.count(`not ready, ${healed ? "well" : "ILL"} with a peer`)
  if (healed === false) tally.fail({ round, what: "ILL", detail: `not well with a peer: ${detail}`, where })
}

/** Flips one bit of a data directory at a time, and looks what a node on it says. */
export const runFlip = async ({ count, only, seed, tell }: Options): Promise<Tally> => {
  const tally = new Tally("bit flips", seed)
  const place = makeWorkplace()
  let peer: DaemonProcess | undefined
  try {
    const directories = await makeDirectories(place.path)
    const bases = []
    for (const directory of directories) bases.push(await baseOf(directory))
    tell(`${bases.map(({ asked, directory }) => `${directory}: ${asked.length} questions`).join("\n")}`)
    const port = await freePort()
    const copy = join(place.path, "peer")
    cpSync(directories.at(-1) ?? "", copy, { recursive: true })
    const online = ["-maxpeers", "20", "-maxoutbound", "0", "-listen", `127.0.0.1:${port}`, ...FLIP_FLAGS.slice(2)]
    peer = await DaemonProcess.spawn({ directory: copy, args: online })
    await peer.start()
    const planFile = join(place.path, "plan.json")
    const plan: Plan = { place: place.path, bases, peer: port }
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
    await peer?.kill()
    place.remove()
  }
  return tally
}
