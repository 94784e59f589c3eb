import { readdirSync } from "node:fs"
import { readProc, TICKS } from "./cpuTime.ts"
import { pause } from "./nodeProcess.ts"

/** What other programs of the machine do beside a measurement: they take time from it, and more from a program of many threads. */

/** Cores that other programs may use on average while a measurement counts. */
export const FOREIGN_LIMIT = 0.2

/** Milliseconds between two looks at the machine, and how long a measurement waits at most for a quiet one. */
const LOOK = 2_000
const MOST = 60_000

/** Seconds that all cores were busy since the machine started. */
const busySeconds = (): number => {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] =
    (readProc("stat").split("\n", 1)[0] ?? "")
      .split(/ +/u).map(Number)
  return (user + nice + system + irq + softirq + steal) / TICKS
}

interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  /** Of the process, and of its children that have ended. */
  readonly seconds: number
}

const timesOf = (pid: number): ReadonlyArray<ProcessTimes> => {
  const stat = readProc(`${pid}/stat`)
  if (stat === "") return []
  // The program's name in parentheses comes first. After it: state, parent, and from the 12th field on the times.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number)
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0)
  return [{ pid, parent: fields[1] ?? 0, seconds: ticks / TICKS }]
}

/** Seconds of processor time that this process and all processes below it have taken. */
const treeSeconds = (): number => {
  const all = readdirSync("/proc").filter((name) => /^\d+$/u.test(name)).flatMap((name) => timesOf(Number(name)))
  const tree = new Set([process.pid])
  for (let size = 0; size < tree.size;) {
    size = tree.size
    for (const { parent, pid } of all) if (tree.has(parent)) tree.add(pid)
  }
  return all.reduce((sum, { pid, seconds }) => tree.has(pid) ? sum + seconds : sum, 0)
}

/** Counts from its construction on what other programs take. */
export class ForeignLoad {
  private readonly began = performance.now()
  private readonly before = this.foreignSeconds()

  private foreignSeconds(): number {
    // Without /proc nothing is known of other programs.
    return process.platform === "linux" ? busySeconds() - treeSeconds() : 0
  }

  /** The cores that other programs used on average. */
  cores(): number {
    return Math.max(0, (this.foreignSeconds() - this.before) * 1000 / (performance.now() - this.began))
  }
}

/** Waits, for at most a minute, until other programs do little. Returns whether they do. */
export const untilQuiet = async (): Promise<boolean> => {
  for (const began = performance.now();;) {
    const foreign = new ForeignLoad()
    await pause(LOOK)
    if (foreign.cores() <= FOREIGN_LIMIT) return true
    if (performance.now() - began > MOST) return false
  }
}
