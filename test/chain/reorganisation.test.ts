import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import type { Block } from "../../src/protocol/block.ts"
import { binaryString, displayHash, fromBinaryString } from "../../src/protocol/bytes.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { outpoint, prevoutIndex, prevoutTxid, type Transaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { coinState, temporaryDirectory, type TestChain, withChain } from "../support/chain.ts"
import type { MemoryChain } from "../support/MemoryChain.ts"
import { numbers, shuffled } from "../support/numbers.ts"
import {
  ANYONE,
  currency,
  emptyChain,
  emptyChild,
  input,
  makeCoinbase,
  mine,
  nameNew,
  nameTransaction,
  type Outpoint,
  rewardOf,
  saltOf,
  text
} from "../support/regtest.ts"

/**
 * Random trees of blocks with coins and names, offered in random order. Between the blocks, blocks are invalidated and
 * reconsidered. The final state is always that of the best branch alone.
 */

type Service = TestChain
type Random = (below: number) => number

const BASE = 142

const NAMES = ["d/one", "d/two", "d/three", "d/four"].map((name, i) => ({ name: text(name), rand: saltOf(i + 1) }))

/** All transactions that were made, by txid. */
type Known = Map<string, Transaction>

const remember = (known: Known, block: Block): Block => {
  for (const transaction of block.transactions) known.set(binaryString(transaction.txid), transaction)
  return block
}

interface Trunk {
  readonly chain: MemoryChain
  /** The transactions that committed to each name, in the order of the names. */
  readonly commitments: ReadonlyArray<Transaction>
}

/** The trunk: spendable coins, and names in all states; one of them is about to expire. */
const makeTrunk = (known: Known): Trunk => {
  const chain = emptyChain(104)
  const commitments = NAMES.map(({ name, rand }, i) => nameTransaction(nameNew(name, rand), [rewardOf(chain, i + 1)]))
  mine(chain, commitments)
  while (chain.height < 117) mine(chain)
  for (const i of [0, 1]) {
    const [name, commitment] = [NAMES[i], commitments[i]]
    if (name === undefined || commitment === undefined) continue
    mine(chain, [nameTransaction(
      { op: "name_firstupdate", ...name, value: text("first") },
      [{ transaction: commitment, vout: 0 }]
    )])
  }
  while (chain.height < BASE) mine(chain)
  for (let height = 0; height <= BASE; height++) remember(known, chain.blockAt(height))
  return { chain, commitments }
}

interface Node {
  readonly block: Block
  readonly height: number
  /** Number of the parent in the tree; -1 for the end of the trunk. */
  readonly parent: number
  /** Whether the block or an ancestor breaks a rule. */
  readonly broken: boolean
}

const outpointOf = (known: Known, key: string): Outpoint => {
  const prevout = fromBinaryString(key)
  const transaction = known.get(binaryString(prevoutTxid(prevout)))
  if (transaction === undefined) throw new Error("a coin of no known transaction")
  return { transaction, vout: prevoutIndex(prevout) }
}

/** Some of the possible actions on top of a chain. */
const someTransactions = ({ chain, commitments }: Trunk, known: Known, next: Random): ReadonlyArray<Transaction> => {
  const made: Array<Transaction> = []
  for (const [i, { name, rand }] of NAMES.entries()) {
    if (next(2) === 0) continue
    const claim = chain.claims.get(nameKey(name))
    const value = text(`value ${next(1000)}`)
    if (claim !== undefined && chain.coins.has(claim.outpoint)) {
      made.push(nameTransaction({ op: "name_update", name, value }, [outpointOf(known, claim.outpoint)]))
      continue
    }
    const commitment = commitments[i]
    if (commitment !== undefined && chain.coins.has(binaryString(outpoint(commitment.txid, 0)))) {
      const spent = [{ transaction: commitment, vout: 0 }]
      made.push(nameTransaction({ op: "name_firstupdate", name, rand, value }, spent))
    }
  }
  const reward = rewardOf(chain, 5 + next(chain.height - 105))
  if (chain.coins.has(binaryString(outpoint(reward.transaction.txid, 0)))) {
    made.push(currency([input(reward)], [{ value: 1000 + next(1000), script: ANYONE }]))
  }
  return made
}

/** Moves a chain in memory to a node of the tree. */
const moveTo = (chain: MemoryChain, nodes: ReadonlyArray<Node>, target: number): void => {
  const way: Array<Block> = []
  for (let node = nodes[target]; node !== undefined; node = nodes[node.parent]) way.unshift(node.block)
  while (chain.height > BASE && chain.tip !== way[chain.height - BASE - 1]) chain.disconnect()
  for (const block of way.slice(chain.height - BASE)) chain.connect(block)
}

