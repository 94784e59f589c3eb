import { Context, Effect, Layer, Logger } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ExpiringNames } from "../../src/alerts/ExpiringNames.ts"
import { Budget, MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { Health } from "../../src/http/health.ts"
import * as Pages from "../../src/http/Pages.ts"
import * as RpcServer from "../../src/http/RpcServer.ts"
import * as LiveEvents from "../../src/mempool/live/LiveEvents.ts"
import { BEGINNING } from "../../src/names/events/EventCursor.ts"
import { NameEvents } from "../../src/names/events/NameEvents.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { AnswerOptions } from "../../src/rpc/AnswerOptions.ts"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { eventsPage } from "../../src/web/events/eventsPage.ts"
import { cpuSecondsOf, ownCpuSeconds } from "./cpuTime.ts"
import { BenchChain } from "./eventLog.ts"
import { indexed } from "./nameDb.ts"
import { nextMessage } from "./nodeProcess.ts"

/** Readers that wait for a block, and blocks. */
const READERS = 1_000
const BLOCKS = 50

/** Milliseconds between two blocks. */
const PAUSE = 300

const now = (): number => performance.timeOrigin + performance.now()

/** Reads all events of the log, page by page. */
const replay = (chain: BenchChain) =>
  Effect.gen(function*() {
    const { page } = yield* chain.events
    const [began, started] = [ownCpuSeconds(), performance.now()]
    let events = 0
    for (let at = BEGINNING;;) {
      const read = yield* page(at, { notices: false })
      events += read.events.length
      at = read.next
      if (read.isEnd) break
    }
    return {
      events,
      perSecond: Math.round(events / ((performance.now() - started) / 1000)),
      perCpuSecond: Math.round(events / (ownCpuSeconds() - began))
    }
  })

const OPTIONS = {
  nameEncoding: "ascii",
  valueEncoding: "ascii",
  allowExpired: false,
  nameHistory: false,
  nameHashIndex: false
} as const

const SYNCED = Layer.succeed(SyncStatus, {
  offline: Effect.succeed(false),
  syncing: Effect.succeed(false),
  initialDownload: Effect.succeed(false),
  loading: Effect.succeed(false),
  loaded: Effect.void,
  load: () => Effect.void,
  expect: () => Effect.void,
  answered: Effect.void
})

/** No event concerns a wallet or a watch list. */
const NOTHING_WATCHED = Layer.succeed(ExpiringNames, {
  list: () => Effect.dieMessage("no caller lists names"),
  isMine: () => false,
  isWatched: () => false,
  isRenewed: () => false,
  outlooks: Effect.succeed([]),
  isSearching: () => false
})

/** The listener of a node with `/events` alone; returns its port. */
export const serve = (chain: BenchChain) =>
  Effect.gen(function*() {
    const services = RpcServer.layer({
      credentials: undefined,
      rateLimit: 0,
      maxRequestSize: 0,
      listen: { host: "127.0.0.1", port: 0 }
    }).pipe(
      Layer.provideMerge(Dispatch.layer({})),
      Layer.provideMerge(Lifecycle.layer),
      Layer.provideMerge(Pages.layer),
      Layer.provide(Layer.succeed(Health, { report: Effect.dieMessage("no caller asks for health") })),
      Layer.provide(Layer.succeed(Budget, new MemoryBudget(2 ** 30)))
    )
    const context = yield* Layer.build(services)
    yield* Context.get(context, Lifecycle.Lifecycle).running
    const events = yield* chain.events
    const page = yield* eventsPage.pipe(
      Effect.provideService(NameEvents, events),
      Effect.provideService(AnswerOptions, OPTIONS),
      Effect.provide([NOTHING_WATCHED, LiveEvents.layerNoMempool, SYNCED])
    )
    yield* Context.get(context, Pages.Pages).install([page])
    return Context.get(context, RpcServer.RpcServer).address.port
  })

interface Told {
  readonly connected?: number
  readonly height?: number
  readonly times?: ReadonlyArray<number>
  readonly events?: number
  /** When the process of the readers began, and when so many events were there. */
  readonly begun?: number
  readonly at?: number
}

const readers = (...args: ReadonlyArray<string | number>) =>
  Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(new URL("./eventReaders.js", import.meta.url)), args.map(String))),
    (child) => Effect.sync(() => child.kill())
  )

