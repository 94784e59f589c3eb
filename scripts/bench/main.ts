// Measures the budgets of the design and prints JSON. `--help` has the options. The load chain is needed beside the project
// (shared/fixtures/regtest-load); measurements that need it say so where it is missing.

import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism, cpus, loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { signatureBackend } from "../../src/consensus/signature.ts"
import { version } from "../../src/version.ts"
import { ROOT } from "./nodeProcess.ts"
import { withSection } from "./report.ts"
import { type Section, SECTIONS } from "./sections.ts"

const PAGE = join(ROOT, "docs/performance.md")

const HELP = `usage: npm run bench -- [--SECTION…] [--write] [--runs N] [--pairs N]

Measures the sections and prints their figures as JSON; without a section, all of them, which takes an hour or more.
--write puts the figures into docs/performance.md. --runs and --pairs say how often some measurements are repeated.

--against PROGRAM  ${SECTIONS[0]?.title}: a namecoind, or the svcd.js of another build
${SECTIONS.slice(1).map(({ flag, title }) => `--${flag.padEnd(17)}${title}`).join("\n")}
`

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: "boolean" },
        write: { type: "boolean" },
        runs: { type: "string" },
        pairs: { type: "string" },
        against: { type: "string" },
        ...Object.fromEntries(SECTIONS.slice(1).map(({ flag }) => [flag, { type: "boolean" as const }]))
      }
    })
    return new Map(Object.entries(values))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`)
    process.exit(2)
  }
}

const revision = (): string => {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim()
  } catch {
    return "an unknown revision"
  }
}

const circumstances = (load: number | undefined): string => {
  const cpu = `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? "an unknown model"}`
  const day = new Date().toISOString().slice(0, 10)
  return `Measured on ${day}: svcd ${version} at ${revision()}, Node.js ${process.version}, signatures by ${signatureBackend()}, ${cpu}, ` +
    `load average before ${load?.toFixed(1) ?? "unknown"}.`
}

const options = readOptions()
if (options.has("help")) {
  process.stdout.write(HELP)
  process.exit()
}

const measure = async (section: Section): Promise<void> => {
  const [load] = loadavg()
  const against = options.get("against")
  const result = await section.measure({ against: typeof against === "string" ? against : undefined })
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
  if (!options.has("write")) return
  const page = existsSync(PAGE) ? readFileSync(PAGE, "utf8") : ""
  const measured = { ...section, result, circumstances: circumstances(load) }
  writeFileSync(PAGE, withSection(page, measured, SECTIONS.map(({ title }) => title)))
}

const chosen = SECTIONS.filter(({ flag }) => options.has(flag))
const [only] = chosen
if (only !== undefined && chosen.length === 1) {
  await measure(only)
  process.exit()
}

// Several: each in a process of its own, so that none has the memory of those before it.
const common = ["write", "runs", "pairs"].flatMap((name) => {
  const value = options.get(name)
  return typeof value === "string" ? [`--${name}`, value] : value === true ? [`--${name}`] : []
})
let failed = 0
for (const { flag, title } of chosen.length > 0 ? chosen : SECTIONS) {
  const against = options.get("against")
  if (flag === "against" && typeof against !== "string") continue
  process.stdout.write(`${title}\n`)
  const self = [...process.execArgv, fileURLToPath(import.meta.url)]
  const args = flag === "against" && typeof against === "string" ? ["--against", against] : [`--${flag}`]
  const { status } = spawnSync(process.execPath, [...self, ...args, ...common], { stdio: "inherit" })
  if (status !== 0) failed++
}
process.exit(failed === 0 ? 0 : 1)
