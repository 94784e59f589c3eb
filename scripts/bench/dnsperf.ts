import { spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { programOf } from "../dns/resolvers.ts"
import { percentileOf } from "./search.ts"

/** Clients, and questions under way: the same for each server. */
const LINE = ["-c", "4", "-q", "200"]

/** A file of questions, and how they are asked. */
export interface Load {
  readonly port: number
  /** Lines of a name and a type. */
  readonly file: string
  /** With the DO bit; else EDNS alone. */
  readonly dnssec?: boolean
  /** Seconds to ask over and over; without them each question is asked `times`. */
  readonly seconds?: number
  /** 1 if missing. */
  readonly times?: number
  /** Questions a second at most. */
  readonly rate?: number
  /** Other clients than `LINE`. */
  readonly line?: ReadonlyArray<string>
}

export interface LoadFigures {
  readonly perSecond: number
  readonly asked: number
  readonly lost: number
  /** Answers by their code, as in `NOERROR 20000 (100.00%)`. */
  readonly codes: string
}

export const hasDnsperf = (): boolean => programOf("dnsperf") !== undefined

/** What dnsperf prints, by way of a file: a process that read a line for each answer would take the processor from both sides. */
const outputOf = async (args: ReadonlyArray<string>): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-dnsperf-"))
  const file = join(directory, "output")
  const output = openSync(file, "w")
  try {
    const child = spawn("dnsperf", args, { stdio: ["ignore", output, "inherit"] })
    const code = await new Promise((resolve, reject) => child.once("error", reject).once("exit", resolve))
    if (code !== 0) throw new Error(`dnsperf ended with ${String(code)}`)
    return readFileSync(file, "utf8")
  } finally {
    closeSync(output)
    rmSync(directory, { recursive: true, force: true })
  }
}

const run = (
  { dnssec = false, file, line = LINE, port, rate, seconds, times = 1 }: Load,
  extra: ReadonlyArray<string> = []
): Promise<string> => {
  const length = seconds === undefined ? ["-n", String(times)] : ["-l", String(seconds)]
  const most = rate === undefined ? [] : ["-Q", String(rate)]
  const args = [
    "-s",
    "127.0.0.1",
    ...line,
    "-p",
    String(port),
    "-d",
    file,
    dnssec ? "-D" : "-e",
    ...length,
    ...most,
    ...extra
  ]
  return outputOf(args)
}

const figure = (output: string, label: string): string => new RegExp(`${label}:\\s+(.+)`, "u").exec(output)?.[1] ?? ""

export const load = async (options: Load): Promise<LoadFigures> => {
  const output = await run(options)
  const number = (label: string): number => Number.parseFloat(figure(output, label))
  return {
    perSecond: Math.round(number("Queries per second")),
    asked: number("Queries sent"),
    lost: number("Queries lost"),
    codes: figure(output, "Response codes")
  }
}

const TIME = /^> [A-Z]+ .* (\d+\.\d+)$/u

/** Times from a question to its answer, in milliseconds. */
export const latencies = async (options: Load): Promise<{ readonly p50: number; readonly p99: number }> => {
  const output = await run(options, ["-v"])
  const times = output.split("\n").flatMap((line) => {
    const time = TIME.exec(line)?.[1]
    return time === undefined ? [] : [1_000 * Number(time)]
  }).toSorted((a, b) => a - b)
  return { p50: percentileOf(times, 0.5), p99: percentileOf(times, 0.99) }
}
