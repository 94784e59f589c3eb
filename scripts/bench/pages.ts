import { Effect, Layer, Logger } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ExpiringNames from "../../src/alerts/ExpiringNames.ts"
import * as Indexes from "../../src/chain/indexes/Indexes.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import * as TxIndex from "../../src/chain/TxIndex.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import { isStream, type PageHandler, pageRequest } from "../../src/http/Pages.ts"
import * as LightPart from "../../src/light/LightPart.ts"
import * as NameAnswers from "../../src/light/NameAnswers.ts"
import * as SyncReporter from "../../src/light/SyncReporter.ts"
import * as FeeEstimator from "../../src/mempool/fees/FeeEstimator.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import type { PoolEntry } from "../../src/mempool/PoolEntry.ts"
import * as ScriptBook from "../../src/mempool/scripts/ScriptBook.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { encodeAddress } from "../../src/protocol/address.ts"
import { hash160, hash256 } from "../../src/protocol/hash.ts"
import { NAME_TX_VERSION, nameScript } from "../../src/protocol/nameOperation.ts"
import { networks } from "../../src/protocol/networks.ts"
import { makeTransaction, outpoint } from "../../src/protocol/transaction.ts"
import { makeStatusPage } from "../../src/web/statusPage.ts"
import { chainLayer } from "../../test/support/chainLayer.ts"
import { noPeers } from "../../test/support/peers.ts"
import { entryOf, poolWith } from "../../test/support/pool.ts"
import { countOf } from "./counts.ts"
import { cpuSecondsOf } from "./cpuTime.ts"
import { keptNames, nameOf } from "./nameDb.ts"
import { NodeProcess, pause } from "./nodeProcess.ts"
import { paints } from "./paint.ts"

/** Requests for a kind of page. */
const REQUESTS = 200

/** Transactions of the mempool that is shown, each with an operation on a name. */
const WAITING = 50_000

/** Pages of names that are walked through. */
const WALKED = 20

/** Pairs of imports with and without a reader, unless `--pairs` says another number. */
const PAIRS = 3

/** Milliseconds between two loads by the script of the overview. */
const REFRESH_MS = 5_000

const rounded = (value: number): number => Math.round(100 * value) / 100

/** `cpu`: milliseconds of processor time of all requests, for pages in this process. */
const summary = (
  times: ReadonlyArray<number>,
  { bytes, cpu }: { readonly bytes: number; readonly cpu?: number }
): object => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => rounded(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return {
    p50Milliseconds: at(0.5),
    p99Milliseconds: at(0.99),
    ...(cpu === undefined ? {} : { cpuMilliseconds: rounded(cpu / times.length) }),
    ...(bytes === 0 ? {} : { kB: Math.round(bytes / 100) / 10 })
  }
}

const cpuMilliseconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

const HTML = { accept: "text/html" }

const bodyOf = (handler: PageHandler, target: string) =>
  Effect.map(handler.answer(pageRequest(target, HTML)), ({ body, status }) => {
    if (isStream(body)) throw new Error(`${target} is a stream`)
    return { status, text: typeof body === "string" ? body : Buffer.from(body).toString() }
  })

/** Times the pages of one kind; each has a target of its own. */
const timed = (handler: PageHandler, targetAt: (index: number) => string, requests = REQUESTS) =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const before = cpuMilliseconds()
    let most = 0
    for (let i = 0; i < requests; i++) {
      const target = targetAt(i)
      const started = performance.now()
      const { status, text } = yield* bodyOf(handler, target)
      times.push(performance.now() - started)
      if (status !== 200) throw new Error(`${target}: ${status}`)
      most = Math.max(most, Buffer.byteLength(text))
    }
    return summary(times, { bytes: most, cpu: cpuMilliseconds() - before })
  })

/** Times a list from page to page. */
const walked = (handler: PageHandler, first: string) =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const before = cpuMilliseconds()
    let most = 0
    for (let target: string | undefined = first; target !== undefined && times.length < WALKED;) {
      const started = performance.now()
      const { text }: { readonly text: string } = yield* bodyOf(handler, target)
      times.push(performance.now() - started)
      most = Math.max(most, Buffer.byteLength(text))
      target = /<a rel="next" href="\.([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&")
    }
    return summary(times, { bytes: most, cpu: cpuMilliseconds() - before })
  })

