import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Worlds have processes apart from the one that counts them, which has none: a process has at most one at a time. */

/** The fastest disk. */
export const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

/** Where Node.js keeps compiled modules for the next process. */
const COMPILED = join(tmpdir(), "svcd-simulation-compiled")

/**
 * Flags of V8 for worlds. By default, the heap grows to several times what a world keeps (70 MB), and the process has to be
 * replaced after a seed or two, before its code is fast.
 */
const SMALL_HEAP = ["--max-semi-space-size=16", "--heap-growing-percent=50"]

/** Characters of what a process wrote to its standard error that are kept. */
const KEPT = 2_000

interface Program {
  readonly child: ChildProcess
  /** Its status, or the signal that ended it, with the end of what it wrote to its standard error. */
  readonly ended: Promise<string>
}

/** Those that have not ended. */
const running = new Set<ChildProcess>()

/**
 * Makes a directory for all that this process and those that it starts leave to each other. It goes with this process and
 * them, even if SIGINT or SIGTERM ends it.
 */
export const ownPlace = (): string => {
  const place = mkdtempSync(join(MEMORY, `svcd-simulation-${process.pid}-`))
  process.on("exit", () => {
    for (const child of running) child.kill("SIGKILL")
    // One that is ending may still make a file.
    rmSync(place, { recursive: true, force: true, maxRetries: 10 })
  })
  // Without a listener, a signal ends a process before "exit".
  process.on("SIGINT", () => process.exit(130))
  process.on("SIGTERM", () => process.exit(143))
  return place
}

/** Starts a program of this folder. */
const start = (name: "oneTemplate" | "worldProcess", ...given: ReadonlyArray<string>): Program => {
  const file = fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
  const child = spawn(process.execPath, [...SMALL_HEAP, ...process.execArgv, file, ...given], {
    stdio: ["ignore", "inherit", "pipe", "ipc"],
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env }
  })
  running.add(child)
  let errors = ""
  child.stderr?.on("data", (text: Buffer) => {
    errors = `${errors}${text.toString("utf8")}`.slice(-KEPT)
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (status, signal) => {
      running.delete(child)
      resolve(`${status ?? signal}: ${errors}`)
    })
  })
  return { child, ended }
}

/** Runs a program of this folder to its end. Returns its status, and the end of what it wrote to its standard error. */
export const runProgram = (...given: Parameters<typeof start>): Promise<string> => start(...given).ended

/** Processes that run plans, one after another: to start one costs a third of a run. */
export class WorldProcesses {
  private readonly idle: Array<Program> = []

  /**
   * Has the plan of a file run. Returns how its process ended, if it did before an answer. `isNew`: in a process that has
   * run no other plan.
   */
  async run(file: string, isNew: boolean): Promise<string | undefined> {
    const program = (isNew ? undefined : this.idle.pop()) ?? start("worldProcess")
    const answered = once(program.child, "message")
    program.child.send(file)
    const ended = await Promise.race([program.ended, answered.then(([goesOn]) => goesOn === true)])
    if (typeof ended === "string") return ended
    if (ended && !isNew) this.idle.push(program)
    else program.child.disconnect()
    return undefined
  }

  /** Ends those that run nothing. */
  close(): void {
    for (const { child } of this.idle.splice(0)) child.disconnect()
  }
}
