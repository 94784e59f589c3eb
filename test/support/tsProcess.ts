import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"
import { bundledSource } from "./bundle.ts"

/** A program of the tests in a process of its own, for what one process cannot show: locks, signals, closed pipes. */
export class TsProcess {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves to the exit code, or to the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  stdout = ""
  stderr = ""

  constructor(script: URL, args: ReadonlyArray<string>) {
    const program = fileURLToPath(bundledSource(inject("sharedDirectory"), script))
    this.child = spawn(process.execPath, [program, ...args], { stdio: "pipe" })
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => void (this.stdout += text))
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => void (this.stderr += text))
    this.ended = new Promise((resolve) => this.child.once("exit", (code, signal) => resolve(code ?? signal)))
  }

  /** Waits until standard output holds a text; fails where the process ends without it. */
  async says(text: string): Promise<void> {
    let exit: number | NodeJS.Signals | null | undefined
    const ended = this.ended.then((how) => void (exit = how))
    while (!this.stdout.includes(text)) {
      if (exit !== undefined) throw new Error(`ended (${exit}) without saying ${text}: ${this.stdout}${this.stderr}`)
      await Promise.race([once(this.child.stdout, "data"), ended])
    }
  }
}
