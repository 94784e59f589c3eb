import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { METADATA_SIZE } from "../../../src/chain/snapshot/snapshotFile.ts"
import { snapshotDirectory } from "../../../src/chain/snapshot/snapshotState.ts"
import type { SnapshotWritten } from "../../../src/chain/Snapshots.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import * as NameDb from "../../../src/names/NameDb.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { chainLayer, coinState, temporaryDirectory, type TestChain, testChain, withChain } from "../../support/chain.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { temporaryNames } from "../../support/chainLayer.ts"
import { eventually } from "../../support/eventually.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const BASE = 500

const upTo = (height: number): ReadonlyArray<Block> => blocks.slice(1, height + 1)

const deliver = (chain: TestChain, some: ReadonlyArray<Block>) => chain.sink.deliver(some, false)

/** A snapshot of the fixture at `BASE`, in `directory`. */
const dumped = (directory: string) =>
  withChain(directory, (chain) =>
    Effect.gen(function*() {
      yield* deliver(chain, blocks.slice(1))
      const written = yield* chain.snapshots.dump("set.dat", chain.tree.at(BASE))
      return { path: join(directory, "set.dat"), written }
    }))

interface Started {
  readonly chain: TestChain
  readonly names: typeof NameDb.NameDb.Service
}

/** Runs a node of chain and names in a directory, with a trusted hash. */
const withNode = <A, E>(
  directory: string,
  trusted: Uint8Array | undefined,
  use: (started: Started) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const chain = yield* testChain
    const names = yield* NameDb.NameDb
    yield* chain.control.register(names.follower)
    return yield* use({ chain, names })
  }).pipe(Effect.provide(
    Layer.provideMerge(
      NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
      chainLayer(directory, regtestParams, 1e8, undefined, trusted)
    )
  ))

const recordsOf = ({ names }: Started) =>
  Effect.map(
    Stream.runCollect(names.scan({})),
    (all) =>
      [...all].map(({ address, height, name, txid, value, vout }) =>
        `${toHex(name)} ${toHex(value)} ${height} ${displayHash(txid)}:${vout} ${toHex(address)}`
      )
  )

/** The names that are not expired at the tip, as a node that has all blocks knows them. */
const complete = (height: number) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    return yield* withNode(directory, undefined, (node) =>
      Effect.gen(function*() {
        yield* deliver(node.chain, upTo(height))
        return { names: yield* recordsOf(node), coins: yield* coinState(node.chain) }
      }))
  })

const isAlive = (height: number) => (record: string): boolean => Number(record.split(" ")[2]) + 30 > height + 1

const made = Effect.runSync(Effect.cached(
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const { path, written } = yield* dumped(directory)
    return { bytes: readFileSync(path), written }
  }).pipe(Effect.scoped)
))

/** A file with the snapshot, in a directory of its own. */
const snapshotFile = Effect.gen(function*() {
  const { bytes, written } = yield* made
  const directory = yield* temporaryDirectory
  const path = join(directory, "copy.dat")
  writeFileSync(path, bytes)
  return { directory, path, written }
})

const isRefused = (chain: TestChain, path: string) => Effect.map(Effect.flip(chain.snapshots.load(path)), String)

