import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const SCRIPT = join(ROOT, "scripts/check-imports.mjs")

let root = ""

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svcd-imports-"))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Writes a source tree and checks it. The compiler loads slowly, so a tree holds many cases. */
const check = (sources: Readonly<Record<string, string>>) => {
  const tree = mkdtempSync(join(root, "tree-"))
  const manifest = { dependencies: { effect: "1", "@effect/sql": "1", "@noble/hashes": "1", "@scure/base": "1" } }
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...sources })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const { status, stderr, stdout } = spawnSync(process.execPath, [SCRIPT, tree], { encoding: "utf8" })
  return { status, stdout, problems: stderr.split("\n").filter((line) => line !== "") }
}

const CHAIN = { "src/chain/errors.ts": "export const chain = 1\n" }

const FAULTS: ReadonlyArray<readonly [file: string, text: string, line: number, problem: string]> = [
  [
    "storage/a.ts",
    `\nimport { chain } from "../chain/errors.ts"`,
    2,
    `"../chain/errors.ts": chain comes after storage`
  ],
  ["storage/b.ts", `import type { C } from "../chain/errors.ts"`, 1, `"../chain/errors.ts": chain comes after storage`],
  ["storage/c.ts", `export * as c from "../chain/errors.ts"`, 1, `"../chain/errors.ts": chain comes after storage`],
  ["storage/d.ts", `const c = import("../chain/errors.ts")`, 1, `"../chain/errors.ts": chain comes after storage`],
  ["storage/e.ts", `type C = import("../chain/errors.ts").C`, 1, `"../chain/errors.ts": chain comes after storage`],
  ["storage/f.ts", `import "../chain/none.ts"`, 1, `"../chain/none.ts": leads nowhere`],
  ["node/a.ts", `import "../index.ts"`, 1, `"../index.ts": index.ts comes after node`],
  ["index.ts", `import "./bin/a.ts"`, 1, `"./bin/a.ts": bin comes after index.ts`],
  [
    "protocol/a.ts",
    `import "../version.ts"`,
    1,
    `"../version.ts": the core is plain and synchronous, and imports only itself`
  ],
  [
    "protocol/b.ts",
    `import "node:fs"`,
    1,
    `"node:fs": the core takes nothing from outside but @noble/* and @scure/base`
  ],
  [
    "consensus/a.ts",
    `import "effect/Array"`,
    1,
    `"effect/Array": the core takes nothing from outside but @noble/* and @scure/base`
  ],
  [
    "network/wire/a.ts",
    `import "../../chain/errors.ts"`,
    1,
    `"../../chain/errors.ts": the core is plain and synchronous, and imports only itself`
  ],
  [
    "chain/a.ts",
    `import { Effect } from "effect"`,
    1,
    `"effect": loads the whole package: import its modules one by one`
  ],
  ["chain/b.ts", `import "@effect/sql"`, 1, `"@effect/sql": loads the whole package: import its modules one by one`],
  ["chain/c.ts", `import "typescript"`, 1, `"typescript": typescript is not among the packages of package.json`],
  ["chain/d.ts", `import "../../test/support/a.ts"`, 1, `"../../test/support/a.ts": leads out of src`],
  [
    "network/a.ts",
    `import { isIP, connect as call } from "node:net"`,
    1,
    `"node:net": peers are reached through network/connect/Transport.ts`
  ],
  [
    "wallet/a.ts",
    `import { createHash, scrypt } from "node:crypto"`,
    1,
    `"node:crypto": work of the thread pool goes through doAside of base/disk.ts`
  ],
  [
    "storage/g.ts",
    `import { readFileSync, renameSync } from "node:fs"`,
    1,
    `"node:fs": files are written through base/disk.ts`
  ],
  [
    "storage/h.ts",
    `import { Worker } from "node:worker_threads"`,
    1,
    `"node:worker_threads": threads are started by base/threads.ts`
  ],
  [
    "node/b.ts",
    `import * as dns from "node:dns"`,
    1,
    `"node:dns": peers are reached through network/connect/Transport.ts`
  ]
]

