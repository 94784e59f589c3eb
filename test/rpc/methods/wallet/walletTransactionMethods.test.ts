import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { binaryString, displayHash, EMPTY } from "../../../../src/protocol/bytes.ts"
import { type NameOperation, nameScript } from "../../../../src/protocol/nameOperation.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import {
  makeTransaction,
  NO_WITNESS,
  outpoint,
  type Transaction,
  type TransactionOutput
} from "../../../../src/protocol/transaction.ts"
import { InvalidWalletRequest } from "../../../../src/wallet/errors.ts"
import type { WalletTx } from "../../../../src/wallet/ledger/WalletLedger.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import { fakeWallet, fakeWallets, ownScript, type WalletMembers, walletTx } from "../../../support/fakeWallet.ts"
import { walletNode } from "../../../support/walletNode.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

const COMMITMENT = new Uint8Array(20).fill(0xe4)

const payTo = (number: number, value: number): TransactionOutput => ({ value, script: ownScript(number).script })

const nameTo = (number: number, operation: NameOperation): TransactionOutput => ({
  value: 1_000_000,
  script: nameScript(operation, ownScript(number).script)
})

const spend = (
  coins: ReadonlyArray<readonly [Transaction, number]>,
  outputs: ReadonlyArray<TransactionOutput>,
  sequence = 0xfffffffd
): Transaction =>
  makeTransaction({
    version: 0x7100,
    inputs: coins.map(([{ txid }, vout]) => ({
      prevout: outpoint(txid, vout),
      scriptSig: EMPTY,
      sequence,
      witness: NO_WITNESS
    })),
    outputs,
    lockTime: 0
  })

const coinbaseTo = (number: number, tag: number): Transaction =>
  makeTransaction({
    version: 1,
    inputs: [{
      prevout: outpoint(new Uint8Array(32), 0xffffffff),
      scriptSig: Uint8Array.of(1, tag),
      sequence: 0xffffffff,
      witness: NO_WITNESS
    }],
    outputs: [payTo(number, 50e8)],
    lockTime: 0
  })

const confirmed = (height: number, index = 0): WalletTx["state"] => ({
  type: "confirmed",
  height,
  hash: new Uint8Array(32).fill(height),
  index,
  blockTime: 1_600_000_000 + height
})

/** Own are 1, 2 and 4, for change 3; 9 is another's. */
const SCRIPTS = [ownScript(1), ownScript(2), ownScript(3, { change: true }), ownScript(4)]

const LABELS = new Map([
  [ownScript(1).address ?? "", { label: "mined", purpose: "receive" as const }],
  [ownScript(4).address ?? "", { label: "", purpose: "receive" as const }]
])

const TIP = 150

const COINBASE = coinbaseTo(1, 1)
const YOUNG = coinbaseTo(1, 2)
const LOST = coinbaseTo(1, 3)
const NEW = spend([[COINBASE, 0]], [nameTo(2, { op: "name_new", commitment: COMMITMENT }), payTo(3, 4_998_975_200)])
const SEND = spend([[NEW, 1]], [payTo(9, 1_25000000), payTo(4, 2_00000000), payTo(3, 46_73952700)], 0xffffffff)
const THEIRS = spend([[SEND, 0]], [nameTo(4, { op: "name_update", name: utf8("d/x"), value: EMPTY }), payTo(4, 7)])

const wallet = (overrides: WalletMembers = {}) =>
  fakeWallet({ lastBlock: () => ({ height: TIP, hash: regtest.genesisHash }), ...overrides }, {
    scripts: SCRIPTS,
    labels: LABELS,
    transactions: [
      walletTx(COINBASE, { state: confirmed(TIP - 100), order: 0 }),
      walletTx(YOUNG, { state: confirmed(TIP - 99), order: 1 }),
      walletTx(LOST, { state: { type: "inactive", abandoned: true }, order: 2 }),
      walletTx(NEW, { spent: [COINBASE.outputs[0]], order: 3 }),
      walletTx(SEND, {
        state: confirmed(TIP, 3),
        spent: [NEW.outputs[1]],
        order: 4,
        comment: "rent",
        commentTo: "landlord"
      }),
      walletTx(THEIRS, { state: { type: "conflicted", height: TIP - 1 }, order: 5 })
    ]
  })

const idOf = ({ txid }: Transaction) => displayHash(txid)
const address = (number: number) => ownScript(number).address

const run = <A, E>(
  use: (node: Effect.Effect.Success<ReturnType<typeof walletNode>>) => Effect.Effect<A, E>,
  fake: Wallet = wallet().wallet
) => Effect.scoped(Effect.flatMap(walletNode(fakeWallets([fake])), use))

