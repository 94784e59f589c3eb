// Runs the diagnostics of Effect over all sources, on the native compiler of TypeScript 7: one in JavaScript takes ten times as long.
// Usage: check-effect.mjs, which installs what scripts/effect/package-lock.json pins.

import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL("effect/", import.meta.url))
const config = fileURLToPath(new URL("../tsconfig.json", import.meta.url))
const windows = process.platform === "win32"

const run = (program, args) => {
  const { error, signal, status } = spawnSync(program, args, {
    cwd: here,
    shell: windows,
    stdio: ["ignore", "inherit", "inherit"]
  })
  if (error !== undefined) throw error
  if (signal !== null) console.error(`${program} was ended by ${signal}`)
  return status ?? 1
}

const read = (...path) => JSON.parse(readFileSync(join(here, ...path), "utf8"))

const isInstalled = ([name, version]) => {
  const path = ["node_modules", name, "package.json"]
  return existsSync(join(here, ...path)) && read(...path).version === version
}

const main = () => {
  const { dependencies } = read("package.json")
  const platform = `node_modules/@effect/tsgo-${process.platform}-${process.arch}`
  if (read("package-lock.json").packages[platform] === undefined) {
    console.log(`Effect diagnostics skipped: there is no compiler for ${process.platform} on ${process.arch}`)
    return 0
  }
  if (!Object.entries(dependencies).every(isInstalled)) {
    const status = run("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"])
    if (status !== 0) {
      console.error("Effect diagnostics: npm could not install the packages of scripts/effect")
      return 1
    }
  }
  const program = join(here, "node_modules", "@effect", "tsgo", "dist", "effect-tsgo.cjs")
  return run(process.execPath, [
    program,
    ...["diagnostics", "--project", config, "--format", "text", "--severity", "error,warning", "--strict"]
  ])
}

process.exitCode = main()
