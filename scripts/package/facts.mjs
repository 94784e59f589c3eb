// What the parts of package.mjs share.

import { spawnSync } from "node:child_process"
import { chmodSync, lstatSync, lutimesSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

export const PROJECT = fileURLToPath(new URL("../../", import.meta.url))

export const { author, bin, description, version } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"))

export const programs = Object.keys(bin)

/** The file that starts a program, within the folder of the programs. */
export const fileOf = (program) => basename(bin[program])

/** Runs a program, and returns what it printed; a failure ends the script with what the program said. */
export const run = (program, args, options = {}) => {
  const { error, status, stderr, stdout } = spawnSync(program, args, {
    cwd: PROJECT,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    ...options
  })
  if (error !== undefined || status !== 0) {
    console.error(`${program} ${args.join(" ")}: ${error?.message ?? `status ${status}\n${stderr}`}`)
    process.exit(1)
  }
  return stdout
}

let known

/** Unix time of every file: that of the commit, unless SOURCE_DATE_EPOCH names another. */
export const commitTime = () =>
  known ??= Number(process.env["SOURCE_DATE_EPOCH"] ?? run("git", ["log", "-1", "--format=%ct"]).trim())

/** Gives every file below a folder, and the folder, the same modes and times wherever the script runs. */
export const settle = (path) => {
  const found = lstatSync(path)
  if (found.isDirectory()) { for (const name of readdirSync(path)) settle(join(path, name)) }
  if (!found.isSymbolicLink()) chmodSync(path, found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644)
  lutimesSync(path, commitTime(), commitTime())
}
