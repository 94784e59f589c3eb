import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { join } from "node:path"
import * as Indexes from "../../../src/chain/indexes/Indexes.ts"
import type { TouchedScripts } from "../../../src/chain/indexes/LastTouched.ts"
import type { ScriptIndex } from "../../../src/chain/indexes/ScriptIndex.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { type OpenScriptBook, ScriptBook } from "../../../src/mempool/scripts/ScriptBook.ts"
import * as Book from "../../../src/mempool/scripts/ScriptBook.ts"
import { concat, displayHash } from "../../../src/protocol/bytes.ts"
import { hash160 } from "../../../src/protocol/hash.ts"
import { nameScript } from "../../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../../src/protocol/script.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { servicesOf, temporaryDirectory } from "../../support/chain.ts"
import { ADDRESS, type TestNode, UNLOCK, withNode } from "../../support/mempool.ts"
import { currency, input, nameNew, type Outpoint, saltOf, text } from "../../support/regtest.ts"

/** A node whose book of scripts a test asks, and payments between scripts that anyone may spend from. */

/** Scripts that a true script unlocks: the address of the rewards, and others. */
const REDEEMS = [1, 2, 3, 4].map((value) => Uint8Array.of(Op.OP_1 + value))

const scriptOfRedeem = (redeem: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(Op.OP_HASH160, 20), hash160(redeem), Uint8Array.of(Op.OP_EQUAL))

export const UNLOCKS = new Map([
  [displayHash(ADDRESS), UNLOCK],
  ...REDEEMS.map((redeem) => [displayHash(scriptOfRedeem(redeem)), pushData(redeem)] as const)
])

export const SCRIPTS = [ADDRESS, ...REDEEMS.map(scriptOfRedeem)]

export const scriptAt = (at: number): Uint8Array => SCRIPTS[at % SCRIPTS.length] ?? ADDRESS

const FEE = 200_000

export interface Served {
  readonly node: TestNode
  readonly book: OpenScriptBook
  /** Keys of scripts that listeners heard of since the last look. */
  readonly touched: Array<TouchedScripts>
}

/** The index as its readers see it in a test. */
export type Seen = (index: ScriptIndex, node: TestNode) => ScriptIndex

/** A node with an index, whose book a test asks. */
export const withBook = <A, E>(use: (served: Served) => Effect.Effect<A, E>, seen: Seen = (index) => index) =>
  withNode((node) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const stored = Layer.provide(
        Indexes.layer({
          directory: join(directory),
          pageSize: 4096,
          params: regtestParams,
          filters: false,
          spenders: false,
          coinStats: false,
          scripts: true
        }),
        DataHealth.layer
      )
      const indexes = Layer.map(stored, (context) => {
        const all = Context.get(context, Indexes.Indexes)
        const scripts = all.scripts ?? assert.fail("no index")
        return Context.make(Indexes.Indexes, { ...all, scripts: seen(scripts, node) })
      })
      const services = Layer.provideMerge(
        Book.layer,
        Layer.mergeAll(indexes, servicesOf(node.chain), Layer.succeed(Mempool, node.pool))
      )
      const context = yield* Layer.build(services)
      const { followers } = Context.get(context, Indexes.Indexes)
      yield* Effect.forEach(followers, node.chain.control.register, { discard: true })
      const { book } = Context.get(context, ScriptBook)
      const touched: Array<TouchedScripts> = []
      if (book === undefined) return yield* Effect.dieMessage("no book")
      yield* book.listen((each) => touched.push(each))
      return yield* use({ node, book, touched })
    })
  )

export const payment = (coins: ReadonlyArray<Outpoint>, to: ReadonlyArray<number>, name: boolean): Transaction => {
  const total = coins.reduce((sum, { transaction, vout }) => sum + (transaction.outputs[vout]?.value ?? 0), 0)
  const named = name ? 1_000_000 : 0
  const each = Math.floor((total - FEE - named) / to.length)
  const outputs = to.map((at) => ({ value: each, script: scriptAt(at) }))
  return currency(
    coins.map((coin) => {
      const script = coin.transaction.outputs[coin.vout]?.script ?? ADDRESS
      return input(coin, { scriptSig: UNLOCKS.get(displayHash(script)) ?? UNLOCK, sequence: 0xfffffffd })
    }),
    name
      ? [
        { value: named, script: nameScript(nameNew(text(`d/${total}`), saltOf(total % 256)), scriptAt(total)) },
        ...outputs
      ]
      : outputs,
    name ? { version: 0x7100 } : {}
  )
}
