import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash, EMPTY } from "../../../../src/protocol/bytes.ts"
import { nameScript } from "../../../../src/protocol/nameOperation.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import { makeTransaction, type TransactionOutput } from "../../../../src/protocol/transaction.ts"
import type { WalletCoin } from "../../../../src/wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import {
  fakeWallet,
  fakeWallets,
  ownScript,
  walletCoin,
  type WalletMembers,
  walletTx
} from "../../../support/fakeWallet.ts"
import { walletNode } from "../../../support/walletNode.ts"

const TIP = 200

const name = nameScript({ op: "name_update", name: new TextEncoder().encode("d/x"), value: EMPTY }, ownScript(2).script)

const OUTPUTS: ReadonlyArray<TransactionOutput> = [
  { value: 1e8, script: ownScript(1).script },
  { value: 2e8, script: ownScript(1).script },
  { value: 1_000_000, script: name },
  { value: 3e8, script: ownScript(2).script },
  { value: 4e8, script: ownScript(3).script }
]

const TX = makeTransaction({ version: 2, inputs: [], outputs: OUTPUTS, lockTime: 0 })

const coin = (vout: number, number: number, overrides: Partial<WalletCoin> = {}) =>
  walletCoin(TX, vout, ownScript(number), { height: TIP - 9, ...overrides })

/** Coins of 1, 2 and 3 NMC and a name, with 10, 6, 10 and 0 confirmations; the last is another wallet's payment. */
const fake = (overrides: WalletMembers = {}) =>
  fakeWallet({ lastBlock: () => ({ height: TIP, hash: regtest.genesisHash }), ...overrides }, {
    scripts: [1, 2, 3].map((number) => ownScript(number)),
    transactions: [walletTx(TX)],
    labels: new Map([[ownScript(1).address ?? "", { label: "rent", purpose: "receive" as const }]]),
    coins: [
      coin(0, 1),
      coin(1, 1, { height: TIP - 5, coinbase: true }),
      coin(2, 2),
      coin(3, 2, { height: undefined, trusted: false, safe: false })
    ]
  })

type Node = Effect.Effect.Success<ReturnType<typeof walletNode>>

const run = <A, E>(use: (node: Node) => Effect.Effect<A, E>, wallet: Wallet = fake().wallet) =>
  Effect.scoped(Effect.flatMap(walletNode(fakeWallets([wallet])), use))

const vouts = (value: unknown) => Array.isArray(value) ? value.map(({ vout }) => vout) : []

describe("getbalance and getbalances", () => {
  const balances = Effect.succeed({ trusted: 5_747_90299550, untrustedPending: 3, immature: 3_300_00740650 })

  it.effect("return the same results as the reference node", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* on().call("getbalance")).text, "5747.90299550")
        const hash = displayHash(regtest.genesisHash)
        assert.strictEqual(
          (yield* on().call("getbalances")).text,
          `{"mine":{"trusted":5747.90299550,"untrusted_pending":0.00000003,"immature":3300.00740650},` +
            `"lastprocessedblock":{"hash":"${hash}","height":200}}`
        )
      }), fake({ balances }).wallet))

  it.effect("count coins that are deep enough, without names, immature coinbases and untrusted coins", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* on().call("getbalance", "*", 10)).text, "1.00000000")
        assert.strictEqual((yield* on().call("getbalance", null, 11)).text, "0.00000000")
      })
    ))

  it.effect("refuse what the reference node refuses", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* on().refusal("getbalance", "x"), {
          code: -32,
          message: "dummy first argument must be excluded or set to \"*\"."
        })
        assert.deepStrictEqual(yield* on().refusal("getbalance", "*", 0, false, true), {
          code: -4,
          message: "wallet does not have the \"avoid reuse\" feature enabled"
        })
      })
    ))
})

