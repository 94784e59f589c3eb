import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { withNames } from "./embedded.ts"
import { NodeProcess, ROOT } from "./nodeProcess.ts"

/** Runs of each command; the median counts. */
const RUNS = 30

/** Rounds before them, after which the compiled code is kept. */
const WARM = 3

/** Starts of the daemon; the median counts. */
const STARTS = 7

/** Milliseconds between two questions to a daemon that starts. */
const LOOK = 5

interface Times {
  readonly cpu: number
  readonly wall: number
}

/** Milliseconds that one run of Node.js takes: of processor time, user and system, and by the clock, as bash counts them. */
const timesOf = (args: ReadonlyArray<string>, cache: string): Times => {
  const timed = ["-c", "TIMEFORMAT='%U %S %R'; time \"$@\" > /dev/null 2> /dev/null", "bash", process.execPath, ...args]
  const env = { ...process.env, LC_ALL: "C", XDG_CACHE_HOME: cache }
  const { error, status, stderr } = spawnSync("bash", timed, { encoding: "utf8", env })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${args.join(" ")} ended with status ${status}`)
  const [user = Number.NaN, system = Number.NaN, wall = Number.NaN] = stderr.trim().split(" ").map(Number)
  return { cpu: 1000 * (user + system), wall: 1000 * wall }
}

const medianOf = (values: ReadonlyArray<number>): number =>
  Math.round(values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN)

/** Milliseconds from the start of the daemon on an existing directory to its first answer. */
const firstAnswer = async (directory: string): Promise<number> => {
  const times: Array<number> = []
  for (let run = 0; run < STARTS; run++) {
    const node = await NodeProcess.start({ directory, args: ["-maxpeers", "0", "-disablewallet"] })
    try {
      times.push(1000 * await node.until("getblockcount", (count) => typeof count === "number", { every: LOOK }))
    } finally {
      await node.stop()
    }
  }
  return medianOf(times)
}

const commandsFor = (
  { directory, rpcPort }: NodeProcess,
  name: string
): Readonly<Record<string, ReadonlyArray<string>>> => {
  const program = (file: string): string => join(ROOT, "build/bin", file)
  const cli = [
    program("svcd-cli.cjs"),
    "-network",
    "regtest",
    "-datadir",
    directory,
    "-rpcaddr",
    `127.0.0.1:${rpcPort}`
  ]
  return {
    "svcd-cli getblockcount": [...cli, "getblockcount"],
    "svcd-cli status": [...cli, "status"],
    "svcd-cli names": [...cli, "names"],
    "svcd-cli name": [...cli, "name", name],
    "svcd-cli --version": [program("svcd-cli.cjs"), "--version"],
    "svcd --version": [program("svcd.js"), "--version"],
    "svcd-mail --version": [program("svcd-mail.js"), "--version"],
    "node -e 0": ["-e", "0"]
  }
}

/**
 * What commands take, each a process of its own beside a running node; in turns, as a machine is not equally fast all the time. Then
 * the start of the daemon on the directory of that node.
 */
export const benchCli = async (): Promise<object> => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-cli-"))
  const cache = join(directory, "cache")
  mkdirSync(join(directory, "node"))
  try {
    const commands = await withNames({ directory: join(directory, "node") }, (node, [name = ""]) => {
      const found = Object.entries(commandsFor(node, name)).map(([title, args]) => ({
        title,
        args,
        times: new Array<Times>()
      }))
      for (let round = 0; round < WARM + RUNS; round++) {
        for (const { args, times } of found) {
          const time = timesOf(args, cache)
          if (round >= WARM) times.push(time)
        }
      }
      return found
    })
    const medians = (by: (times: Times) => number): object =>
      Object.fromEntries(commands.map(({ times, title }) => [title, medianOf(times.map(by))]))
    return {
      what: "milliseconds of a command: of processor time, and by the clock",
      cpuMilliseconds: medians(({ cpu }) => cpu),
      milliseconds: medians(({ wall }) => wall),
      svcdFirstAnswerMilliseconds: await firstAnswer(join(directory, "node"))
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
