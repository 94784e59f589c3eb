import { readFileSync } from "node:fs"
import process from "node:process"

/** Clock ticks a second in the files of /proc (Linux: always 100 for programs). */
export const TICKS = 100

/** A file of /proc; empty where the system has none, or the process has ended. */
export const readProc = (file: string): string => {
  try {
    return readFileSync(`/proc/${file}`, "utf8")
  } catch {
    return ""
  }
}

/** Seconds of processor time that a process has taken, all threads; 0 where the system does not report it. */
export const cpuSecondsOf = (pid: number | undefined): number => {
  const stat = readProc(`${pid}/stat`)
  // The program's name in parentheses comes first; user and system time are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS
}

/** Seconds of processor time that this process has taken, all threads. */
export const ownCpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1e6
}
