import { type ChildProcess, spawn } from "node:child_process"
import { undoAtEnd } from "./leftovers.ts"

/** A program that keeps a copy of a daemon's names, in a process of its own, which can be killed. */
export class CopyProcess {
  private readonly child: ChildProcess
  private readonly exit: Promise<void>
  private readonly name: string
  private said = ""

  /** Starts a script. `name` is for messages. */
  constructor(name: string, script: string, ...args: ReadonlyArray<string>) {
    this.name = name
    this.child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => (this.said = (this.said + text).slice(-4_000)))
    }
    const done = undoAtEnd(() => void this.child.kill("SIGKILL"))
    this.exit = new Promise((resolve) =>
      this.child.once("close", () => {
        done()
        resolve()
      })
    )
  }

  /** Why it ended by itself; `undefined` while it runs. */
  get trouble(): string | undefined {
    return this.child.exitCode === null ? undefined : `${this.name} ended: ${this.said.trim()}`
  }

  /** The end of what it printed. */
  get words(): string {
    return this.said
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await this.exit
  }
}
