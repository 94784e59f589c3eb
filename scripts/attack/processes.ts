import type { ChildProcess } from "node:child_process"
import { rmSync } from "node:fs"
import process from "node:process"
import { readProc, TICKS } from "../bench/cpuTime.ts"

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

/** Seconds of processor time of all processes of the machine together; 0 where the system does not report it. */
export const busySeconds = (): number => {
  const [first = ""] = readProc("stat").split("\n")
  const [user = 0, nice = 0, system = 0, _idle, _waiting, ...interrupts] = first.split(/\s+/).slice(1, 9).map(Number)
  return (user + nice + system + interrupts.reduce((sum, ticks) => sum + ticks, 0)) / TICKS
}
