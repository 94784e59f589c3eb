// Tests how the node's files survive crashes: npm run crash -- kill|prune|snapshot|events|webhooks|postgres|electrum|cut|flip [--count N] [--seed S] [--only K]
//                                                           [--json FILE] [--files PATTERN]
//   kill  a daemon under load is killed repeatedly; what it acknowledged must be there each time
//   snapshot  a daemon is killed while it loads a snapshot; it must have its old or its new chain state;
//            then while it validates the blocks below
//   prune a daemon is killed while it deletes old blocks
//   events  a daemon and a copy of its names that follows the events are killed; the copy must be equal each time
//   webhooks  a daemon is killed while a real server receives its webhook: in order, without a gap, repeats with their id
//   postgres  a daemon, svcd-export and PostgreSQL are killed; the tables must be equal to names.db each time
//   electrum  the build of the index of scripts is killed; up to its cursor, it must be that of a build without a kill
//   cut   a daemon is started on what a disk may hold after a power cut
//   flip  a daemon is started on data of which one bit was flipped

import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { runCut } from "./cut.ts"
import { runElectrum } from "./electrum.ts"
import { runEvents } from "./events.ts"
import { runFlip } from "./flip.ts"
import { runKill } from "./kill.ts"
import { runPostgres } from "./postgres.ts"
import { runPrune } from "./prune.ts"
import type { Options, Tally } from "./report.ts"
import { runSnapshot } from "./snapshot.ts"
import { runWebhooks } from "./webhooks.ts"

type Test = (options: Options) => Promise<Tally>

const TESTS: Readonly<Record<string, { readonly run: Test; readonly count: number }>> = {
  kill: { run: runKill, count: 1000 },
  prune: { run: runPrune, count: 200 },
  snapshot: { run: runSnapshot, count: 100 },
  events: { run: runEvents, count: 1000 },
  webhooks: { run: runWebhooks, count: 500 },
  postgres: { run: runPostgres, count: 200 },
  electrum: { run: runElectrum, count: 1000 },
  cut: { run: runCut, count: 500 },
  flip: { run: runFlip, count: 10_000 }
}

const { positionals: [name = ""], values } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    json: { type: "string" },
    files: { type: "string" }
  }
})
const test = TESTS[name]
if (test === undefined) {
  process.stderr.write(`crash: say one of ${Object.keys(TESTS).join(", ")}\n`)
  process.exit(2)
}

// Daemons, workers and data directories are removed when this process ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130))

const tally = await test.run({
  count: Number(values.count ?? test.count),
  seed: Number(values.seed),
  only: values.only === undefined ? undefined : Number(values.only),
  ...values.files === undefined ? {} : { files: values.files },
  tell: (line) => void process.stderr.write(`${line}\n`)
})
process.stdout.write(tally.table())
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(tally.json(), undefined, 2)}\n`)
process.exit(tally.passed ? 0 : 1)