const makeTree = (trunk: Trunk, known: Known, size: number, next: Random): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  while (nodes.length < size) {
    const number = nodes.length
    // Mostly chains, some forks, some of them deep.
    const parent = next(4) > 0 ? nodes.findLastIndex(({ broken }) => !broken) : next(number + 1) - 1
    const under = nodes[parent]
    const height = (under?.height ?? BASE) + 1
    const below = under?.block ?? trunk.chain.blockAt(BASE)
    const fault = next(12) === 0
    const reward = { value: blockSubsidy(height, regtestParams) + (fault ? 1 : 0), script: ANYONE }
    const coinbase = makeCoinbase(height, [reward], { extra: Uint8Array.of(2, number & 0xff, number >> 8) })
    if (fault || under?.broken === true) {
      nodes.push({ block: emptyChild(below, height, { coinbase }), height, parent, broken: true })
      continue
    }
    moveTo(trunk.chain, nodes, parent)
    const transactions = someTransactions(trunk, known, next)
    const block = remember(known, mine(trunk.chain, transactions, { coinbase }))
    nodes.push({ block, height, parent, broken: false })
  }
  moveTo(trunk.chain, nodes, -1)
  return nodes
}

/** The expected state of a node, computed from the actions on it. */
class Model {
  readonly stored = new Set<number>()
  /** Blocks with a known header; the trunk's headers are always known. */
  readonly heard = new Set<number>()
  /** Blocks that are invalid themselves or by an ancestor: numbers of the tree, or negative heights of the trunk. */
  readonly marked = new Set<number>()
  private readonly nodes: ReadonlyArray<Node>

  constructor(nodes: ReadonlyArray<Node>) {
    this.nodes = nodes
  }

  /** A block and all below it, as numbers. */
  private lineage(number: number): ReadonlyArray<number> {
    const line: Array<number> = []
    let at = number
    for (; at >= 0; at = this.nodes[at]?.parent ?? -1) line.push(at)
    const height = number >= 0 ? BASE : -number
    for (let under = height; under > 0; under--) line.push(-under)
    return line
  }

  invalidate(number: number): void {
    for (let height = -number; height > 0 && height <= BASE; height++) this.marked.add(-height)
    for (const other of this.heard) if (this.lineage(other).includes(number)) this.marked.add(other)
  }

  /**
   * Removes marks from the block, its ancestors and its descendants. Marks of other branches on the same ancestors
   * stay, as in the reference node (upstream `validation.cpp`, `ResetBlockFailureFlags`).
   */
  reconsider(number: number): void {
    const own = new Set(this.lineage(number))
    for (const marked of [...this.marked]) {
      if (own.has(marked) || this.lineage(marked).includes(number)) this.marked.delete(marked)
    }
  }

  /** The greatest height of a valid chain of stored blocks, and the blocks at that height. */
  best(): { readonly height: number; readonly blocks: ReadonlySet<number> } {
    const low = Math.min(BASE + 1, ...[...this.marked].filter((one) => one < 0).map((one) => -one))
    if (low <= BASE) return { height: low - 1, blocks: new Set([-(low - 1)]) }
    let height = BASE
    let blocks = new Set([-BASE])
    for (const [number, node] of this.nodes.entries()) {
      const good = this.lineage(number).every((one) => !this.marked.has(one) && (one < 0 || this.stored.has(one)))
      if (!good || node.broken || node.height < height) continue
      if (node.height > height) blocks = new Set()
      height = node.height
      blocks.add(number)
    }
    return { height, blocks }
  }
}

const BROKEN_OR_LOST = new Set(["bad-cb-amount", "bad-prevblk", "duplicate-invalid"])

const submitting = (chain: Service, model: Model, nodes: ReadonlyArray<Node>, number: number) =>
  Effect.gen(function*() {
    const node = nodes[number]
    if (node === undefined) return true
    const answer = yield* chain.sink.submit(node.block)
    if (answer.type !== "rejected") model.stored.add(number)
    if (answer.type !== "rejected" || answer.reject.reason === "bad-cb-amount") model.heard.add(number)
    else if (answer.reject.reason === "prev-blk-not-found") return false
    else assert.isTrue(BROKEN_OR_LOST.has(answer.reject.reason), answer.reject.reason)
    return true
  })

const dump = (names: typeof NameDb.NameDb.Service) =>
  Effect.gen(function*() {
    const records = Chunk.toReadonlyArray(yield* Stream.runCollect(names.scan({})))
    const histories = yield* Effect.forEach(records, ({ name }) => names.history(name))
    return {
      cursor: yield* Effect.map(names.cursor, (cursor) => cursor && displayHash(cursor.hash)),
      records,
      histories
    }
  })

const claimsOf = (chain: Service) =>
  chain.coins.atRest(({ visitClaims }) =>
    Effect.gen(function*() {
      const all: Array<unknown> = []
      yield* visitClaims((claims) => void all.push(...claims))
      return all
    })
  )

