import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { BlockIndex, NONE } from "../../../src/chain/index/BlockIndex.ts"
import { ChainDatabase } from "../../../src/chain/state/ChainDatabase.ts"
import { encodeCoin } from "../../../src/chain/state/coinCodec.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import { storedBalance } from "../../../src/programs/wallet/balance.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { type Bytes, concat } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { seededDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { createMnemonic } from "../../../src/wallet/keys/mnemonic.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"

const HEIGHT = 120
const PAGE_SIZE = 4096

const document = seededDocument({ network: "regtest", mnemonic: createMnemonic(12), createdAt: 1, birthday: 0 })

/** A chain state with a chain of headers and these coins. */
const store = (directory: string, coins: ReadonlyArray<Coin>): void => {
  const database = new ChainDatabase(directory, PAGE_SIZE)
  const index = new BlockIndex()
  const { header } = decodeBlock(regtestParams.network.genesisBlock)
  const { bits, merkleRoot, time, version } = header
  const fields = { bits, merkleRoot, time, version }
  let last = index.add(header, NONE)
  for (let height = 1; height <= HEIGHT; height++) {
    last = index.add(makeHeader({ ...fields, prevHash: index.hash(last), nonce: height }), last)
  }
  database.commit({
    pages: index.takeDirtyPages(),
    headerCount: HEIGHT + 1,
    bestHash: index.hash(last),
    coins: coins.map((coin, at) => {
      const outpoint = new Uint8Array(36)
      outpoint[0] = 255 - at
      return [outpoint, encodeCoin(coin)]
    }),
    spent: [],
    claims: []
  })
  database.close()
}

const inDirectory = (work: (directory: string) => Effect.Effect<void>) =>
  Effect.promise(() => withDirectoryAsync((directory) => Effect.runPromise(work(directory))))

const coin = (script: Bytes, more: Partial<Coin> = {}): Coin => ({
  script,
  value: 100,
  height: 5,
  coinbase: false,
  ...more
})

/** Scripts of the wallet's first addresses. */
const scriptsOf = (ring: KeyRing, count: number): ReadonlyArray<Bytes> =>
  Array.from({ length: count }, () => Either.getOrThrow(ring.next("legacy", { change: false })).own.script)

describe("storedBalance", () => {
  it.effect("sums the wallet's coins: mature, immature and names separately", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const made = yield* document
        const [script = new Uint8Array()] = scriptsOf(yield* KeyRing.make(made), 1)
        const name = concat(
          Uint8Array.of(Op.OP_3),
          pushData(Uint8Array.of(100)),
          pushData(Uint8Array.of(1)),
          Uint8Array.of(Op.OP_2DROP, Op.OP_DROP),
          script
        )
        store(directory, [
          coin(script),
          coin(Uint8Array.of(Op.OP_1), { value: 7_777 }),
          coin(script, { value: 10, height: HEIGHT - 100, coinbase: true }),
          coin(script, { value: 1, height: HEIGHT - 99, coinbase: true }),
          coin(name, { value: 1_000_000 })
        ])
        const balance = yield* storedBalance(directory, yield* KeyRing.make(made))
        assert.deepStrictEqual(balance, { height: HEIGHT, spendable: 110, immature: 1, names: 1 })
      }).pipe(Effect.orDie)
    ))

  it.effect("extends its search beyond each address that it finds", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const made = yield* document
        const scripts = scriptsOf(yield* KeyRing.make(made), 9)
        // Coins are found in the order of their outpoints: the furthest address comes first.
        store(directory, [2, 5, 8].map((at) => coin(scripts[at] ?? new Uint8Array())))
        const balance = yield* storedBalance(directory, yield* KeyRing.make(made, 3))
        assert.strictEqual(balance?.spendable, 300)
        const short = yield* storedBalance(directory, yield* KeyRing.make(made, 2))
        assert.strictEqual(short?.spendable, 0)
      }).pipe(Effect.orDie)
    ))

  it.effect("has no result without a stored chain", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        const ring = yield* KeyRing.make(yield* document, 1)
        assert.isUndefined(yield* storedBalance(directory, ring))
        new ChainDatabase(directory, PAGE_SIZE).close()
        assert.isUndefined(yield* storedBalance(directory, ring))
      }).pipe(Effect.orDie)
    ))

  it.effect("reports that the chain state is damaged", () =>
    inDirectory((directory) =>
      Effect.gen(function*() {
        store(directory, [])
        const database = new ChainDatabase(directory, PAGE_SIZE)
        database.commit({
          pages: [],
          headerCount: 5_000,
          bestHash: new Uint8Array(32),
          coins: [],
          spent: [],
          claims: []
        })
        database.close()
        const failure = yield* Effect.flip(storedBalance(directory, yield* KeyRing.make(yield* document, 1)))
        assert.strictEqual(failure._tag, "StorageCorrupted")
      }).pipe(Effect.orDie)
    ))
})