describe("listunspent", () => {
  it.effect("lists coins without names, and names on request", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const list = (...params: ReadonlyArray<unknown>) =>
          Effect.map(on().call("listunspent", ...params), ({ value }) => vouts(value))
        assert.deepStrictEqual(yield* list(), [0])
        assert.deepStrictEqual(yield* list(0), [0, 3])
        assert.deepStrictEqual(yield* list(0, null, null, false), [0])
        assert.deepStrictEqual(yield* list(0, null, null, null, { includeNames: true }), [0, 2, 3])
        assert.deepStrictEqual(yield* list(1, null, null, null, { include_immature_coinbase: true }), [0, 1])
        assert.deepStrictEqual(yield* list(10), [0])
        assert.deepStrictEqual(yield* list(11), [])
        assert.deepStrictEqual(yield* list(0, 9), [3])
        assert.deepStrictEqual(yield* list(0, 99, [ownScript(2).address]), [3])
        assert.deepStrictEqual(yield* list(0, 99, [], true, { minimumAmount: 1.00000001 }), [3])
        assert.deepStrictEqual(yield* list(0, 99, [], true, { maximumAmount: "1" }), [0])
        assert.deepStrictEqual(yield* list(0, 99, [], true, { maximumCount: 1 }), [0])
        assert.deepStrictEqual(yield* list(0, 99, [], true, { minimumSumAmount: 1 }), [0])
        assert.deepStrictEqual(yield* list(0, 99, [], true, { minimumSumAmount: 1.1 }), [0, 3])
        const named = yield* on().callText("listunspent", `{"minconf":0,"maximumCount":1}`)
        assert.deepStrictEqual(vouts(named.value), [0])
      })
    ))

  it.effect("returns all members of a coin", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listunspent", 1, 99, [], true, { includeNames: true })
        const own = ownScript(1)
        assert.deepStrictEqual(Array.isArray(value) ? value[0] : undefined, {
          txid: displayHash(TX.txid),
          vout: 0,
          address: own.address,
          label: "rent",
          scriptPubKey: Buffer.from(own.script).toString("hex"),
          amount: 1,
          confirmations: 10,
          spendable: true,
          solvable: true,
          desc: own.descriptor,
          parent_descs: [own.parentDescriptor],
          safe: true
        })
        assert.deepStrictEqual(Array.isArray(value) ? value[1].nameOp : undefined, {
          op: "name_update",
          name: "d/x",
          name_encoding: "ascii",
          value: "",
          value_encoding: "ascii"
        })
      })
    ))

  it.effect("hides locked coins and expired names", () => {
    const { coins, wallet } = fake()
    coins.splice(0, coins.length, coin(0, 1, { locked: true }), coin(2, 2, { nameExpired: true }), coin(4, 3))
    return run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listunspent", 1, 99, [], true, { includeNames: true })
        assert.deepStrictEqual(vouts(value), [4])
      }), wallet)
  })

  it.effect("refuses invalid addresses, a repeated address, and unknown options", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { refusal } = on()
        const address = ownScript(1).address
        assert.deepStrictEqual(yield* refusal("listunspent", 1, 9, ["x"]), { code: -5, message: "Invalid address: x" })
        assert.deepStrictEqual(yield* refusal("listunspent", 1, 9, [address, address]), {
          code: -8,
          message: `Invalid parameter, duplicated address: ${address}`
        })
        assert.deepStrictEqual(yield* refusal("listunspent", 1, 9, [], true, { x: 1 }), {
          code: -3,
          message: "Unexpected key x"
        })
      })
    ))
})

describe("lockunspent", () => {
  const at = (vout: number) => ({ txid: displayHash(TX.txid), vout })

  it.effect("locks and unlocks coins, one by one or all", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { call } = on()
        const locked = Effect.map(call("listlockunspent"), ({ value }) => value)
        assert.strictEqual((yield* call("lockunspent", false, [at(0), at(3)])).text, "true")
        assert.deepStrictEqual(yield* locked, [at(0), at(3)])
        yield* call("lockunspent", true, [at(0)])
        assert.deepStrictEqual(yield* locked, [at(3)])
        yield* call("lockunspent", true, [])
        assert.deepStrictEqual(yield* locked, [at(3)])
        yield* call("lockunspent", true)
        assert.deepStrictEqual(yield* locked, [])
      })
    ))

  it.effect("refuses outputs that are not unspent coins, and coins already locked or unlocked", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        const message = (unlock: boolean, coin: unknown) =>
          Effect.map(refusal("lockunspent", unlock, [coin]), ({ code, message }) => [code, message])
        yield* call("lockunspent", false, [at(0)])
        assert.deepStrictEqual(yield* message(false, at(-1)), [-8, "Invalid parameter, vout cannot be negative"])
        assert.deepStrictEqual(yield* message(false, { txid: "33".repeat(32), vout: 0 }), [
          -8,
          "Invalid parameter, unknown transaction"
        ])
        assert.deepStrictEqual(yield* message(false, at(5)), [-8, "Invalid parameter, vout index out of bounds"])
        assert.deepStrictEqual(yield* message(false, at(4)), [-8, "Invalid parameter, expected unspent output"])
        assert.deepStrictEqual(yield* message(true, at(3)), [-8, "Invalid parameter, expected locked output"])
        assert.deepStrictEqual(yield* message(false, at(0)), [-8, "Invalid parameter, output already locked"])
        assert.strictEqual((yield* call("lockunspent", false, [at(0)], true)).text, "true")
      })
    ))

  it.effect("reads the outputs up to the first that it refuses", () => {
    const asked: Array<string> = []
    const { wallet } = fake({ transaction: (key) => void asked.push(key) })
    return run(({ on }) =>
      Effect.gen(function*() {
        const { message } = yield* on().refusal("lockunspent", false, [at(0), at(1), at(2)])
        assert.strictEqual(message, "Invalid parameter, unknown transaction")
        assert.deepStrictEqual(asked, [TX.txidKey])
      }), wallet)
  })
})
