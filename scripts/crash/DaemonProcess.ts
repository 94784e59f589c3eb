import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { undoAtEnd } from "./leftovers.ts"
import { pause, RpcClient } from "./rpc.ts"
import { freePort, ROOT } from "./workplace.ts"

export interface DaemonOptions {
  readonly directory: string
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** The port to listen at; a free one by default. */
  readonly port?: number
  /** Another `bin/svcd.js` than that of the build. */
  readonly program?: string
}

/** The outcome of a start: ready to answer, or ended with the text on standard error. */
export type Start = { readonly ready: true } | { readonly ready: false; readonly reason: string }

const BUILT = join(ROOT, "build/bin/svcd.js")

/** The most milliseconds that a start may take, on a machine that is busy with other work. */
const START_PATIENCE = 600_000

/** Flags of every node of these tests: offline, no rate limit. */
export const flagsOf = (directory: string, port: number): ReadonlyArray<string> => [
  "-network",
  "regtest",
  "-datadir",
  directory,
  "-rpcaddr",
  `127.0.0.1:${port}`,
  "-ratelimit",
  "-1",
  "-verifythreads",
  "0",
  "-rpcdoccheck"
]

/** The daemon of the build in a process of its own, which can be killed. */
export class DaemonProcess {
  readonly rpc: RpcClient
  readonly port: number
  private readonly child: ChildProcess
  private readonly exit: Promise<void>
  private said = ""
  private over = false

  private constructor(
    port: number,
    { args = ["-maxpeers", "0"], directory, env = {}, program = BUILT }: DaemonOptions
  ) {
    this.port = port
    this.rpc = new RpcClient(port)
    this.child = spawn(process.execPath, [program, ...flagsOf(directory, port), "-loglevel", "warn", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env }
    })
    const listen = (text: string): void => {
      this.said = (this.said + text).slice(-20_000)
    }
    this.child.stdout?.setEncoding("utf8").on("data", listen)
    this.child.stderr?.setEncoding("utf8").on("data", listen)
    const done = undoAtEnd(() => void this.child.kill("SIGKILL"))
    this.exit = new Promise((resolve) =>
      this.child.once("close", () => {
        done()
        this.over = true
        resolve()
      })
    )
  }

  static async spawn(options: DaemonOptions): Promise<DaemonProcess> {
    return new DaemonProcess(options.port ?? await freePort(), options)
  }

  /** The last part of its log and of its standard error. */
  get words(): string {
    return this.said
  }

  get ended(): boolean {
    return this.over
  }

  /** Waits until it is ready or has ended. */
  async start(): Promise<Start> {
    const until = performance.now() + START_PATIENCE
    for (;;) {
      if (this.over) return { ready: false, reason: this.said.trim() }
      const { status } = await this.rpc.get("/ready")
      if (status === 200) return { ready: true }
      if (performance.now() > until) {
        const { body } = await this.rpc.get("/ready")
        return { ready: false, reason: `not ready after ${START_PATIENCE / 1000} s: ${body} ${this.said.trim()}` }
      }
      await pause(50)
    }
  }

  /** Ends it at once, as `kill -9` does. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.exit
  }

  /** Stops it in good order; returns whether it ended by itself within a minute. */
  async stop(): Promise<boolean> {
    this.child.kill("SIGTERM")
    const late = setTimeout(() => this.child.kill("SIGKILL"), 60_000)
    await this.exit
    clearTimeout(late)
    return this.child.exitCode === 0
  }
}
