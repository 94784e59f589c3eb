import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
import { isUtf8 } from "node:buffer"
import { blockNamesOf } from "../../src/client/blockNames.ts"
import { decodeConfig } from "../../src/client/config.ts"
import { make } from "../../src/client/daemonClient.ts"
import type { ChangeFilter } from "../../src/client/options.ts"
import type { NameChange } from "../../src/client/records.ts"
import { cursorText, endOf } from "../../src/names/events/EventCursor.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { eventually } from "../support/eventually.ts"
import { type Call, fakeDaemon, INFO, type Reply } from "../support/fakeDaemon.ts"
import { fixtureJson } from "../support/fixtures.ts"

const MAIN = fixtureBlocks("regtest-names/blocks.dat.gz")

interface Branch {
  readonly forkHeight: number
  readonly firstRecord: number
  readonly length: number
}

/** A branch of blocks with names that lost. */
const losing = () => {
  const { branches } = fixtureJson<{ readonly branches: ReadonlyArray<Branch> }>("regtest-names/stale.json.gz")
  const blocks = fixtureBlocks("regtest-names/stale.dat.gz")
  for (const { firstRecord, forkHeight, length } of branches) {
    const branch = blocks.slice(firstRecord, firstRecord + length)
    if (branch.flatMap((block) => blockNamesOf(block, 0)).length > 1) return { branch, forkHeight }
  }
  return assert.fail("no branch with names")
}

const idOf = ({ header }: Block): string => displayHash(header.hash)

/** A daemon without events, as the reference node is, on a chain that may change. */
class Blocks {
  chain: ReadonlyArray<Block>
  private readonly known = new Map<string, { readonly block: Block; readonly height: number }>()

  constructor(chain: ReadonlyArray<Block>) {
    this.chain = chain
    this.go(chain)
  }

  go(chain: ReadonlyArray<Block>): void {
    this.chain = chain
    for (const [height, block] of chain.entries()) this.known.set(idOf(block), { block, height })
  }

  readonly answer = ({ method, params: [given] }: Call): Reply | undefined => {
    const found = this.known.get(String(given))
    const tip = this.chain.length - 1
    switch (method) {
      case "getblockchaininfo": {
        const last = this.chain.at(-1)
        return { result: { ...INFO, blocks: tip, headers: tip, bestblockhash: last === undefined ? "" : idOf(last) } }
      }
      case "getblockhash": {
        const block = this.chain[Number(given)]
        return block === undefined ? { code: -8, message: "Block height out of range" } : { result: idOf(block) }
      }
      case "getblockheader": {
        if (found === undefined) return { code: -5, message: "Block not found" }
        const { block, height } = found
        const isActive = this.chain[height] === block
        const previous = height === 0 ? {} : { previousblockhash: displayHash(block.header.prevHash) }
        return { result: { height, confirmations: isActive ? tip - height + 1 : -1, ...previous } }
      }
      case "getblock":
        return found === undefined ? { code: -5, message: "Block not found" } : { result: toHex(found.block.bytes) }
      case "name_show":
        return { code: -4, message: "name never existed" }
      default:
        return undefined
    }
  }
}

const clientOf = (blocks: Blocks) =>
  Effect.gen(function*() {
    const { port } = yield* fakeDaemon(blocks.answer)
    const config = decodeConfig({ network: "regtest", mode: "daemon", rpcAddr: `http://127.0.0.1:${port}` })
    return yield* make(Either.getOrThrow(config), { firstPause: 1, interval: 2 })
  })

const told = ({ height, name, type }: NameChange) => `${height} ${type} ${name}`

describe("changes over a daemon without events", () => {
  it.scopedLive("come from its blocks, behind any cursor, and follow a reorganization", () =>
    Effect.gen(function*() {
      const { branch, forkHeight } = losing()
      const shared = MAIN.slice(0, forkHeight + 1)
      const blocks = new Blocks(shared)
      const client = yield* clientOf(blocks)
      const first = forkHeight - 30
      // Names that are not text are left out.
      const expected = shared.slice(first + 1).flatMap((block, i) =>
        blockNamesOf(block, first + 1 + i).flatMap(({ name, op }) =>
          !isUtf8(name) ? [] : [op === "name_firstupdate" ? "registered" : "updated"]
        )
      )
      assert.isAbove(expected.length, 4)
      const from = cursorText(endOf({ height: first, hash: shared[first]?.header.hash ?? new Uint8Array(32) }))
      const past = Chunk.toReadonlyArray(
        yield* Stream.runCollect(Stream.take(client.changes({ from }), expected.length))
      )
      assert.deepStrictEqual(past.map(({ type }) => type), expected)
      for (const at of [0, Math.floor(past.length / 2), past.length - 2]) {
        const rest = past.slice(at + 1)
        const again = yield* Stream.runCollect(Stream.take(client.changes({ from: past[at]?.cursor }), rest.length))
        assert.deepStrictEqual(Chunk.toReadonlyArray(again).map(told), rest.map(told))
      }

      assert.strictEqual(
        (yield* Stream.runCollect(Stream.take(client.changes({ from: "0", types: ["registered"] }), 1))).length,
        1
      )

      const seen: Array<NameChange> = []
      const follow = client.changes({ from: past.at(-1)?.cursor })
      yield* Effect.forkScoped(Stream.runForEach(follow, (change) => Effect.sync(() => void seen.push(change))))
      const names = branch.flatMap((block, i) => blockNamesOf(block, forkHeight + 1 + i))
      blocks.go([...shared, ...branch])
      yield* eventually("the branch", () => seen.length === names.length)
      blocks.go(MAIN.slice(0, forkHeight + branch.length + 2))
      yield* eventually("what was undone", () => seen.filter(({ type }) => type === "undone").length === names.length)
      const undone = seen.filter(({ type }) => type === "undone")
      assert.sameMembers(undone.map(({ name }) => name), names.map(({ name }) => Buffer.from(name).toString()))
      assert.isTrue(undone.every(({ record }) => record === undefined))
    }))

  it.scopedLive("fail where a cursor is not of its best chain", () =>
    Effect.gen(function*() {
      const client = yield* clientOf(new Blocks(MAIN.slice(0, 5)))
      const why = (filter: ChangeFilter) =>
        Effect.map(Effect.flip(Stream.runDrain(client.changes(filter))), (failure) =>
          failure._tag === "CursorUnusable" ? failure.why : failure._tag)
      assert.strictEqual(yield* why({ from: "nonsense" }), "damaged")
      assert.strictEqual(yield* why({ from: "a0000003.08388608.0123456789abcdef" }), "unknown")
      assert.strictEqual(yield* why({ from: "a0000900.08388608.0123456789abcdef" }), "future")
    }))
})
