import type { ChildProcess } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import process from "node:process"

/** Kills a node, and removes its data directory, when this program is told to stop. */
export const endWithUs = ({ child, directory }: { readonly child: ChildProcess; readonly directory: string }): void => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const end = (): void => {
      child.kill("SIGKILL")
      rmSync(directory, { recursive: true, force: true })
      process.exitCode = 130
      setImmediate(() => process.exit())
    }
    process.once(signal, end)
    child.once("exit", () => process.off(signal, end))
  }
}

/** The system's figures of processor time, in seconds: 0 where it has none. */

/** Ticks of a second in /proc. */
const TICKS = 100

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** The processor time of a process. */
export const cpuSeconds = ({ pid }: ChildProcess | typeof process): number => {
  const stat = read(`/proc/${pid}/stat`)
  // The program's name in parentheses comes first; user and system time are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS
}

/** The processor time of all processes of the machine together. */
export const busySeconds = (): number => {
  const [first = ""] = read("/proc/stat").split("\n")
  const [user = 0, nice = 0, system = 0, _idle, _waiting, ...interrupts] = first.split(/\s+/).slice(1, 9).map(Number)
  return (user + nice + system + interrupts.reduce((sum, ticks) => sum + ticks, 0)) / TICKS
}
