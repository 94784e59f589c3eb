import { assert, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream } from "effect"
import { blockNamesOf } from "../../src/client/blockNames.ts"
import { NameClient } from "../../src/client/NameClient.ts"
import type { NameChange } from "../../src/client/records.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { temporaryDirectory, testChain } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { fillDirectory, nodeWithClient } from "../support/embedded.ts"
import { inTime } from "../support/eventually.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { subscribed } from "./embeddedClient.ts"

/** A branch that loses, and the file of its blocks. */
interface Branch {
  readonly forkHeight: number
  readonly length: number
  readonly firstRecord: number
}

const recordsOf = (blocks: ReadonlyArray<Block>) =>
  blocks.flatMap((block) => blockNamesOf(block, 0)).flatMap(({ name, txid }) => {
    const shown = encodeText(name, "utf8")
    return shown === undefined ? [] : [{ name: shown, txid: displayHash(txid) }]
  })

const namesIn = (blocks: ReadonlyArray<Block>): ReadonlySet<string> =>
  new Set(recordsOf(blocks).map(({ name }) => name))

const lastNameTransaction = (blocks: ReadonlyArray<Block>): string => recordsOf(blocks).at(-1)?.txid ?? ""

it.scopedLive("the embedded client reports changes block by block, and again the names that a reorg rolls back", () =>
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