describe("a snapshot", () => {
  it.scoped(
    "gives a node with headers alone the coins and names of its base block, and it goes on from there",
    () =>
      Effect.gen(function*() {
        const { directory, path, written } = yield* snapshotFile
        const [before, after] = [yield* complete(BASE), yield* complete(600)]
        yield* withNode(directory, written.hash, (node) =>
          Effect.gen(function*() {
            const { chain, names } = node
            yield* chain.sink.acceptHeaders(blocks.slice(1))
            const loaded = yield* chain.snapshots.load(path)
            assert.strictEqual(loaded.height, BASE)
            assert.strictEqual(loaded.coins, written.coins)
            assert.strictEqual((yield* chain.tip).height, BASE)
            assert.deepStrictEqual(yield* coinState(chain), before.coins)
            assert.deepStrictEqual(yield* recordsOf(node), before.names.filter(isAlive(BASE)))
            assert.strictEqual(yield* names.beginning, BASE)
            assert.strictEqual((yield* chain.snapshots.base)?.height, BASE)
            // Not only at the next start, which may have other rules.
            assert.isTrue(existsSync(join(snapshotDirectory(join(directory, "chainstate")), "RULES")))
            yield* deliver(chain, blocks.slice(BASE + 1))
            assert.strictEqual((yield* chain.tip).height, 600)
            assert.deepStrictEqual(yield* coinState(chain), after.coins)
            assert.includeMembers([...yield* recordsOf(node)], after.names.filter(isAlive(600)))
          }))
        // After a restart it goes on.
        yield* withNode(directory, undefined, (node) =>
          Effect.gen(function*() {
            assert.strictEqual((yield* node.chain.tip).height, 600)
            assert.deepStrictEqual(yield* coinState(node.chain), after.coins)
            assert.includeMembers([...yield* recordsOf(node)], after.names.filter(isAlive(600)))
            assert.strictEqual((yield* node.chain.snapshots.base)?.height, BASE)
          }))
      }),
    60_000
  )

  it.scoped("does not have the blocks below its base, until they are delivered", () =>
    Effect.gen(function*() {
      const { directory, path, written } = yield* snapshotFile
      yield* withNode(directory, written.hash, ({ chain }) =>
        Effect.gen(function*() {
          yield* chain.sink.acceptHeaders(blocks.slice(1))
          yield* chain.snapshots.load(path)
          const hash = blocks[300]?.hash ?? assert.fail()
          assert.strictEqual((yield* Effect.flip(chain.block(hash)))._tag, "BlockUnavailable")
          assert.isTrue(chain.tree.losses.any)
          assert.isFalse(chain.tree.losses.recentAwaited)
          yield* deliver(chain, upTo(BASE))
          assert.isFalse(chain.tree.losses.any)
          assert.strictEqual((yield* chain.block(hash)).size, blocks[300]?.size)
        }))
    }), 60_000)

  it.scoped(
    "leaves no gap in the names if a reorg goes below its base, once that is validated: they are read from the blocks",
    () =>
      Effect.gen(function*() {
        const { directory, path, written } = yield* snapshotFile
        const earlier = yield* complete(BASE - 5)
        yield* withNode(directory, written.hash, (node) =>
          Effect.gen(function*() {
            const { chain, names } = node
            yield* chain.sink.acceptHeaders(blocks.slice(1))
            yield* chain.snapshots.load(path)
            yield* deliver(chain, upTo(BASE + 1))
            yield* eventually("validated", Effect.map(chain.snapshots.base, (base) => base === undefined))
            assert.strictEqual(yield* names.beginning, BASE)
            yield* chain.control.invalidate(blocks[BASE - 4]?.hash ?? assert.fail())
            yield* eventually(
              "the names at the tip again",
              Effect.map(names.cursor, (cursor) => cursor?.height === BASE - 5)
            )
            assert.isUndefined(yield* names.beginning)
            assert.deepStrictEqual(yield* recordsOf(node), earlier.names)
          }))
      }),
    60_000
  )

  it.scoped("gives names again that were deleted, from the coins", () =>
    Effect.gen(function*() {
      const { directory, path, written } = yield* snapshotFile
      yield* withNode(directory, written.hash, ({ chain }) =>
        Effect.gen(function*() {
          yield* chain.sink.acceptHeaders(blocks.slice(1))
          yield* chain.snapshots.load(path)
        }))
      const other = { ...yield* complete(BASE) }
      yield* Effect.provide(
        Effect.gen(function*() {
          const chain = yield* testChain
          const names = yield* NameDb.NameDb
          yield* chain.control.register(names.follower)
          assert.deepStrictEqual(yield* recordsOf({ chain, names }), other.names.filter(isAlive(BASE)))
        }),
        Layer.provideMerge(temporaryNames, chainLayer(directory))
      )
    }), 60_000)
})