/** The operations that wait, as they are after a burst of updates. */
const waitingOperations = (): ReadonlyArray<PoolEntry> =>
  Array.from({ length: WAITING }, (_, at) => {
    const operation = { op: "name_update", name: nameOf(at), value: new Uint8Array(20) } as const
    const transaction = makeTransaction({
      version: NAME_TX_VERSION,
      inputs: [{ prevout: outpoint(hash256(nameOf(at)), 0), scriptSig: new Uint8Array(107), sequence: 0, witness: [] }],
      outputs: [{ value: 1_000_000, script: nameScript(operation, new Uint8Array(25)) }],
      lockTime: 0
    })
    return entryOf(transaction, { fee: 20_000 + (at * 7919) % 100_000, time: 1_700_000_000 + at })
  })

/** The pages of a full mempool that changes before each request. */
const mempoolPages = Effect.gen(function*() {
  const entries = waitingOperations()
  const handler = yield* Effect.updateService(makeStatusPage(), Mempool.Mempool, (pool) => {
    const full = poolWith(pool, entries)
    const info = full.info()
    let changes = 0
    return { ...full, info: () => ({ ...info, changes: changes++ }) }
  })
  return {
    transactions: WAITING,
    newest: yield* timed(handler, (i) => `/mempool?page=${1 + i % 1_000}`),
    byFeeRate: yield* timed(handler, (i) => `/mempool?order=rate&names=1&page=${1 + i % 1_000}`)
  }
})

/** The pages about names, among many, in this process. */
export const namePages = async ({ names }: { readonly names: number }): Promise<object> => {
  const filename = await keptNames(names)
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-pages-"))
  const params = paramsOf(networks.mainnet)
  const services = Layer.mergeAll(
    noPeers,
    ExpiringNames.layerNothing,
    Indexes.layerNone,
    ScriptBook.layerNoBook,
    TxIndex.layerOff,
    FeeEstimator.layer({ filename: undefined })
  )
    .pipe(
      Layer.provideMerge(SyncReporter.layer),
      Layer.provideMerge(NameAnswers.layer()),
      Layer.provideMerge(LightPart.layerWhole),
      Layer.provideMerge(Mempool.layer({ filename: join(folder, "mempool.dat") })),
      Layer.provideMerge(SyncStatus.layer({ offline: true })),
      Layer.provideMerge(NameDb.layer({ filename, pageSize: 4096 })),
      (layers) => Layer.provideMerge(ExpiringNames.layerNothing, layers),
      Layer.provideMerge(chainLayer(folder, params)),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
  const measured = Effect.gen(function*() {
    const handler = yield* makeStatusPage({ overviewMs: 0 })
    const name = (index: number): Uint8Array => nameOf((index * 7919) % names)
    const shown = (index: number): string => encodeURIComponent(Buffer.from(name(index)).toString("latin1"))
    const owner = (index: number): string =>
      encodeAddress(params.network, { kind: "pubkeyhash", hash: hash160(name(index)) })
    return {
      names,
      name: yield* timed(handler, (i) => `/?name=${shown(i)}`),
      searchText: yield* timed(handler, (i) => `/?q=text:${shown(i).slice(4, 9)}`),
      address: yield* timed(handler, (i) => `/address/${owner(i)}`),
      namesByName: yield* walked(handler, "/names?expired=1"),
      namesByChange: yield* walked(handler, "/names?order=changed"),
      namesByExpiry: yield* walked(handler, "/names?order=expiring"),
      // No name is an identity: each page reads until its time is over.
      absentNamespaceByChange: yield* walked(handler, "/names?order=changed&prefix=id%2F"),
      mempool: yield* mempoolPages
    }
  })
  try {
    return await Effect.runPromise(Effect.provide(measured, services))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const page = async (node: NodeProcess, target: string): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${node.rpcPort}${target}`, { headers: HTML })
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status}`)
  return answer.text()
}

/** Times the pages of one kind over HTTP. */
const fetched = async (node: NodeProcess, targetAt: (index: number) => string): Promise<object> => {
  const times: Array<number> = []
  let most = 0
  for (let i = 0; i < REQUESTS; i++) {
    const started = performance.now()
    most = Math.max(most, Buffer.byteLength(await page(node, targetAt(i))))
    times.push(performance.now() - started)
  }
  return summary(times, { bytes: most })
}

/** Calls of `name_show` one after the other, alone and while two readers ask for pages of blocks. */
const beside = async (node: NodeProcess, targetAt: (index: number) => string): Promise<object> => {
  const calls = async (): Promise<object> => {
    const times: Array<number> = []
    for (let i = 0; i < 1_000; i++) {
      const started = performance.now()
      await node.call("name_show", "d/none")
      times.push(performance.now() - started)
    }
    return summary(times, { bytes: 0 })
  }
  const alone = await calls()
  let isOver = false
  let pages = 0
  const reader = async (): Promise<void> => {
    for (; !isOver; pages++) await page(node, targetAt(pages))
  }
  const readers = [reader(), reader()]
  await pause(100)
  const busy = await calls()
  isOver = true
  await Promise.all(readers)
  return { alone, busy, pages }
}

/** The pages about blocks of a chain with many transactions, of the program over HTTP. */
export const blockPages = async ({ file, tip }: { readonly file: string; readonly tip: string }): Promise<object> => {
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-txindex", "-loadblock", file] })
  try {
    await node.untilTip(tip)
    const height = Number(await node.call("getblockcount"))
    const heightAt = (index: number): number => height - (index * 7) % 2_000
    const transactions: Array<string> = []
    for (let i = 0; transactions.length < REQUESTS; i++) {
      const found = /href="\.(\/tx\/[^"]*)"/g
      const body = await page(node, `/block/${heightAt(i)}`)
      for (const [, target = ""] of [...body.matchAll(found)].slice(1, 4)) transactions.push(target)
    }
    const [first]: ReadonlyArray<unknown> = [await node.call("name_scan", "d/", 1)].flat()
    const name = typeof first === "object" && first !== null && "name" in first ? String(first.name) : ""
    return {
      overview: await fetched(node, () => "/"),
      blocks: await fetched(node, (i) => `/blocks?from=${heightAt(i)}`),
      block: await fetched(node, (i) => `/block/${heightAt(i)}`),
      transaction: await fetched(node, (i) => transactions[i % transactions.length] ?? "/"),
      activity: await fetched(node, () => "/activity"),
      nameShow: await beside(node, (i) => `/block/${heightAt(i)}`),
      paint: await paints(`http://127.0.0.1:${node.rpcPort}`, {
        overview: "/",
        block: `/block/${height}`,
        name: `/?name=${encodeURIComponent(name)}`
      })
    }
  } finally {
    await node.stop()
  }
}

