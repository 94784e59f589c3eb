// Finds fixed waits in tests: a test waits for a condition or an event (test/support/eventually.ts), or moves the TestClock.
// Usage: check-waits.mjs [root]

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { sourcesUnder } from "./importGraph.mjs"

const WAIT = /(?<![.\w])setTimeout\(|\bEffect\.(?:sleep|delay)\(/g

/** The helpers, tests of whole programs, and the simulator, whose time is virtual. */
const FREE = /^(?:support|integration|simulation)\//

/** Times that are what a test is about. */
const TESTED = {
  // That sleeping takes real time.
  "base/NodeClock.test.ts": "Effect.sleep(",
  // The pauses between the pieces of a request.
  "http/laneEquality.test.ts": "setTimeout(",
  // The latency of a peer.
  "network/sync/fakePeers.ts": "Effect.sleep(",
  // On the test clock.
  "programs/cli/cliConnection.test.ts": "Effect.delay(",
  // Source texts that another check refuses.
  "scripts/checkImports.test.ts": "setTimeout("
}

const [root = fileURLToPath(new URL("..", import.meta.url))] = process.argv.slice(2)

const files = sourcesUnder(join(root, "test")).filter((file) => !FREE.test(file))
const problems = files.flatMap((file) => {
  const text = readFileSync(join(root, "test", file), "utf8")
  return [...text.matchAll(WAIT)].filter(([wait]) => wait !== TESTED[file]).map(({ 0: wait, index }) =>
    `test/${file}:${text.slice(0, index).split("\n").length}: ${wait}…): wait for a condition or an event`
  )
})
for (const problem of problems) console.error(problem)
console.log(`waits: ${files.length} files, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