describe("gettransaction (reference/rpc.md 3.9, 5.7)", () => {
  it.effect("shows a name_new with its locked amount as part of the fee", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { text } = yield* on().call("gettransaction", idOf(NEW))
        const id = idOf(NEW)
        const hash = "e4".repeat(20)
        assert.strictEqual(
          text,
          `{"amount":0.00000000,"fee":-0.01024800,"confirmations":0,"trusted":true,"txid":"${id}","wtxid":"${id}",` +
            `"walletconflicts":[],"mempoolconflicts":[],"time":1600000000,"timereceived":1600000000,` +
            `"bip125-replaceable":"yes","details":[{"address":"${address(2)}","name":"new: ${hash}",` +
            `"category":"send","amount":0.00000000,"vout":0,"fee":-0.01024800,"abandoned":false}],` +
            `"hex":"${Buffer.from(NEW.bytes).toString("hex")}","lastprocessedblock":{"hash":"${
              displayHash(regtest.genesisHash)
            }","height":150}}`
        )
      })
    ))

  it.effect("decodes a transaction and marks change", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { text } = yield* on().call("gettransaction", idOf(SEND), true, true)
        const { decoded } = JSON.parse(text)
        assert.deepStrictEqual(decoded.vout.map((output: { ischange?: boolean }) => output.ischange), [
          undefined,
          undefined,
          true
        ])
      })
    ))

  it.effect("shows a payment to another and to itself, with fee, block and notes", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("gettransaction", idOf(SEND))
        assert.deepInclude(value, {
          amount: -1.25,
          fee: -0.000225,
          confirmations: 1,
          blockheight: TIP,
          blockindex: 3,
          blocktime: 1_600_000_150,
          "bip125-replaceable": "no",
          comment: "rent",
          to: "landlord"
        })
        assert.notProperty(value, "trusted")
        assert.deepInclude(value, {
          details: [
            { address: address(9), category: "send", amount: -1.25, vout: 0, fee: -0.000225, abandoned: false },
            { address: address(4), category: "send", amount: -2, label: "", vout: 1, fee: -0.000225, abandoned: false },
            {
              address: address(4),
              parent_descs: [ownScript(4).parentDescriptor],
              category: "receive",
              amount: 2,
              label: "",
              vout: 1,
              abandoned: false
            }
          ]
        })
      })
    ))

  it.effect("shows received transactions: names as received, negative confirmations after a conflict", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("gettransaction", idOf(THEIRS))
        assert.deepInclude(value, { amount: 0.00000007, confirmations: -2, trusted: false, details: [] })
        assert.notProperty(value, "fee")
      })
    ))

  it.effect("lists conflicts and replacements", () =>
    run(
      ({ on }) =>
        Effect.gen(function*() {
          const { value } = yield* on().call("gettransaction", idOf(NEW))
          assert.deepInclude(value, { walletconflicts: ["11".repeat(32)], replaced_by_txid: "22".repeat(32) })
        }),
      wallet({
        conflictsOf: (key) => key === NEW.txidKey ? ["11".repeat(32)] : [],
        transaction: (key) =>
          key === NEW.txidKey
            ? walletTx(NEW, { spent: [COINBASE.outputs[0]], replacedBy: "22".repeat(32) })
            : undefined
      }).wallet
    ))

  it.effect("does not trust a transaction that is not in the mempool, or has foreign inputs", () =>
    Effect.gen(function*() {
      const trustedOf = (tx: WalletTx) =>
        run(
          ({ on }) =>
            Effect.map(on().call("gettransaction", idOf(NEW)), ({ value }) => Reflect.get(Object(value), "trusted")),
          wallet({
            transaction: (key) =>
              key === NEW.txidKey
                ? tx
                : key === COINBASE.txidKey
                ? walletTx(COINBASE, { state: confirmed(1) })
                : undefined
          }).wallet
        )
      const spent = [COINBASE.outputs[0]]
      assert.isTrue(yield* trustedOf(walletTx(NEW, { spent })))
      assert.isFalse(yield* trustedOf(walletTx(NEW, { spent, state: { type: "inactive", abandoned: false } })))
      assert.isFalse(yield* trustedOf(walletTx(NEW)))
    }))

  it.effect("finds no other transactions", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* on().refusal("gettransaction", "33".repeat(32)), {
          code: -5,
          message: "Invalid or non-wallet transaction id"
        })
        assert.strictEqual((yield* on().refusal("gettransaction", "zz")).code, -8)
      })
    ))
})

