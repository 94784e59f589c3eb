import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import * as FeeEstimator from "../../../src/mempool/fees/FeeEstimator.ts"
import * as Mempool from "../../../src/mempool/Mempool.ts"
import * as NameDb from "../../../src/names/NameDb.ts"
import { COIN } from "../../../src/protocol/amount.ts"
import { equal } from "../../../src/protocol/bytes.ts"
import { seededDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { createMnemonic } from "../../../src/wallet/keys/mnemonic.ts"
import * as WalletFile from "../../../src/wallet/keys/WalletFile.ts"
import type { Wallet } from "../../../src/wallet/Wallet.ts"
import * as WalletLive from "../../../src/wallet/WalletLive.ts"
import { chainLayer, chainOf, temporaryDirectory, type TestChain } from "../../support/chain.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { blockOn, pay } from "../../support/mempool.ts"

/** A registration on a real chain, mempool, name database and wallet, in files that survive a restart. */

const NAME = new TextEncoder().encode("d/example")
const VALUE = new TextEncoder().encode("{}")

interface Node {
  readonly wallet: Wallet
  readonly chain: TestChain
  readonly pool: typeof Mempool.Mempool.Service
  readonly names: typeof NameDb.NameDb.Service
  /** Connects blocks with all transactions of the mempool. */
  readonly mine: (count: number) => Effect.Effect<void>
}

let mined = 50_000

/** Runs a node on a directory. */
const withLive = <A, E>(directory: string, use: (node: Node) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const services = yield* Layer.build(
      FeeEstimator.layer({ filename: undefined }).pipe(
        Layer.provideMerge(Mempool.layer({ filename: join(directory, "mempool.dat") })),
        Layer.provideMerge(SyncStatus.layer({ offline: true })),
        Layer.provideMerge(NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 })),
        Layer.provideMerge(Scheduler.layer),
        Layer.provideMerge(chainLayer(directory))
      )
    )
    const chain = chainOf(services)
    const pool = Context.get(services, Mempool.Mempool)
    const names = Context.get(services, NameDb.NameDb)
    const path = join(directory, "wallet.json")
    const fresh = yield* Effect.option(WalletFile.open(path, "regtest"))
    const file = fresh._tag === "Some"
      ? fresh.value
      : yield* WalletFile.create(
        path,
        yield* seededDocument({ network: "regtest", mnemonic: createMnemonic(12), createdAt: 0, birthday: 0 })
      )
    yield* chain.control.register(names.follower)
    const wallet = yield* Effect.provide(
      WalletLive.make({
        name: "",
        file,
        indexFile: join(directory, "wallet.db"),
        pageSize: 4096,
        limitNameChains: 1,
        fresh: fresh._tag === "None"
      }),
      services
    )
    yield* chain.control.register(wallet.follower)
    yield* chain.control.register(pool.follower)
    yield* pool.load
    yield* Context.get(services, SyncStatus.SyncStatus).loaded
    const mineOne = Effect.gen(function*() {
      const tip = yield* chain.tip
      const prev = yield* chain.block(tip.hash)
      const waiting = Array.from(pool.entries(), ({ transaction }) => transaction)
      const submission = yield* chain.sink.submit(blockOn(prev, tip.height + 1, waiting, mined++))
      assert.deepStrictEqual(submission, { type: "connected" })
    })
    const mine = (count: number) => Effect.orDie(Effect.repeatN(mineOne, count - 1))
    return yield* use({ wallet, chain, pool, names, mine })
  }).pipe(Effect.scoped, Effect.provide(Logger.remove(Logger.defaultLogger)))

/** Mines a hundred blocks, and pays the wallet. */
const fund = ({ chain, mine, pool, wallet }: Node) =>
  Effect.gen(function*() {
    yield* mine(101)
    const first = yield* chain.headerAt(1)
    const block = yield* chain.block(first?.hash ?? new Uint8Array(32))
    const [transaction] = block.transactions
    if (transaction === undefined) return assert.fail("no coinbase")
    const { script } = yield* wallet.keys.newAddress({ type: "legacy", label: "" })
    yield* pool.accept(pay([{ transaction, vout: 0 }], { more: [{ value: 10 * COIN, script }] }))
    yield* mine(1)
  })

const stepOf = ({ wallet }: Node) => wallet.names.registrations()[0]?.step

describe("a registration on a real node", () => {
  it.scopedLive("completes despite restarts and a reorganisation, and the name is renewed", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withLive(directory, (node) =>
        Effect.gen(function*() {
          yield* fund(node)
          yield* node.wallet.names.register(NAME, VALUE, {})
          yield* node.mine(1)
          yield* eventually("maturing", () => stepOf(node) === "maturing")
          yield* node.mine(10)
          assert.strictEqual(node.pool.pending().length, 0)
        }))
      yield* withLive(directory, (node) =>
        Effect.gen(function*() {
          assert.strictEqual(stepOf(node), "maturing")
          yield* node.mine(1)
          yield* eventually("revealed", () => stepOf(node) === "revealed")
          assert.strictEqual(node.pool.pending().length, 1)
        }))
      yield* withLive(directory, (node) =>
        Effect.gen(function*() {
          yield* eventually("in the mempool again", () => node.pool.pending().length === 1)
          assert.strictEqual(stepOf(node), "revealed")
          yield* node.mine(1)
          yield* eventually("done", () => stepOf(node) === "done")
          const record = yield* node.names.resolve(NAME)
          assert.deepStrictEqual(record.value, VALUE)
          assert.isTrue(equal(record.txid, node.wallet.names.registrations()[0]?.firstUpdateTxid ?? VALUE))
          const tip = yield* node.chain.tip
          yield* node.chain.control.invalidate(tip.hash)
          yield* eventually("revealed again", () => stepOf(node) === "revealed")
          yield* node.mine(1)
          yield* eventually("done again", () => stepOf(node) === "done")
          yield* node.wallet.names.setRenewal(undefined, true)
          yield* node.mine(26)
          yield* settled("no renewal", () => node.pool.pending().length)
          assert.strictEqual(node.pool.pending().length, 0)
          yield* node.mine(1)
          yield* eventually("renewed", () => node.pool.pending().length === 1)
          yield* node.mine(1)
          assert.strictEqual((yield* node.names.resolve(NAME)).height, record.height + 28)
          assert.deepStrictEqual(node.wallet.names.list().map(({ mine, name }) => [name, mine]), [[NAME, true]])
        }))
    }))
})
