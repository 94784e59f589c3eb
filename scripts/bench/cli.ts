import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { withNames } from "./embedded.ts"
import { type NodeProcess, ROOT } from "./nodeProcess.ts"

/** Runs of each command; the median counts. */
const RUNS = 30

/** Rounds before them, after which the compiled code is kept. */
const WARM = 3

/** Milliseconds of processor time that one run of Node.js takes, user and system, as bash counts them. */
const cpuMillisecondsOf = (args: ReadonlyArray<string>, cache: string): number => {
  const timed = ["-c", "TIMEFORMAT='%U %S'; time \"$@\" > /dev/null 2> /dev/null", "bash", process.execPath, ...args]
  const env = { ...process.env, LC_ALL: "C", XDG_CACHE_HOME: cache }
  const { error, status, stderr } = spawnSync("bash", timed, { encoding: "utf8", env })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${args.join(" ")} ended with status ${status}`)
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(" ").map(Number)
  return 1000 * (user + system)
}

const commandsFor = (
  { directory, rpcPort }: NodeProcess,
  name: string
): Readonly<Record<string, ReadonlyArray<string>>> => {
  const program = (file: string): string => join(ROOT, "build/bin", file)
  const cli = [program("svcd-cli.js"), "-network", "regtest", "-datadir", directory, "-rpcaddr", `127.0.0.1:${rpcPort}`]
  return {
    "svcd-cli getblockcount": [...cli, "getblockcount"],
    "svcd-cli status": [...cli, "status"],
    "svcd-cli names": [...cli, "names"],
    "svcd-cli name": [...cli, "name", name],
    "svcd-cli --version": [program("svcd-cli.js"), "--version"],
    "svcd --version": [program("svcd.js"), "--version"],
    "svcd-mail --version": [program("svcd-mail.js"), "--version"],
    "node -e 0": ["-e", "0"]
  }
}

/** What commands cost the processor, each a process of its own beside a running node; in turns, as a machine is not equally fast all the time. */
export const benchCli = (): Promise<object> =>
  withNames({}, async (node, [name = ""]) => {
    const cache = mkdtempSync(join(tmpdir(), "svcd-bench-cli-"))
    try {
      const commands = Object.entries(commandsFor(node, name)).map(([title, args]) => ({
        title,
        args,
        times: new Array<number>()
      }))
      for (let round = 0; round < WARM + RUNS; round++) {
        for (const { args, times } of commands) {
          const time = cpuMillisecondsOf(args, cache)
          if (round >= WARM) times.push(time)
        }
      }
      const medians = commands.map(({ times, title }) =>
        [title, Math.round(times.toSorted((a, b) => a - b)[RUNS >> 1] ?? Number.NaN)] as const
      )
      return { what: "milliseconds of processor time", ...Object.fromEntries(medians), goal: "svcd-cli <= 120" }
    } finally {
      rmSync(cache, { recursive: true, force: true })
    }
  })