describe("a snapshot is refused", () => {
  const change = (path: string, work: (bytes: Buffer) => void) =>
    Effect.sync(() => {
      const bytes = readFileSync(path)
      work(bytes)
      writeFileSync(path, bytes)
    })

  const cases: ReadonlyArray<
    readonly [what: string, spoil: (path: string, written: SnapshotWritten) => Effect.Effect<void>, expected: RegExp]
  > = [
    [
      "that is truncated",
      (path) => Effect.sync(() => truncateSync(path, 2_000)),
      /^Population failed: Bad snapshot format or truncated/
    ],
    [
      "of another file format",
      (path) => change(path, (bytes) => bytes.writeUInt8(0)),
      /^Invalid UTXO set snapshot magic/
    ],
    [
      "of another network",
      (path) => change(path, (bytes) => bytes.writeUInt8(0, 7)),
      /^This snapshot has been created for/
    ],
    [
      "with another amount",
      (path) => change(path, (bytes) => bytes.writeUInt8((bytes[METADATA_SIZE + 36] ?? 0) ^ 1, METADATA_SIZE + 36)),
      /^Population failed: /
    ],
    [
      "with fewer coins than it has",
      (path, { coins }) => change(path, (bytes) => bytes.writeUInt32LE(coins - 1, METADATA_SIZE - 8)),
      /^Population failed: /
    ],
    [
      "with more coins than it has",
      (path, { coins }) => change(path, (bytes) => bytes.writeUInt32LE(coins + 1, METADATA_SIZE - 8)),
      /^Population failed: Bad snapshot format or truncated/
    ]
  ]
  it.scoped.each(cases)("%s", ([, spoil, expected]) =>
    Effect.gen(function*() {
      const { directory, path, written } = yield* snapshotFile
      yield* spoil(path, written)
      yield* withNode(directory, written.hash, ({ chain }) =>
        Effect.gen(function*() {
          yield* chain.sink.acceptHeaders(blocks.slice(1))
          const failure = yield* Effect.flip(chain.snapshots.load(path))
          assert.match(failure.message, expected)
          assert.strictEqual((yield* chain.tip).height, 0)
          assert.isFalse(existsSync(snapshotDirectory(join(directory, "chainstate"))))
        }))
    }), 60_000)

  it.scoped(
    "without a trusted hash, with another one, without its header, and if the chain has more work",
    () =>
      Effect.gen(function*() {
        const { directory, path, written } = yield* snapshotFile
        yield* withNode(directory, undefined, ({ chain }) =>
          Effect.gen(function*() {
            assert.include(
              yield* isRefused(chain, path),
              `assumeutxo block hash in snapshot metadata not recognized (hash: ${displayHash(written.base)}). The ` +
                "following snapshot heights are available: 110, 200, 299."
            )
          }))
        yield* withNode(directory, new Uint8Array(32), ({ chain }) =>
          Effect.gen(function*() {
            assert.include(
              yield* isRefused(chain, path),
              `The base block header (${displayHash(written.base)}) must appear in the headers chain.`
            )
            yield* chain.sink.acceptHeaders(blocks.slice(1))
            assert.include(
              yield* isRefused(chain, path),
              `Population failed: Bad snapshot content hash: expected ${"00".repeat(32)}, got ${
                displayHash(written.hash)
              }`
            )
            yield* deliver(chain, upTo(BASE))
            assert.include(yield* isRefused(chain, path), "Population failed: Work does not exceed active chainstate")
            assert.include(yield* isRefused(chain, join(directory, "none")), "Couldn't open file")
          }))
      }),
    60_000
  )

  it.scoped("a second time", () =>
    Effect.gen(function*() {
      const { directory, path, written } = yield* snapshotFile
      yield* withNode(directory, written.hash, ({ chain }) =>
        Effect.gen(function*() {
          yield* chain.sink.acceptHeaders(blocks.slice(1))
          yield* chain.snapshots.load(path)
          assert.include(yield* isRefused(chain, path), "Can't activate a snapshot-based chainstate more than once")
          assert.strictEqual((yield* chain.snapshots.base)?.height, BASE)
        }))
    }), 60_000)
})
