import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { NodeProcess, ROOT } from "./nodeProcess.ts"

/** The chain of the tests: 601 blocks with the lives of some 500 names. */
const CHAIN = join(ROOT, "test/fixtures/regtest-names")

const RUNS = 3

interface EmbeddedRun {
  /** From the start of the process to the first answer. */
  readonly coldStartMs: number
  /** The same from the call that opens the client. */
  readonly openMs: number
  readonly effectPerSecond: number
  readonly promisesPerSecond: number
  readonly concurrentPromisesPerSecond: number
}

/** The names of a scan that are not expired. */
const activeNames = (scan: unknown): ReadonlyArray<string> =>
  (Array.isArray(scan) ? scan : []).flatMap((record: { readonly name?: string; readonly expired?: boolean }) =>
    record.expired === false && record.name !== undefined ? [record.name] : []
  )

/** Runs `use` with a node that has the chain of the tests, and its active names. */
export const withNames = async <A>(
  options: { readonly directory?: string },
  use: (node: NodeProcess, names: ReadonlyArray<string>) => Promise<A> | A
): Promise<A> => {
  const { tipHash }: { tipHash: string } = JSON.parse(
    gunzipSync(readFileSync(join(CHAIN, "expected.json.gz"))).toString("utf8")
  )
  const args = ["-maxpeers", "0", "-loadblock", join(CHAIN, "blocks.dat.gz")]
  const node = await NodeProcess.start({ ...options, args })
  try {
    await node.untilTip(tipHash)
    return await use(node, activeNames(await node.call("name_scan")))
  } finally {
    await node.stop()
  }
}

/**
 * The embedded client as a program uses it, each time in a process of its own on a data directory that a daemon left:
 * the time until the first name is resolved, and how many are resolved in a second.
 */
export const benchEmbedded = async (): Promise<object> => {
  const dataDir = mkdtempSync(join(tmpdir(), "svcd-bench-embedded-"))
  try {
    const names = await withNames({ directory: dataDir }, (_, active) => active)
    const script = fileURLToPath(new URL("./embeddedRun.js", import.meta.url))
    const runs = Array.from(
      { length: RUNS },
      (): EmbeddedRun =>
        JSON.parse(execFileSync(process.execPath, [script, dataDir, JSON.stringify(names)], { encoding: "utf8" }))
    ).toSorted((a, b) => a.coldStartMs - b.coldStartMs)
    return {
      names: names.length,
      what: "embedded client: cold start to the first name, and names resolved in a second",
      ...runs[RUNS >> 1]
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
