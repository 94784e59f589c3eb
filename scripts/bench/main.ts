// Measures the budgets of the design and prints JSON. `--help` has the options. The load chain is needed beside the project
// (shared/fixtures/regtest-load); measurements that need it say so where it is missing.

import { execFileSync, spawnSync } from "node:child_process"
import { availableParallelism, cpus } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { signatureBackend } from "../../src/consensus/signature.ts"
import { version } from "../../src/version.ts"
import { compareBuilds } from "./builds.ts"
import type { Contender } from "./contender.ts"
import { firstBlocks, withLoad } from "./loadChain.ts"
import { measureSection } from "./measure.ts"
import { ROOT } from "./nodeProcess.ts"
import { optionsOf } from "./options.ts"
import { type Section, SECTIONS } from "./sections.ts"

const PAGE = join(ROOT, "docs/performance.md")

/** Blocks of the chain that the short form of a comparison imports. */
const SHORT_BLOCKS = 3_000

const HELP = `usage: npm run bench -- [--SECTION…] [--write] [--runs N] [--pairs N] [--domains N]
       npm run bench -- --build SVCD_JS [--short] [--pairs N] [--limit RATIO] [--busy]

Measures the sections and prints their figures as JSON; without a section, all of them, which takes an hour or more.
--write puts the figures into docs/performance.md. --runs and --pairs say how often some measurements are repeated,
--domains how many names --dns has (100000).

--against PROGRAM  ${SECTIONS[0]?.title}: a namecoind
${SECTIONS.slice(1).map(({ flag, title }) => `--${flag.padEnd(17)}${title}`).join("\n")}

--build compares this build with the build/bin/svcd.js of another one, in turns, and ends with status 1 where a figure of processor
time is above --limit (1.05) times that of the other build. --short takes half of the chain and fewer figures. Both comparisons wait for a
machine that does little else, and leave out turns beside other programs; --busy counts them too.
`

const options = optionsOf(process.argv.slice(2))
if (typeof options === "string") {
  process.stderr.write(`${options}\n`)
  process.exit(2)
}
if (options.help) {
  process.stdout.write(HELP)
  process.exit()
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

/** Runs a measurement of this process; a failure is one sentence and status 1. */
const ending = async (work: () => Promise<number>): Promise<never> => {
  try {
    process.exit(await work())
  } catch (error) {
    process.stderr.write(`the measurement failed: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}

const { against, build, busy, flags, limit, short, write } = options

const comparison = async (other: Contender): Promise<number> => {
  const result = await withLoad((load) => {
    const { file, tip } = short ? firstBlocks(load, SHORT_BLOCKS) : { file: load.file, tip: load.tipHash }
    return compareBuilds({ busy, file, full: !short, limit, other, tip })
  })
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
  if ("skipped" in result) return 1
  if (result.slower.length === 0) return 0
  process.stderr.write(`slower than --limit allows: ${result.slower.join(", ")}\n`)
  return 1
}
if (build !== undefined) await ending(() => comparison(build))

const measure = ({ measure: figures, ...section }: Section): Promise<number> =>
  measureSection(
    { ...section, measure: () => figures({ against, busy }) },
    { page: write ? PAGE : undefined, sections: SECTIONS, circumstances }
  )

const chosen = SECTIONS.filter(({ flag }) => flag === "against" ? against !== undefined : flags.has(flag))
const [only] = chosen
if (only !== undefined && chosen.length === 1) await ending(() => measure(only))

// Several: each in a process of its own, so that none has the memory of those before it.
const common = process.argv.slice(2).flatMap((arg, i, all) =>
  arg === "--write" || arg === "--busy"
    ? [arg]
    : ["--runs", "--pairs", "--domains"].includes(arg)
    ? [arg, all[i + 1] ?? ""]
    : []
)
let failed = 0
for (const { flag, title } of chosen.length > 0 ? chosen : SECTIONS) {
  if (flag === "against" && against === undefined) continue
  process.stdout.write(`${title}\n`)
  const self = [...process.execArgv, fileURLToPath(import.meta.url)]
  const args = flag === "against" && against !== undefined ? ["--against", against.program] : [`--${flag}`]
  const { status } = spawnSync(process.execPath, [...self, ...args, ...common], { stdio: "inherit" })
  if (status !== 0) failed++
}
process.exit(failed === 0 ? 0 : 1)
