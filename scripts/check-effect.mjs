// Runs the diagnostics of @effect/language-service over all sources, in as many processes as the machine has cores, four at
// most: one process takes minutes. Usage: check-effect.mjs

import { spawn } from "node:child_process"
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import ts from "typescript"

/** Each process reads the types of all sources again, some 2 GB. */
const MOST = 4

const root = fileURLToPath(new URL("..", import.meta.url))
const config = join(root, "tsconfig.json")
const directory = join(root, "build", "effect")

/** All files of tsconfig.json, in parts of about the same size whose files are neighbours. */
const parts = () => {
  const { fileNames } = ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, root)
  const count = Math.min(MOST, availableParallelism())
  const sizes = fileNames.toSorted().map((name) => ({ name, size: statSync(name).size }))
  const whole = sizes.reduce((sum, { size }) => sum + size, 0)
  const lists = Array.from({ length: count }, () => [])
  let before = 0
  for (const { name, size } of sizes) {
    lists[Math.floor((before / whole) * count)].push(name)
    before += size
  }
  return lists
}

const diagnose = (files, place) =>
  new Promise((resolve, reject) => {
    const project = join(directory, `part-${place}.json`)
    writeFileSync(project, JSON.stringify({ extends: config, files, include: [] }))
    const program = join(root, "node_modules", "@effect", "language-service", "cli.js")
    const child = spawn(process.execPath, [program, "diagnostics", "--project", project, "--strict"], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"]
    })
    const output = []
    child.stdout.on("data", (data) => output.push(data))
    child.on("error", reject)
    child.on("close", (status) => {
      process.stdout.write(Buffer.concat(output))
      resolve(status === 0)
    })
  })

mkdirSync(directory, { recursive: true })
const outcomes = await Promise.all(parts().map(diagnose))
process.exitCode = outcomes.every(Boolean) ? 0 : 1
