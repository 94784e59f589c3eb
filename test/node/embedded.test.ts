import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  Chunk,
  Deferred,
  Effect,
  Either,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Scope,
  Stream,
  TestContext
} from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { blockNamesOf } from "../../src/client/blockNames.ts"
import { decodeConfig } from "../../src/client/config.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { FindFilter } from "../../src/client/options.ts"
import type { NameChange, NameRecord } from "../../src/client/records.ts"
import { EmbeddedNode } from "../../src/node/clients.ts"
import { embeddedSettings } from "../../src/node/embedded.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash, fromHex } from "../../src/protocol/bytes.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"
import { searchBuilt, withDb } from "../names/blocks.ts"
import { testChain } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { copyOf, fillDirectory, nodeWithClient, temporaryDirectory } from "../support/embedded.ts"
import { inTime } from "../support/eventually.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { embedded, quiet } from "./embeddedClient.ts"

interface ShownName {
  readonly nameHex: string
  readonly show: {
    readonly value: string
    readonly txid: string
    readonly address: string
    readonly height: number
    readonly expires_in: number
    readonly expired: boolean
  }
}

/** A branch that loses, and the file of its blocks. */
interface Branch {
  readonly forkHeight: number
  readonly length: number
  readonly firstRecord: number
}

const HEIGHT = 600
const { names } = fixtureJson<{ readonly names: ReadonlyArray<ShownName> }>("regtest-names/tip-names.json.gz")

const text = (hex: string): string | undefined => encodeText(fromHex(hex) ?? new Uint8Array(), "utf8")

/** Names of the fixture that are text. */
const textNames = names.flatMap(({ nameHex, show }) => {
  const name = text(nameHex)
  return name === undefined ? [] : [{ name, show }]
})
const active = textNames.filter(({ show }) => !show.expired)

/** Gives a forked stream its turn: it subscribes without I/O. */
const subscribed = turnOfEventLoop

let filled = ""

/** Runs with a client on a copy of the filled directory. */
const withClient = <A, E>(use: (client: typeof NameClient.Service) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const dataDir = yield* copyOf(filled)
    return yield* Effect.provide(Effect.flatMap(NameClient, use), embedded({ dataDir }))
  })

