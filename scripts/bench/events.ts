import { Effect, Layer, Logger } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BEGINNING } from "../../src/names/events/EventCursor.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { BenchChain } from "./eventLog.ts"

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

/** Reads all events of the log, page by page. */
const replay = (chain: BenchChain) =>
  Effect.gen(function*() {
    const { page } = yield* chain.events
    const [began, started] = [cpuSeconds(), performance.now()]
    let events = 0
    for (let at = BEGINNING;;) {
      const read = yield* page(at, { notices: false })
      events += read.events.length
      at = read.next
      if (read.isEnd) break
    }
    const cpu = cpuSeconds() - began
    return {
      events,
      perSecond: Math.round(events / ((performance.now() - started) / 1000)),
      perCpuSecond: Math.round(events / cpu)
    }
  })

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
    return { replay: await opened(replay(chain)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
