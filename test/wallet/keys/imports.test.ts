import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Block } from "../../../src/protocol/block.ts"
import { concat, fromHex } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { withChecksum } from "../../../src/wallet/keys/descriptors.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { type LiveNode, withWallets } from "../../support/liveWallets.ts"
import { withoutChecksum } from "../../support/walletText.ts"

const hex = (digits: string): Uint8Array => fromHex(digits) ?? assert.fail("not hexadecimal")

/** Private key 1, and its public key. */
const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
const PUBLIC_KEY = hex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
const script = concat(hex("76a914"), hash160(PUBLIC_KEY), hex("88ac"))

const request = {
  descriptor: withChecksum(`pkh(${WIF})`),
  label: "",
  timestamp: 0,
  active: false,
  internal: false,
  range: undefined,
  nextIndex: undefined
}

/** Later than any block of these tests. */
const LATER = 4_000_000_000

const blocksOf = ({ chain }: LiveNode): Effect.Effect<ReadonlyArray<Block>> =>
  Effect.gen(function*() {
    const blocks: Array<Block> = []
    for (let height = 1;; height++) {
      const header = yield* chain.headerAt(height)
      if (header === undefined) return blocks
      blocks.push(yield* chain.block(header.hash))
    }
  }).pipe(Effect.orDie)

const submitAll = ({ chain }: LiveNode, blocks: ReadonlyArray<Block>): Effect.Effect<void> =>
  Effect.orDie(Effect.forEach(blocks, (block) => chain.sink.submit(block), { discard: true }))

/** Deletes the chain, but not the wallet and its index. */
const loseChain = (directory: string): void => {
  rmSync(join(directory, "blocks"), { recursive: true })
  for (const end of ["", "-wal", "-shm"]) rmSync(join(directory, "chainstate", `chainstate.db${end}`), { force: true })
  assert.isTrue(existsSync(join(directory, "chainstate", "wallet.db")))
}

const documentOf = (directory: string) =>
  JSON.parse(withoutChecksum(readFileSync(join(directory, "wallet.json"), "utf8")))

describe("imports", () => {
  it.scopedLive("are refused while the chain is behind the wallet, and find all payments afterwards", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const blocks = yield* withWallets(
        directory,
        (node) => Effect.zipRight(Effect.zipRight(node.mine(1, { script }), node.mine(4)), blocksOf(node))
      )
      assert.strictEqual(blocks.length, 5)
      loseChain(directory)
      yield* withWallets(directory, (node) =>
        Effect.gen(function*() {
          const { wallet } = node
          assert.strictEqual(wallet.ledger.lastBlock().height, 5)
          yield* submitAll(node, blocks.slice(0, 4))
          assert.deepInclude(yield* Effect.flip(wallet.keys.importDescriptor(request)), { code: "scanning" })
          assert.deepStrictEqual(documentOf(directory).imports, [])
          assert.deepInclude(yield* Effect.flip(wallet.ledger.rescan(0, undefined)), { code: "scanning" })
          assert.isUndefined(wallet.ledger.scanning())
          assert.strictEqual(yield* wallet.ledger.rescan(0, 4), 4)
          yield* submitAll(node, blocks.slice(4))
          yield* wallet.keys.importDescriptor(request)
          assert.deepStrictEqual(wallet.ledger.transactions().map(({ state }) => state.type), ["confirmed"])
        }))
    }))

  it.scopedLive("that were interrupted are rescanned once the chain is restored", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const blocks = yield* withWallets(directory, (node) =>
        node.mine(1, { script }).pipe(
          Effect.zipRight(node.mine(4)),
          Effect.zipRight(node.wallet.keys.importDescriptor(request)),
          Effect.zipRight(blocksOf(node))
        ))
      const withIndex = <A>(use: (database: SQLite.Database) => A): A => {
        const database = new SQLite(join(directory, "chainstate", "wallet.db"))
        try {
          return use(database)
        } finally {
          database.close()
        }
      }
      withIndex((database) =>
        database.exec("DELETE FROM sources WHERE descriptor LIKE 'pkh(%'; DELETE FROM transactions")
      )
      // The checksums belong to the pages that the node wrote.
      rmSync(join(directory, "chainstate", "wallet.db.sums"))
      loseChain(directory)
      const known = () =>
        withIndex((database) => database.prepare("SELECT descriptor FROM sources WHERE descriptor LIKE 'pkh(%'").all())
      yield* withWallets(directory, (node) =>
        Effect.gen(function*() {
          yield* settled("nothing is found", () => node.wallet.ledger.transactions().length)
          assert.deepStrictEqual([known(), node.wallet.ledger.transactions()], [[], []])
          // Until then the wallet does not say that it has no coin of a name.
          const renewal = node.wallet.names.renew({ of: "names", names: [Uint8Array.of(1)] })
          assert.deepInclude(yield* Effect.flip(renewal), { code: "scanning" })
          yield* submitAll(node, blocks)
          yield* eventually("found", () => node.wallet.ledger.transactions().length === 1)
          yield* eventually("remembered", () => known().length === 1)
          assert.deepInclude((yield* renewal)[0], { state: "skipped", note: "the name is not registered" })
        }))
    }))

  it.scopedLive("of a key with an earlier time are rescanned if the file has rescanFrom", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withWallets(directory, ({ mine, wallet }) =>
        Effect.gen(function*() {
          yield* mine(1, { script })
          yield* wallet.keys.importDescriptor({ ...request, timestamp: LATER })
          assert.deepStrictEqual(wallet.ledger.transactions(), [])
        }))
      // The state that `svcd-wallet import-key` leaves.
      const { imports, ...document } = documentOf(directory)
      const changed = { ...document, rescanFrom: 0, imports: [{ ...imports[0], timestamp: 0 }] }
      writeFileSync(join(directory, "wallet.json"), JSON.stringify(changed))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          yield* eventually("found", () => wallet.ledger.transactions().length === 1)
          yield* eventually("noted", () => documentOf(directory).rescanFrom === undefined)
        }))
      // A new index starts early enough and needs no rescan.
      writeFileSync(join(directory, "wallet.json"), JSON.stringify(changed))
      rmSync(join(directory, "chainstate", "wallet.db"))
      yield* withWallets(directory, ({ wallet }) =>
        Effect.gen(function*() {
          assert.strictEqual(wallet.ledger.transactions().length, 1)
          yield* eventually("noted", () => documentOf(directory).rescanFrom === undefined)
        }))
    }))
})