/** CPU seconds of a node from its start until it has imported a chain; with a reader, the overview is open meanwhile. */
const importCost = async (
  { file, tip }: { readonly file: string; readonly tip: string },
  isRead: boolean
): Promise<{ readonly cpuSeconds: number; readonly pages: number }> => {
  const node = await NodeProcess.start({ args: ["-maxpeers", "0", "-loadblock", file] })
  let pages = 0
  const read = (): void => {
    void page(node, "/").then(() => pages++, () => undefined)
  }
  let reader: NodeJS.Timeout | undefined
  try {
    await node.until("getblockcount", (height) => typeof height === "number")
    if (isRead) {
      read()
      reader = setInterval(read, REFRESH_MS)
    }
    await node.untilTip(tip)
    return { cpuSeconds: cpuSecondsOf(node.child.pid), pages }
  } finally {
    clearInterval(reader)
    await node.stop()
  }
}

/** What an open overview costs a node that imports a chain, in pairs, so that a slow phase of the machine affects both. */
export const besideImport = async (chain: { readonly file: string; readonly tip: string }): Promise<object> => {
  const pairs = countOf("--pairs", PAIRS)
  const alone: Array<number> = []
  const read: Array<number> = []
  let pages = 0
  for (let n = 0; n < pairs; n++) {
    for (const isRead of n % 2 === 0 ? [true, false] : [false, true]) {
      const cost = await importCost(chain, isRead)
      pages += cost.pages
      const costs = isRead ? read : alone
      costs.push(cost.cpuSeconds)
    }
  }
  const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[pairs >> 1] ?? Number.NaN
  return {
    pairs,
    pagesEach: pages / pairs,
    aloneCpuSeconds: median(alone),
    withReaderCpuSeconds: median(read),
    ratio: median(read.map((seconds, n) => seconds / (alone[n] ?? Number.NaN)))
  }
}