/** The names in a separate file beside the chain, kept up with it. */
const withNames = <A, E>(
  directory: string,
  chain: Service,
  use: (names: typeof NameDb.NameDb.Service) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const names = yield* NameDb.NameDb
    yield* chain.control.register(names.follower)
    return yield* use(names)
  }).pipe(
    Effect.provide(Layer.provideMerge(
      NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
      DataHealth.layer
    ))
  )

const stateOf = (chain: Service, names: typeof NameDb.NameDb.Service) =>
  Effect.all({ coins: coinState(chain), claims: claimsOf(chain), names: dump(names) })

describe("Chain and a follower, whatever the order", () => {
  const known: Known = new Map()
  const whole = makeTrunk(known)
  const trunk = whole.chain

  const blockFile = (directory: string): string => {
    const parts: Array<Uint8Array> = []
    for (let height = 0; height <= BASE; height++) {
      const { bytes } = trunk.blockAt(height)
      const frame = Buffer.alloc(8)
      frame.set(regtest.magic)
      frame.writeUInt32LE(bytes.length, 4)
      parts.push(frame, bytes)
    }
    const path = join(directory, "trunk.dat")
    writeFileSync(path, Buffer.concat(parts))
    return path
  }

  for (let seed = 1; seed <= 15; seed++) {
    it.scopedLive(`chain and follower end in the state of the best branch alone (tree ${seed})`, () =>
      Effect.gen(function*() {
        const next = numbers(1000 * seed)
        const nodes = makeTree(whole, known, 20 + next(25), next)
        // Rules out a tree of empty blocks.
        assert.isAbove(nodes.reduce((sum, { block }) => sum + block.transactions.length - 1, 0), nodes.length / 2)
        const parent = yield* temporaryDirectory
        const file = blockFile(parent)
        const model = new Model(nodes)
        const hashOf = (number: number): Uint8Array =>
          (number < 0 ? trunk.blockAt(-number) : nodes[number]?.block ?? trunk.tip).hash
        const anyBlock = (): number => next(4) === 0 ? -(BASE - next(30)) : next(nodes.length)

        const meddle = (chain: Service) =>
          Effect.gen(function*() {
            const number = anyBlock()
            const undo = next(2) === 0
            // An unknown block changes nothing.
            const done = yield* Effect.either(
              (undo ? chain.control.reconsider : chain.control.invalidate)(hashOf(number))
            )
            if (done._tag === "Left") assert.strictEqual(done.left._tag, "BlockNotFound")
            else if (undo) model.reconsider(number)
            else model.invalidate(number)
          })

        const isBest = (chain: Service) =>
          Effect.gen(function*() {
            const { hash, height } = yield* chain.tip
            const best = model.best()
            assert.strictEqual(height, best.height)
            assert.include([...best.blocks].map((number) => displayHash(hashOf(number))), displayHash(hash))
          })

        const directory = join(parent, "random")
        mkdirSync(directory)
        const queue = shuffled(nodes.map((_, number) => number), next)
        const session = (submissions: number, finish: boolean) =>
          withChain(directory, (chain) =>
            withNames(directory, chain, (names) =>
              Effect.gen(function*() {
                yield* chain.sink.importFrom([file])
                if (seed % 2 === 0 && !finish) {
                  assert.isUndefined((yield* chain.sink.acceptHeaders(nodes.map(({ block }) => block))).reject)
                  for (const number of nodes.keys()) model.heard.add(number)
                }
                for (let i = 0; i < submissions && queue.length > 0; i++) {
                  const number = queue.shift() ?? 0
                  if (!(yield* submitting(chain, model, nodes, number))) queue.push(number)
                  if (next(5) === 0) yield* meddle(chain)
                  yield* isBest(chain)
                }
                if (finish && next(2) === 0) {
                  // Reconsiders every invalidated block.
                  for (const number of [...model.marked]) {
                    yield* chain.control.reconsider(hashOf(number))
                    model.reconsider(number)
                  }
                  yield* isBest(chain)
                }
                return yield* Effect.all({ state: stateOf(chain, names), tip: chain.tip })
              })))
        yield* session(nodes.length, false)
        const end = yield* session(3 * nodes.length, true)

        // A new node receives only the best branch.
        const branch: Array<Block> = []
        const tip = nodes.find(({ block }) => displayHash(block.hash) === displayHash(end.tip.hash))
        for (let node = tip; node !== undefined; node = nodes[node.parent]) branch.unshift(node.block)
        const other = join(parent, "fresh")
        mkdirSync(other)
        const fresh = yield* withChain(other, (chain) =>
          withNames(other, chain, (names) =>
            Effect.gen(function*() {
              for (let height = 1; height <= Math.min(BASE, end.tip.height); height++) {
                assert.strictEqual((yield* chain.sink.submit(trunk.blockAt(height))).type, "connected")
              }
              for (const block of branch) assert.strictEqual((yield* chain.sink.submit(block)).type, "connected")
              return yield* stateOf(chain, names)
            })))
        assert.deepStrictEqual(end.state, fresh)
      }))
  }
})