describe("check-imports", () => {
  it("passes imports of earlier folders, of the same one and of dependencies by module", () => {
    const { problems, status, stdout } = check({
      ...CHAIN,
      "src/version.ts": "",
      "src/protocol/bytes.ts": `import { sha256 } from "@noble/hashes/sha2.js"\nimport { base58 } from "@scure/base"`,
      "src/protocol/hash.ts": `import { createHash } from "node:crypto"`,
      "src/config/help.ts": `import { version } from "../version.ts"`,
      "src/chain/Chain.ts": `import * as Data from "effect/Data"\nimport "../protocol/bytes.ts"\nimport "./errors.ts"`,
      "src/network/wire/framing.ts": `import { hash } from "../../protocol/bytes.ts"`,
      "src/network/connect/Transport.ts": `import { connect } from "node:net"`,
      "src/network/peer.ts": `import { isIP } from "node:net"\nimport type { Socket } from "node:net"`,
      "src/index.ts": `// import "./bin/svcd.ts"\nexport * as Chain from "./chain/Chain.ts"`
    })
    assert.deepStrictEqual(problems, [])
    assert.include(stdout, "10 files, 12 imports, 0 problems")
    assert.strictEqual(status, 0)
  })

  it("names every import that does not, with file and line", () => {
    const sources = Object.fromEntries(FAULTS.map(([file, text]) => [`src/${file}`, text]))
    const { problems, status } = check({ ...CHAIN, "src/version.ts": "", "src/bin/a.ts": "", ...sources })
    const expected = FAULTS.map(([file, , line, problem]) => `src/${file}:${line}: ${problem}`)
    assert.deepStrictEqual([...problems].sort(), [...expected].sort())
    assert.strictEqual(status, 1)
  })

  it("names a folder without a place, a heavy import of svcd-cli, circles, and names and tags of two things", () => {
    // In one tree: no fault of a file has to do with that of another.
    const { problems } = check({
      ...CHAIN,
      "src/helpers/text.ts": "",
      "src/rpc/json.ts": `import type { chain } from "../chain/errors.ts"`,
      "src/rpc/RpcClient.ts": `import { chain } from "../chain/errors.ts"`,
      "src/bin/svcd-cli.ts": `import "../rpc/json.ts"\nimport "../rpc/RpcClient.ts"`,
      "src/chain/a.ts": `import type { B } from "./b.ts"\nexport type A = B`,
      "src/chain/b.ts": `import "../names/none.ts"\nimport { C } from "./c.ts"`,
      "src/chain/c.ts": `import { type A } from "./a.ts"`,
      "src/chain/d.ts": `import "./a.ts"`,
      "src/chain/e.ts": `export type Plan = 1\nexport const make = 1\nclass E extends Data.TaggedError("Gone")<{}> {}`,
      "src/names/f.ts": `export interface Plan {}\nexport const make = 2`,
      "src/names/g.ts": `class G extends Schema.TaggedError<G>()("Gone", {}) {}`
    })
    assert.deepStrictEqual([...problems].sort(), [
      "src/bin/svcd-cli.ts:1: has to stay light, but loads rpc/RpcClient.ts → chain/errors.ts",
      // Types count for a circle, and do not for what svcd-cli loads.
      "src/chain/a.ts:1: imports itself through chain/b.ts, chain/c.ts",
      "src/chain/b.ts:1: \"../names/none.ts\": leads nowhere",
      // `make` is what many files export.
      "src/chain/e.ts:1: Plan is exported by names/f.ts as well",
      "src/chain/e.ts:1: the _tag Gone is in names/g.ts as well",
      "src/helpers/text.ts:1: helpers has no place in the order of folders"
    ])
  })

  it("names time, timers and random numbers that do not come from base", () => {
    const uses = [
      ["setTimeout(f, 1)", "setTimeout goes round a seam: use afterDelay of base/turns.ts"],
      ["const later = globalThis.setTimeout", "setTimeout goes round a seam: use afterDelay of base/turns.ts"],
      ["const wait = promisify(setImmediate)", "setImmediate goes round a seam: use nextTurn of base/turns.ts"],
      ["setInterval(f, 1)", "setInterval goes round a seam: use afterDelay of base/turns.ts, or Effect.repeat"],
      ["clearTimeout(timer)", "clearTimeout goes round a seam: use cancelTimer of base/turns.ts"],
      [
        "const { now } = performance",
        "performance goes round a seam: use monotonic of base/clock.ts, or loopShare of base/consumption.ts"
      ],
      ["const at = Date.now()", "Date.now goes round a seam: use wallTime of base/clock.ts"],
      ["const at = new Date()", "new Date() goes round a seam: use wallTime of base/clock.ts"],
      ["draw(Math.random)", "Math.random goes round a seam: use secureRandom of base/entropy.ts"],
      [
        "globalThis.crypto.getRandomValues(id)",
        "crypto.getRandomValues goes round a seam: use randomBytes of base/entropy.ts"
      ],
      ["loaded().randomBytes(8)", "randomBytes goes round a seam: use randomBytes of base/entropy.ts"],
      ["secp256k1.utils.randomSecretKey()", "randomSecretKey goes round a seam: use randomBytes of base/entropy.ts"],
      [
        `import { createHash, randomInt } from "node:crypto"`,
        "randomInt goes round a seam: use randomBytes of base/entropy.ts"
      ],
      ["process.hrtime.bigint()", "process.hrtime goes round a seam: use monotonic of base/clock.ts"],
      ["new WeakRef(object)", "WeakRef goes round a seam: use a scope, or an end that the code decides"],
      ["process.memoryUsage()", "process.memoryUsage goes round a seam: use heapUsed of base/consumption.ts"],
      [
        `import { setTimeout as sleep } from "node:timers/promises"`,
        `"node:timers/promises": timers are in base/turns.ts`
      ],
      [`import { performance as p } from "node:perf_hooks"`, `"node:perf_hooks": monotonic is in base/clock.ts`]
    ] as const
    const fine = [
      "socket.setTimeout(1)",
      "parts.randomBytes(8)",
      "new Date(0)",
      "interface A { readonly performance: string }",
      "const a = { setTimeout: 1 }",
      "const text = `Date.now()`"
    ]
    const { problems } = check({
      "src/base/turns.ts": "setTimeout(f, 1)",
      "src/chain/a.ts": uses.map(([text]) => text).join("\n"),
      "src/chain/b.ts": fine.join("\n")
    })
    const expected = uses.map(([, problem], i) => `src/chain/a.ts:${i + 1}: ${problem}`)
    assert.deepStrictEqual([...problems].sort(), [...expected].sort())
  })

  it("has each folder of src in its order, and no other", () => {
    const list = /const ORDER = \[([^\]]*)\]/.exec(readFileSync(SCRIPT, "utf8"))?.[1] ?? ""
    const order = [...list.matchAll(/"([a-z]+)"/g)].map((match) => match[1] ?? "")
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepStrictEqual([...order].sort(), folders.map(({ name }) => name).sort())
  })
})