describe("the embedded client", () => {
  beforeAll(async () => {
    filled = mkdtempSync(join(tmpdir(), "svcd-test-"))
    await Effect.runPromise(Effect.gen(function*() {
      yield* fillDirectory(filled, HEIGHT)
      // The names follow at the next start, and their search indexes some time later.
      yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir: filled }))
      yield* Effect.provide(withDb(join(filled, "names.db"), searchBuilt), [TestContext.TestContext, quiet])
    }))
  })
  afterAll(() => rmSync(filled, { recursive: true, force: true }))

  it.scopedLive("returns the same record of every name as the reference node", () =>
    withClient((client) =>
      Effect.gen(function*() {
        for (const { name, show } of textNames) {
          if (show.expired) {
            const error = yield* Effect.flip(client.resolveName(name))
            assert.strictEqual(error._tag, "NameExpired", name)
            continue
          }
          const record = yield* client.resolveName(name)
          const value = text(show.value)
          assert.deepStrictEqual(
            record,
            {
              name,
              value: value ?? record.value,
              ...(value === undefined ? { valueHex: show.value } : {}),
              address: show.address.startsWith("<") ? "" : show.address,
              txid: show.txid,
              height: show.height,
              expiresIn: show.expires_in,
              expired: false,
              asOf: { height: HEIGHT, synced: true, proof: "full" }
            } satisfies NameRecord
          )
          // The second time the record comes from memory.
          assert.deepStrictEqual(yield* client.resolveName(name), record)
        }
        assert.isAbove(active.length, 30)
      })
    ))

  it.scopedLive("lists the unexpired names of a namespace, the shortest first, up to the limit", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const listed = (yield* client.listNames({ limit: 1_000 })).map(({ name }) => name)
        assert.deepStrictEqual([...listed].sort(), active.map(({ name }) => name).sort())
        const bytes = (name: string) => Buffer.from(name)
        for (const [i, name] of listed.slice(1).entries()) {
          const before = bytes(listed[i] ?? "")
          assert.isBelow(before.length - bytes(name).length || Buffer.compare(before, bytes(name)), 0)
        }
        const domains = (yield* client.listNames({ namespace: "d/" })).map(({ name }) => name)
        assert.deepStrictEqual(domains, listed.filter((name) => name.startsWith("d/")))
        assert.deepStrictEqual(
          (yield* client.listNames({ namespace: "d/", limit: 2 })).map(({ name }) => name),
          domains.slice(0, 2)
        )
        assert.deepStrictEqual(yield* client.listNames({ limit: 0 }), [])
        assert.deepStrictEqual(yield* client.listNames({ namespace: "none has that/" }), [])
        const error = yield* Effect.flip(client.listNames({ limit: -1 }))
        assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field: "limit" })
      })
    ))

  it.scopedLive("finds names by text, key, owner and prefix, as a look at all of them does", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const all = yield* client.listNames({ limit: 10_000 })
        const find = (filter: FindFilter) =>
          Effect.map(
            Stream.runCollect(client.findNames(filter)),
            (found) => [...found].map(({ name }) => name).sort()
          )
        const those = (fits: (record: NameRecord) => boolean) => all.filter(fits).map(({ name }) => name).sort()
        const first = all.find(({ name }) => /^[a-z]\/[a-z0-9]{6}/.test(name))
        if (first === undefined) return assert.fail("there are names")
        const part = first.name.slice(2, 6)
        assert.deepStrictEqual(
          yield* find({ text: part }),
          those(({ name, value }) => `${name} ${value}`.toLowerCase().includes(part))
        )
        assert.deepStrictEqual(yield* find({ namespace: "d/" }), those(({ name }) => name.startsWith("d/")))
        assert.deepStrictEqual(
          yield* find({ owner: first.address, namespace: "" }),
          those(({ address }) => address === first.address)
        )
        assert.deepStrictEqual(yield* find({ expiresWithin: 5 }), those(({ expiresIn }) => expiresIn <= 5))
        const failure = yield* Effect.flip(Stream.runDrain(client.findNames({ text: "d/" })))
        assert.deepInclude({ ...failure }, { _tag: "InvalidRequest", field: "filter" })
      })
    ))

  it.scopedLive("refuses names that no chain can hold, and reports the invalid argument", () =>
    withClient((client) =>
      Effect.gen(function*() {
        for (const name of ["x".repeat(256), "ü".repeat(128), "d/\ud800"]) {
          const error = yield* Effect.flip(client.resolveName(name))
          assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field: "name" })
        }
        const longest = yield* Effect.flip(client.resolveName("x".repeat(255)))
        assert.strictEqual(longest._tag, "NameNotFound")
      })
    ))

  it.scopedLive("resolves hosts below .bit from its names", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const { name } = active.find((each) => /^d\/[a-z][a-z0-9]*$/.test(each.name)) ?? assert.fail("no such name")
        const { asOf, sources, status } = yield* client.resolveDomain(`${name.slice(2)}.bit`, "ANY")
        assert.include(["records", "no-data", "delegated"], status)
        assert.deepStrictEqual(sources[0], yield* client.resolveName(name))
        assert.deepStrictEqual(asOf, { height: HEIGHT, synced: true, proof: "full" })
        assert.deepInclude(yield* client.resolveDomain("absent.bit"), {
          status: "no-name",
          records: [],
          sources: [],
          asOf
        })
      })
    ))

  it.scopedLive("fails with NotSynced if the caller requires a greater height", () =>
    withClient((client) =>
      Effect.gen(function*() {
        const { name = "" } = active[0] ?? {}
        yield* client.resolveName(name, { requireSynced: true, minHeight: HEIGHT })
        const error = yield* Effect.flip(client.resolveName(name, { minHeight: HEIGHT + 1 }))
        assert.deepInclude({ ...error }, { _tag: "NotSynced", height: HEIGHT })
      })
    ))

  it.scopedLive("answers from the known blocks while blocks are missing, and does not report a name as free", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const { name = "" } = active[0] ?? {}
        assert.deepStrictEqual((yield* client.resolveName(name)).asOf, { height: HEIGHT, synced: false, proof: "full" })
        assert.deepStrictEqual(yield* client.freshness, { height: HEIGHT, synced: false, proof: "full" })
        const insisted = yield* Effect.flip(client.resolveName(name, { requireSynced: true }))
        assert.strictEqual(insisted._tag, "NotSynced")
        assert.strictEqual((yield* Effect.flip(client.resolveDomain("absent.bit")))._tag, "NotSynced")
        const missing = yield* Effect.flip(client.resolveName("d/absent"))
        assert.deepInclude({ ...missing }, { _tag: "NotSynced", height: HEIGHT })
        const { name: expired = "" } = textNames.find(({ show }) => show.expired) ?? {}
        assert.strictEqual((yield* Effect.flip(client.resolveName(expired)))._tag, "NotSynced")
        assert.strictEqual((yield* Effect.flip(client.listNames({ namespace: "none/" })))._tag, "NotSynced")
        const update = yield* Effect.flip(client.updateName("d/absent", "v"))
        assert.deepInclude({ ...update }, { _tag: "NotSynced", height: HEIGHT })
        // A registration may begin: whether the name is free is checked again when it is claimed.
        assert.strictEqual((yield* Effect.flip(client.registerName("d/absent", "v")))._tag, "InsufficientFunds")
        // The configured peer is unreachable: there may be blocks that the node does not know.
      }).pipe(
        Effect.provide(embedded({ dataDir, disableWallet: false, maxPeers: 1, bootstrapPeers: ["127.0.0.1:9"] }))
      )
    }))

  it.scopedLive("does not report itself synced before the names are at the tip", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const chain = yield* testChain
        const blocks = fixtureBlocks("regtest-names/blocks.dat.gz").slice(1, 201)
        const [last = [], most] = [blocks.slice(-1), blocks.slice(0, -1)]
        // While many blocks come, the name database follows in batches: only names of known blocks are missing now.
        yield* chain.sink.acceptHeaders(most)
        yield* chain.sink.deliver(most, true)
        assert.strictEqual((yield* chain.tip).height, most.length)
        const { height, synced } = yield* client.freshness
        assert.strictEqual(synced, height === most.length)
        assert.isBelow(height, most.length)
        // A denial first lets the name database follow.
        assert.strictEqual((yield* Effect.flip(client.resolveName("d/absent")))._tag, "NameNotFound")
        assert.deepStrictEqual(yield* client.freshness, { height: most.length, synced: true, proof: "full" })
        yield* chain.sink.deliver(last, false)
        assert.deepStrictEqual(yield* client.freshness, { height: blocks.length, synced: true, proof: "full" })
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }))

  it.scopedLive("starts few threads in its host", () =>
    Effect.sync(() => {
      const config = Either.getOrThrow(decodeConfig({ network: "regtest" }))
      const threads = [1, 2, 64].map((cores) => Either.getOrThrow(embeddedSettings(config, cores)).chain.verifyThreads)
      assert.deepStrictEqual(threads, [0, 1, 3])
    }))

  it.scopedLive("reports changes block by block, and again the names that a reorg rolls back", () =>
    Effect.gen(function*() {
      const { branches } = fixtureJson<{ readonly branches: ReadonlyArray<Branch> }>("regtest-names/stale.json.gz")
      const losing = fixtureBlocks("regtest-names/stale.dat.gz")
      const blocksOf = ({ firstRecord, length }: Branch) => losing.slice(firstRecord, firstRecord + length)
      const branch = branches.find((each) => namesIn(blocksOf(each)).size > 1)
      if (branch === undefined) return yield* Effect.dieMessage("there is a branch with names")
      const { forkHeight, length } = branch
      const stale = blocksOf(branch)
      const main = fixtureBlocks("regtest-names/blocks.dat.gz")
      const dataDir = yield* temporaryDirectory
      yield* fillDirectory(dataDir, forkHeight)
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const chain = yield* testChain
        const collect = (upTo: string) =>
          Effect.fork(
            client.changes().pipe(
              Stream.takeUntil(({ record }) => record?.txid === upTo),
              Stream.runCollect,
              Effect.map(Chunk.toReadonlyArray)
            )
          )
        const lastTxid = lastNameTransaction(main.slice(forkHeight + 1, forkHeight + length + 2))
        const listening = yield* collect(lastTxid)
        yield* subscribed
        const take = (blocks: typeof main) =>
          Effect.zipRight(chain.sink.acceptHeaders(blocks), chain.sink.deliver(blocks, false))
        yield* take(stale)
        const [first] = stale
        if (first !== undefined) yield* chain.control.invalidate(first.header.hash)
        yield* take(main.slice(forkHeight + 1, forkHeight + length + 2))
        const told = yield* inTime(Fiber.join(listening), "the changes of the branches")
        const before = told.filter(({ height, record }) => record?.height === height)
        assert.isAbove(before.length, 0)
        // The last reported record of every name is its current one.
        const latest = new Map<string, NameChange>(told.map((change) => [change.name, change]))
        for (const [name, { record }] of latest) {
          const now = yield* Effect.option(client.resolveName(name))
          if (now._tag === "Some") assert.strictEqual(record?.txid, now.value.txid, name)
          else assert.isTrue(record === undefined || record.expired, name)
        }
        // Names of the branch were reported, and reported again.
        const ofBranch = namesIn(stale)
        assert.isAbove(ofBranch.size, 0)
        // The second report is the record before the branch: an earlier one, or none.
        const again = told.filter(({ height, record }) => record?.height !== height)
        assert.sameMembers([...new Set(again.map(({ name }) => name))], [...ofBranch])
        for (const name of ofBranch) {
          assert.isAtLeast(told.filter((change) => change.name === name).length, 2, name)
        }
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }))

  it.scopedLive("ends with the reason if the node has to stop, and its host continues", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      yield* fillDirectory(dataDir, 5)
      yield* Effect.gen(function*() {
        const client = yield* NameClient
        const chain = yield* testChain
        const full = new StorageUnavailable({ file: "names.db", doing: "writing", reason: "the disk is full" })
        // Not the same object: a failure inside a span carries the span.
        const isFull = (failure: unknown): void =>
          assert.isTrue(failure instanceof StorageUnavailable && failure.message === full.message)
        const { hash, height } = yield* Effect.map(chain.tip, ({ header, height }) => ({ hash: header.hash, height }))
        yield* chain.control.register({
          name: "full",
          cursor: Effect.succeed({ hash, height }),
          apply: () => full,
          rewind: () => full
        })
        const listening = yield* Effect.fork(Effect.flip(Stream.runDrain(client.changes())))
        yield* subscribed
        const [block] = fixtureBlocks("regtest-names/blocks.dat.gz").slice(height + 1)
        if (block !== undefined) yield* Effect.exit(chain.sink.submit(block))
        isFull(yield* Effect.flip(client.failure))
        isFull(yield* Effect.flip(client.resolveName("d/x")))
        isFull(yield* Effect.flip(client.freshness))
        isFull(yield* Fiber.join(listening))
      }).pipe(Effect.provide(nodeWithClient({ dataDir, disableWallet: true })))
    }))

  it.scopedLive("refuses calls once it is closed, and ends waiting calls", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      const scope = yield* Scope.make()
      const { name = "" } = active[0] ?? {}
      const context = yield* Layer.buildWithScope(embedded({ dataDir }), scope)
      const client = yield* Effect.provide(NameClient, context)
      yield* client.resolveName(name)
      const listening = yield* Effect.fork(Effect.exit(Stream.runDrain(client.changes())))
      const ended = yield* Effect.fork(Effect.flip(client.failure))
      yield* subscribed
      yield* Scope.close(scope, Exit.void)
      const refused = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E>) =>
        Effect.map(Effect.flip(call), ({ _tag }) => assert.strictEqual(_tag, "ClientClosed"))
      yield* refused(client.resolveName(name))
      yield* refused(client.listNames())
      yield* refused(client.registerName("d/x", ""))
      yield* refused(client.freshness)
      yield* refused(Stream.runDrain(client.changes()))
      assert.strictEqual((yield* Fiber.join(ended))._tag, "ClientClosed")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(listening)))
      // The directory is free again.
      yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir }))
    }))

  it.scopedLive("one directory has one client; another network's is refused; an interrupted start leaves it free", () =>
    Effect.gen(function*() {
      const dataDir = yield* copyOf(filled)
      yield* Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir })))
        assert.strictEqual(error._tag, "DataDirectoryInUse")
      }).pipe(Effect.provide(embedded({ dataDir })))
      const error = yield* Effect.flip(
        Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir, network: "testnet" }))
      )
      assert.strictEqual(error._tag, "WrongNetwork")
      const begun = yield* Deferred.make<void>()
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => {
          if (String(message).includes("starting")) Deferred.unsafeDone(begun, Effect.void)
        })
      )
      const layer = EmbeddedNode.layer({ network: "regtest", dataDir, maxPeers: 0, disableWallet: true })
      const starting = yield* Effect.fork(
        Effect.never.pipe(
          Effect.provide(Layer.provideMerge(layer, logger)),
          Logger.withMinimumLogLevel(LogLevel.Debug)
        )
      )
      yield* inTime(Deferred.await(begun), "the start of the node")
      yield* Fiber.interrupt(starting)
      yield* Effect.provide(Effect.asVoid(NameClient), embedded({ dataDir }))
    }))
})

const recordsOf = (blocks: ReadonlyArray<Block>) =>
  blocks.flatMap((block) => blockNamesOf(block, 0)).flatMap(({ name, txid }) => {
    const shown = encodeText(name, "utf8")
    return shown === undefined ? [] : [{ name: shown, txid: displayHash(txid) }]
  })

const namesIn = (blocks: ReadonlyArray<Block>): ReadonlySet<string> =>
  new Set(recordsOf(blocks).map(({ name }) => name))

const lastNameTransaction = (blocks: ReadonlyArray<Block>): string => recordsOf(blocks).at(-1)?.txid ?? ""