describe("listtransactions", () => {
  const categories = (value: unknown): ReadonlyArray<unknown> =>
    Array.isArray(value) ? value.map((entry) => [entry.category, entry.txid]) : []

  it.effect("lists payments, the oldest of the latest first", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const all = [
          ["generate", idOf(COINBASE)],
          ["immature", idOf(YOUNG)],
          ["orphan", idOf(LOST)],
          ["send", idOf(NEW)],
          ["receive", idOf(SEND)],
          ["send", idOf(SEND)],
          ["send", idOf(SEND)]
        ]
        const list = (...params: ReadonlyArray<unknown>) =>
          Effect.map(on().call("listtransactions", ...params), ({ value }) => categories(value))
        assert.deepStrictEqual(yield* list(), all)
        assert.deepStrictEqual(yield* list("*", 2), all.slice(-2))
        assert.deepStrictEqual(yield* list("*", 2, 3), all.slice(2, 4))
        assert.deepStrictEqual(yield* list("*", 0), [])
        assert.deepStrictEqual(yield* list("*", 5, 7), [])
        assert.deepStrictEqual(yield* list("mined"), all.slice(0, 3))
        assert.deepStrictEqual(yield* list("absent"), [])
      })
    ))

  it.effect("lists change as received once its address has a label", () => {
    const labels = new Map([...LABELS, [address(3) ?? "", { label: "kept", purpose: "receive" as const }]])
    return run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listtransactions", "kept")
        assert.deepStrictEqual(categories(value), [["receive", idOf(NEW)], ["receive", idOf(SEND)]])
      }), fakeWallet(wallet().wallet.ledger, { ...wallet(), labels }).wallet)
  })

  it.effect("refuses an invalid number of payments and an invalid label", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { refusal } = on()
        assert.deepStrictEqual(yield* refusal("listtransactions", "*", -1), { code: -8, message: "Negative count" })
        assert.deepStrictEqual(yield* refusal("listtransactions", "*", 1, -1), { code: -8, message: "Negative from" })
        assert.deepStrictEqual(yield* refusal("listtransactions", ""), {
          code: -8,
          message: "Label argument must be a valid label name or \"*\"."
        })
      })
    ))
})

describe("listsinceblock", () => {
  const txids = (value: unknown, member: string): ReadonlyArray<unknown> => {
    const list: unknown = Reflect.get(Object(value), member)
    return Array.isArray(list) ? [...new Set(list.map((entry) => entry.txid))] : []
  }

  it.effect("lists all payments, or the payments above a block", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("listsinceblock")
        assert.deepStrictEqual(
          txids(value, "transactions"),
          [COINBASE, YOUNG, LOST, NEW, SEND].map(idOf)
        )
        assert.deepInclude(value, { removed: [], lastblock: displayHash(regtest.genesisHash) })
        const since = yield* on().call("listsinceblock", displayHash(regtest.genesisHash), 1, false, false)
        assert.deepStrictEqual(txids(since.value, "transactions"), [COINBASE, YOUNG, LOST, NEW, SEND].map(idOf))
        assert.notProperty(since.value, "removed")
        const mined = yield* on().call("listsinceblock", "", 1, false, true, false, "mined")
        assert.deepStrictEqual(txids(mined.value, "transactions"), [COINBASE, YOUNG, LOST].map(idOf))
      })
    ))

  it.effect("omits the payments of the given block and of earlier blocks", () =>
    run(
      ({ on }) =>
        Effect.gen(function*() {
          const { value } = yield* on().call("listsinceblock", displayHash(regtest.genesisHash))
          assert.deepStrictEqual(txids(value, "transactions"), [LOST, NEW].map(idOf))
        }),
      wallet({
        lastBlock: () => ({ height: 0, hash: regtest.genesisHash }),
        transactions: () => [
          walletTx(COINBASE, { state: confirmed(0) }),
          walletTx(LOST, { state: { type: "inactive", abandoned: true } }),
          walletTx(NEW, { spent: [COINBASE.outputs[0]] })
        ]
      }).wallet
    ))

  it.effect("refuses unknown blocks, and depths below one", () =>
    run(({ on }) =>
      Effect.gen(function*() {
        const { refusal } = on()
        assert.deepStrictEqual(yield* refusal("listsinceblock", "33".repeat(32)), {
          code: -5,
          message: "Block not found"
        })
        assert.deepStrictEqual(yield* refusal("listsinceblock", "", 0), { code: -8, message: "Invalid parameter" })
        assert.strictEqual((yield* refusal("listsinceblock", "xx")).code, -8)
        assert.strictEqual((yield* refusal("listsinceblock", "", 1, false, true, false, "*")).code, -11)
      })
    ))
})

describe("abandontransaction", () => {
  it.effect("abandons a transaction", () =>
    Effect.gen(function*() {
      const fake = wallet()
      yield* run(({ on }) => on().call("abandontransaction", idOf(NEW)), fake.wallet)
      assert.deepStrictEqual(fake.calls, [["abandon", binaryString(NEW.txid)]])
    }))

  it.effect("refuses unknown transactions, and transactions in the mempool", () =>
    run(
      ({ on }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* on().refusal("abandontransaction", idOf(NEW)), {
            code: -5,
            message: "Transaction not eligible for abandonment"
          })
          assert.deepStrictEqual(yield* on().refusal("abandontransaction", "33".repeat(32)), {
            code: -5,
            message: "Invalid or non-wallet transaction id"
          })
        }),
      wallet({ abandon: () => new InvalidWalletRequest({ code: "not-eligible", reason: "it waits" }) }).wallet
    ))
})
