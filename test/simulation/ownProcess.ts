import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** A process has at most one world, and what a world leaves in memory would change the next one: each has its own. */

/** Where Node.js keeps compiled modules for the next run. */
const COMPILED = join(tmpdir(), "svcd-simulation-compiled")

/** Characters of what a process wrote to its standard error that are kept. */
const KEPT = 2_000

/**
 * Runs a program of this folder to its end. Returns its status, or the signal that ended it, with the end of what it
 * wrote to its standard error.
 */
export const inOwnProcess = (program: "oneRun" | "oneTemplate", ...given: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const file = fileURLToPath(new URL(`./${program}${extname(import.meta.url)}`, import.meta.url))
    const child = spawn(process.execPath, [...process.execArgv, file, ...given], {
      stdio: ["ignore", "inherit", "pipe"],
      env: { NODE_COMPILE_CACHE: COMPILED, ...process.env }
    })
    let errors = ""
    child.stderr.on("data", (text: Buffer) => {
      errors = `${errors}${text.toString("utf8")}`.slice(-KEPT)
    })
    child.on("error", reject)
    child.on("close", (status, signal) => resolve(`${status ?? signal}: ${errors}`))
  })
