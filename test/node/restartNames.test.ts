import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { markInvalid, snapshotDirectory } from "../../src/chain/snapshot/snapshotState.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { restartNames } from "../../src/node/layers/names.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain, withChain } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { eventually } from "../support/eventually.ts"

const [FIRST, SECOND] = [100, 140]

const blocks = fixtureBlocks("regtest-names/blocks.dat").slice(0, SECOND + 1)

interface Started {
  readonly chain: TestChain
  readonly names: typeof NameDb.NameDb.Service
}

/** Starts chain and names in a directory, as the node does, and stops them. */
const onNode = <A, E>(directory: string, trusted: Uint8Array, use: (started: Started) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const chain = yield* testChain
    const names = yield* NameDb.NameDb
    yield* restartNames
    yield* chain.control.register(names.follower)
    return yield* use({ chain, names })
  }).pipe(Effect.provide(
    Layer.provideMerge(
      NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
      chainLayer(directory, regtestParams, 1e8, undefined, trusted)
    )
  ))

/** Loads a snapshot of a block, and returns what the names begin with then. */
const load = ({ chain, names }: Started, path: string) =>
  Effect.gen(function*() {
    yield* chain.sink.acceptHeaders(blocks.slice(1))
    yield* chain.snapshots.load(path)
    return yield* names.beginning
  })

it.scoped(
  "names that began with a snapshot that was refused are read again, even if an earlier one was validated",
  () =>
    Effect.gen(function*() {
      const source = yield* temporaryDirectory
      const directory = yield* temporaryDirectory
      const dumped = yield* withChain(source, (chain) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(1), false)
          const dump = (height: number) => chain.snapshots.dump(`${height}.dat`, chain.tree.at(height))
          return { first: yield* dump(FIRST), second: yield* dump(SECOND) }
        }))

      // The first one is validated: the names begin there, at this start and at the next.
      yield* onNode(directory, dumped.first.hash, (node) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* load(node, join(source, `${FIRST}.dat`)), FIRST)
          yield* node.chain.sink.deliver(blocks.slice(1, FIRST + 1), false)
          yield* eventually("validated", Effect.map(node.chain.snapshots.base, (base) => base === undefined))
        }))

      // The second one begins as well, and is refused afterwards.
      const second = { hash: dumped.second.base, coins: dumped.second.hash }
      yield* onNode(directory, second.coins, (node) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* node.names.beginning, FIRST)
          assert.strictEqual(yield* load(node, join(source, `${SECOND}.dat`)), SECOND)
        }))
      yield* onNode(directory, second.coins, ({ names }) =>
        Effect.map(names.beginning, (height) =>
          assert.strictEqual(height, SECOND)))
      markInvalid(snapshotDirectory(join(directory, "chainstate")), { ...second, reason: "for this test" })

      yield* onNode(directory, second.coins, ({ chain, names }) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* chain.tip).height, FIRST)
          assert.isUndefined(yield* names.beginning)
          assert.strictEqual((yield* names.cursor)?.height, FIRST)
        }))
    }),
  60_000
)
