import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { programOf } from "../dns/resolvers.ts"
import { percentileOf } from "./search.ts"

/** Clients, and questions under way: the same for each server. */
const LINE = ["-c", "4", "-q", "200"]

/** Bytes of what dnsperf prints with a line for each question. */
const MOST_OUTPUT = 1 << 29

/** A file of questions, and how they are asked. */
export interface Load {
  readonly port: number
  /** Lines of a name and a type. */
  readonly file: string
  /** With the DO bit; else EDNS alone. */
  readonly dnssec?: boolean
  /** Seconds to ask over and over; without them each question is asked once. */
  readonly seconds?: number
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

const run = async (
  { dnssec = false, file, line = LINE, port, rate, seconds }: Load,
  extra: ReadonlyArray<string> = []
): Promise<string> => {
  const length = seconds === undefined ? ["-n", "1"] : ["-l", String(seconds)]
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
  const { stdout } = await promisify(execFile)("dnsperf", args, { encoding: "utf8", maxBuffer: MOST_OUTPUT })
  return stdout
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
