import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The project's root, from build/scripts/bench. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** The next message of a child process. Rejects if the process ends first: nothing comes from it any more. */
export const nextMessage = <A>(child: ChildProcess, name: string): Promise<A> =>
  new Promise((resolve, reject) => {
    const gone = (): void => {
      child.off("message", said)
      const how = child.signalCode ?? `status ${child.exitCode}`
      reject(new Error(`${name} ended with ${how} before the measurement: see what it printed above`))
    }
    const said = (message: A): void => {
      child.off("exit", gone)
      resolve(message)
    }
    if (child.exitCode !== null || child.signalCode !== null) return gone()
    child.once("message", said).once("exit", gone)
  })

export interface AnswerOptions {
  readonly args?: ReadonlyArray<string>
  /** A data directory that outlives the node; without it the node has one of its own, which is removed with it. */
  readonly directory?: string
  /** Options of Node.js, such as the limit of the heap. */
  readonly runtime?: ReadonlyArray<string>
  /** The built program, where it is not this project's. */
  readonly program?: string
  /** A program of Namecoin Core to start in place of svcd, with `args` of its own. */
  readonly reference?: string
}

/** Credentials for the reference node, which answers none without. */
const REFERENCE_USER = "bench"

const AUTHORIZATION = `Basic ${Buffer.from(`${REFERENCE_USER}:${REFERENCE_USER}`).toString("base64")}`

/** The program and its arguments. */
const commandOf = (
  { directory, rpcPort }: { readonly directory: string; readonly rpcPort: number },
  { args = [], program = join(ROOT, "build/bin/svcd.js"), reference, runtime = [] }: AnswerOptions
): readonly [string, ReadonlyArray<string>] => {
  if (reference !== undefined) {
    const access = [`-rpcuser=${REFERENCE_USER}`, `-rpcpassword=${REFERENCE_USER}`, `-rpcport=${rpcPort}`]
    return [reference, ["-regtest", "-printtoconsole=0", `-datadir=${directory}`, ...access, ...args]]
  }
  const place = ["-datadir", directory, "-rpcaddr", `127.0.0.1:${rpcPort}`]
  return [process.execPath, [...runtime, program, "-network", "regtest", ...place, "-loglevel", "error", ...args]]
}

/** A daemon on regtest, as a user starts it: svcd, or the reference node to compare with. */
export class NodeProcess {
  readonly child: ChildProcess
  readonly directory: string
  readonly startedAt = performance.now()
  readonly rpcPort: number
  /** The headers of a request. */
  readonly headers: { readonly authorization?: string }
  private readonly ended: Promise<unknown>
  private readonly ownDirectory: boolean

  private constructor(rpcPort: number, options: AnswerOptions) {
    const { directory, reference } = options
    this.rpcPort = rpcPort
    this.headers = reference === undefined ? {} : { authorization: AUTHORIZATION }
    this.ownDirectory = directory === undefined
    this.directory = directory ?? mkdtempSync(join(tmpdir(), "svcd-bench-"))
    const [command, args] = commandOf({ directory: this.directory, rpcPort }, options)
    this.child = spawn(command, args, { stdio: "ignore" })
    this.ended = new Promise((resolve) => this.child.once("exit", resolve))
  }

  static async start(options: AnswerOptions = {}): Promise<NodeProcess> {
    return new NodeProcess(await freePort(), options)
  }

  /** The result of a call; `undefined` where there is none. */
  async call(method: string, ...params: ReadonlyArray<unknown>): Promise<unknown> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.rpcPort}`, {
        method: "POST",
        headers: this.headers,
        body: JSON.stringify({ id: 1, method, params })
      })
      const answer: unknown = await response.json()
      return typeof answer === "object" && answer !== null && "result" in answer ? answer.result : undefined
    } catch {
      return undefined
    }
  }

  /** Waits until a method answers as wanted; returns the seconds since the start. `every` is the milliseconds between two calls. */
  async until(
    method: string,
    wanted: (result: unknown) => boolean,
    { every = 50, params = [] }: { readonly every?: number; readonly params?: ReadonlyArray<unknown> } = {}
  ): Promise<number> {
    while (!wanted(await this.call(method, ...params))) {
      if (this.child.exitCode !== null) throw new Error(`svcd ended with code ${this.child.exitCode}`)
      await pause(every)
    }
    return (performance.now() - this.startedAt) / 1000
  }

  untilTip(tip: string): Promise<number> {
    return this.until("getbestblockhash", (hash) => hash === tip)
  }

  /** A line of the process's status in MB, where the system reports it. */
  private status(line: string): number {
    const file = `/proc/${this.child.pid}/status`
    if (!existsSync(file)) return 0
    return Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1024)
  }

  get memoryMB(): number {
    return this.status("VmRSS")
  }

  get peakMemoryMB(): number {
    return this.status("VmHWM")
  }

  /** Ends the process; its data directory stays. */
  async end(): Promise<void> {
    this.child.kill()
    await this.ended
  }

  async stop(): Promise<void> {
    await this.end()
    if (this.ownDirectory) rmSync(this.directory, { recursive: true, force: true })
  }
}