const told = (child: ChildProcess): Effect.Effect<Told> =>
  Effect.promise(() => nextMessage<Told>(child, "the process of the readers"))

/** One reader that catches up over HTTP. The CPU seconds are those of the node. */
const catchUp = (port: number, events: number) =>
  Effect.scoped(Effect.gen(function*() {
    const began = ownCpuSeconds()
    const child = yield* readers(port, 1, "0", events)
    let last: Told = {}
    while (last.events === undefined) last = yield* told(child)
    const { at = 0, begun = 0 } = last
    return {
      events,
      // Without the start of a process.
      perSecond: Math.round(events / ((at - begun) / 1000)),
      perCpuSecond: Math.round(events / (ownCpuSeconds() - began))
    }
  }))

const percentileOf = (sorted: ReadonlyArray<number>, share: number): number =>
  Math.round(10 * (sorted[Math.floor((sorted.length - 1) * share)] ?? 0)) / 10

/** Megabytes in use. What buffers hold is released in the turn after their collection. */
const memory = Effect.gen(function*() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    yield* Effect.promise(() => new Promise(setImmediate))
  }
  const { external, heapUsed } = process.memoryUsage()
  return (external + heapUsed) / 1e6
})

/** Many readers at the tip: from the commit of a block until its events are there, and what the readers take. */
const follow = (chain: BenchChain, port: number) =>
  Effect.scoped(Effect.gen(function*() {
    const { follower } = yield* NameDb.NameDb
    const before = yield* memory
    const child = yield* readers(port, READERS, "now")
    while ((yield* told(child)).connected === undefined);
    const megabytes = (yield* memory) - before
    const delays: Array<number> = []
    const [began, readersBegan] = [ownCpuSeconds(), cpuSecondsOf(child.pid)]
    const aBlock = (seconds: number): number => Math.round((1000 * seconds) / BLOCKS)
    for (let i = 0; i < BLOCKS; i++) {
      const block = chain.next()
      yield* follower.apply([block])
      const committed = now()
      const { height, times = [] } = yield* told(child)
      if (height !== block.height) return yield* Effect.dieMessage(`block ${height} instead of ${block.height}`)
      delays.push(...times.map((time) => time - committed))
      yield* Effect.sleep(PAUSE)
    }
    delays.sort((a, b) => a - b)
    return {
      readers: READERS,
      megabytes: Math.round(megabytes),
      p50Milliseconds: percentileOf(delays, 0.5),
      p99Milliseconds: percentileOf(delays, 0.99),
      cpuMillisecondsABlock: aBlock(ownCpuSeconds() - began),
      readersCpuMillisecondsABlock: aBlock(cpuSecondsOf(child.pid) - readersBegan)
    }
  }))

export const benchEvents = async ({ operations }: { readonly operations: number }): Promise<object> => {
  const folder = mkdtempSync(join(tmpdir(), "svcd-bench-events-"))
  const opened = <A, E>(program: Effect.Effect<A, E, NameDb.NameDb>): Promise<A> =>
    Effect.runPromise(program.pipe(
      Effect.provide(Layer.merge(
        Layer.provide(NameDb.layer({ filename: join(folder, "names.db"), pageSize: 4096 }), DataHealth.layer),
        Logger.remove(Logger.defaultLogger)
      ))
    ))
  try {
    const chain = new BenchChain(operations / 2)
    await opened(chain.grow(operations))
    const inProcess = await opened(replay(chain))
    const served = await opened(Effect.scoped(Effect.gen(function*() {
      yield* indexed
      const port = yield* serve(chain)
      return { overHttp: yield* catchUp(port, inProcess.events), atTheTip: yield* follow(chain, port) }
    })))
    return {
      what:
        "events of names.db: a whole replay in the process and by Server-Sent Events; blocks of 20 events at the tip",
      inProcess,
      ...served
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
