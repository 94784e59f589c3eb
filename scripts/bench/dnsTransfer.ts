// Zone transfers: the whole zone, and the changes of one block. Prints JSON. Argument: domains of one record (400000).

import { Effect, Layer, Logger, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ConnectedBlock } from "../../src/chain/write/Follower.ts"
import { mainnetParams } from "../../src/consensus/params.ts"
import {
  changedZone,
  fewChanges,
  type Messages,
  wholeZone,
  type ZoneEdition
} from "../../src/dns/transfer/transferStreams.ts"
import { TransferWriter } from "../../src/dns/transfer/TransferWriter.ts"
import { wireNameOfHost } from "../../src/dns/wire/name.ts"
import { makeApex } from "../../src/dns/zone/apex.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { openNamesSnapshot } from "../../src/names/NamesSnapshot.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { hash256 } from "../../src/protocol/hash.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"

const [domains = "400000"] = process.argv.slice(2)

/** Names of a block while the file is filled, and of the block whose changes are transferred. */
const FILLED = 2_000
const CHANGED = 50

/** Times that the changes are read each way; the first opens and compiles what the others use again. */
const ROUNDS = 30

const text = new TextEncoder()
const origin = wireNameOfHost("bit.")
const apex = makeApex({ origin, servers: [wireNameOfHost("ns1.example.org.")], ttl: 600 })
const genesis = decodeBlock(regtest.genesisBlock)

const blockAt = (height: number, first: number, count: number): ConnectedBlock => {
  const transaction = makeTransaction({ version: 0x7100, inputs: [], outputs: [], lockTime: height })
  return {
    height,
    hash: hash256(text.encode(`block ${height}`)),
    block: genesis,
    effects: Array.from({ length: count }, (_, i) => {
      const name = text.encode(`d/n${(first + i).toString(36)}`)
      const value = text.encode(`{"ip":"10.${height & 255}.${i >> 8}.${i & 255}"}`)
      return {
        name,
        operation: { op: "name_update", name, value },
        height,
        transaction,
        vout: i,
        value: 1_000_000,
        address: text.encode(`owner ${i}`)
      }
    })
  }
}

const newWriter = () => new TransferWriter({ id: 1, question: { asked: origin, type: 252, class: 1 }, spare: 0 })

const rounded = (value: number): number => Math.round(value * 10) / 10

/** Milliseconds of one way to read the changes, and of the processor. */
const timed = <E, R>(work: Effect.Effect<Messages | undefined, E, R>) =>
  Effect.gen(function*() {
    const cpu = process.cpuUsage()
    const started = performance.now()
    const messages = yield* work
    if (messages === undefined) return yield* Effect.dieMessage("no changes")
    yield* Stream.runDrain(messages)
    const { system, user } = process.cpuUsage(cpu)
    return { ms: performance.now() - started, cpuMs: (user + system) / 1_000 }
  })

type Times = ReadonlyArray<Effect.Effect.Success<ReturnType<typeof timed>>>

const middle = (times: Times) => {
  const of = (field: keyof Times[number]) =>
    rounded(times.map((time) => time[field]).toSorted((a, b) => a - b)[times.length >> 1] ?? 0)
  return { firstMs: rounded(times[0]?.ms ?? 0), medianMs: of("ms"), medianCpuMs: of("cpuMs") }
}

const mb = (bytes: number): number => Math.round(bytes / 1e5) / 10

const measured = Effect.gen(function*() {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  const filename = join(directory, "names.db")
  yield* Effect.provide(
    Effect.gen(function*() {
      const { find, follower, readLog } = yield* NameDb.NameDb
      const blocks = Math.ceil(Number(domains) / FILLED)
      for (let height = 0; height < blocks; height++) {
        yield* follower.apply([blockAt(height, height * FILLED, FILLED)])
      }
      const last = blockAt(blocks, 0, CHANGED)
      const indexed = Effect.map(
        find({ changedSince: 1 }, { clock: { tipHeight: blocks, params: mainnetParams }, limit: 1 }),
        (found) => found.indexed === 1
      )
      while (!(yield* indexed)) yield* Effect.sleep("1 second")
      yield* follower.apply([last])
      const params = mainnetParams
      const row = { serial: blocks, height: blocks, hash: last.hash }
      const edition: Effect.Effect<ZoneEdition, unknown, Effect.Effect.Context<ReturnType<typeof openNamesSnapshot>>> =
        Effect.map(openNamesSnapshot(filename), (reads) => ({ reads, row, params, apex }))
      global.gc?.()
      const before = process.memoryUsage().rss
      let bytes = 0
      let most = 0
      const whole = performance.now()
      yield* Effect.scoped(
        Effect.flatMap(edition, (now) =>
          Stream.runForEach(wholeZone(now, newWriter()), (message) =>
            Effect.sync(() => {
              bytes += message.length
              most = Math.max(most, process.memoryUsage.rss())
            })))
      )
      const wholeSeconds = (performance.now() - whole) / 1_000
      const since = { serial: blocks - 1, height: blocks - 1, hash: hash256(text.encode(`block ${blocks - 1}`)) }
      const ways = {
        atOnce: readLog((_log, reads) => fewChanges({ reads, row, params, apex }, since, newWriter())),
        inSnapshot: Effect.flatMap(edition, (now) => changedZone(now, since, newWriter()))
      }
      const times: { readonly [W in keyof typeof ways]: Array<Times[number]> } = { atOnce: [], inSnapshot: [] }
      for (let i = 0; i < ROUNDS; i++) {
        times.inSnapshot.push(yield* Effect.scoped(timed(ways.inSnapshot)))
        times.atOnce.push(yield* timed(ways.atOnce))
      }
      console.log(JSON.stringify({
        domains: Number(domains),
        axfr: { seconds: Math.round(wholeSeconds * 100) / 100, mb: mb(bytes), moreMemoryMb: mb(most - before) },
        ixfr: { names: CHANGED, atOnce: middle(times.atOnce), inSnapshot: middle(times.inSnapshot) }
      }))
    }),
    NameDb.layer({ filename, pageSize: 4096 }).pipe(Layer.provide(DataHealth.layer))
  )
})

await Effect.runPromise(Effect.scoped(measured).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))))
