import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SyncStatus } from "../../../../src/chain/SyncStatus.ts"
import { Warnings } from "../../../../src/chain/Warnings.ts"
import { FeeEstimator } from "../../../../src/mempool/fees/FeeEstimator.ts"
import { Mempool } from "../../../../src/mempool/Mempool.ts"
import { NameDb } from "../../../../src/names/NameDb.ts"
import { PeerManager } from "../../../../src/network/PeerManager.ts"
import { decodeAddress, scriptOf } from "../../../../src/protocol/address.ts"
import { nameScript, parseNameScript } from "../../../../src/protocol/nameOperation.ts"
import { regtest } from "../../../../src/protocol/networks.ts"
import { makeTransaction } from "../../../../src/protocol/transaction.ts"
import { AnswerOptions } from "../../../../src/rpc/AnswerOptions.ts"
import { infoMethods } from "../../../../src/rpc/methods/infoMethods.ts"
import { nameMethods } from "../../../../src/rpc/methods/nameMethods.ts"
import { pendingMethods } from "../../../../src/rpc/methods/pendingMethods.ts"
import * as ReadThread from "../../../../src/rpc/reader/ReadThread.ts"
import * as DataHealth from "../../../../src/storage/DataHealth.ts"
import type { Wallet } from "../../../../src/wallet/Wallet.ts"
import { Wallets } from "../../../../src/wallet/Wallets.ts"
import { servicesOf } from "../../../support/chain.ts"
import { callsOn, fakeWallet, fakeWallets, ownScript } from "../../../support/fakeWallet.ts"
import { layer } from "../../../support/layer.ts"
import { MethodNode, methodNode } from "../../../support/methodNode.ts"
import { peerManager } from "../../../support/peers.ts"
import { entryOf } from "../../../support/pool.ts"
import { wholeAnswers } from "../../../support/wholeAnswers.ts"

const OPTIONS: typeof AnswerOptions.Service = {
  nameEncoding: "hex",
  valueEncoding: "hex",
  allowExpired: true,
  nameHistory: true,
  nameHashIndex: true
}

const UPDATE = nameScript({ op: "name_update", name: Uint8Array.of(1), value: Uint8Array.of(2) }, ownScript(1).script)

const PENDING = entryOf(
  makeTransaction({ version: 0x7100, inputs: [], outputs: [{ value: 1_000_000, script: UPDATE }], lockTime: 0 }),
  { name: { vout: 0, script: parseNameScript(UPDATE) ?? assert.fail() } }
)

/** Methods that need no wallet, on a node with wallets. */
const withWallets = (...wallets: ReadonlyArray<Wallet>) =>
  Effect.gen(function*() {
    const { chain, names, pool, status } = yield* MethodNode
    const methods = (yield* Effect.provide(
      Effect.all([nameMethods, infoMethods, pendingMethods]),
      Layer.provideMerge(wholeAnswers, servicesOf(chain))
    )).flat()
    return { chain, names, pool, status, on: (wallet?: string) => callsOn(methods, wallet) }
  }).pipe(
    Effect.provideServiceEffect(NameDb, Effect.map(MethodNode, ({ names }) => names)),
    Effect.provideServiceEffect(SyncStatus, Effect.map(MethodNode, ({ status }) => status)),
    Effect.provideServiceEffect(
      Mempool,
      Effect.map(MethodNode, ({ pool }) => ({ ...pool, pending: () => [PENDING] }))
    ),
    Effect.provideServiceEffect(FeeEstimator, Effect.map(MethodNode, ({ fees }) => fees)),
    Effect.provideService(PeerManager, peerManager()),
    Effect.provideService(AnswerOptions, OPTIONS),
    Effect.provide(
      Layer.mergeAll(DataHealth.layer, Layer.mock(Warnings, { current: Effect.succeed([]) }), ReadThread.layerAbsent)
    ),
    Effect.provideService(Wallets, fakeWallets(wallets))
  )

layer(methodNode())("methods that need no wallet (reference/rpc.md 5.1)", (it) => {
  it.effect("show whether the wallet owns a name, if one wallet is selected", () =>
    Effect.gen(function*() {
      const records = JSON.parse((yield* (yield* withWallets()).on().call("name_scan")).text)
      const [first, second] = records.filter(({ address }: { address: string }) => address !== "<nonstandard>")
      const parsed = decodeAddress(regtest, first.address)
      const script = "error" in parsed ? assert.fail(parsed.error) : scriptOf(parsed.destination)
      const owner =
        fakeWallet({ name: "owner" }, { scripts: [ownScript(1, { script, address: first.address })] }).wallet
      const other = fakeWallet({ name: "other" }).wallet
      const ismine = (calls: ReturnType<typeof callsOn>, name: string) =>
        Effect.map(calls.call("name_show", name), ({ value }) => Reflect.get(Object(value), "ismine"))
      const one = yield* withWallets(owner)
      assert.isTrue(yield* ismine(one.on(), first.name))
      const shown = yield* one.on().call("name_show", first.name)
      assert.isTrue(shown.text.endsWith(`,"ismine":true}`), shown.text)
      const isSecondMine = second.address === first.address
      assert.strictEqual(yield* ismine(one.on(), second.name), isSecondMine)
      const history = JSON.parse((yield* one.on().call("name_history", first.name)).text)
      assert.isTrue(history.every((record: object) => "ismine" in record))
      const scan = JSON.parse((yield* one.on().call("name_scan", "", 5)).text)
      assert.isTrue(scan.every((record: object) => "ismine" in record))
      assert.isUndefined(yield* ismine(one.on("unknown"), first.name))
      const two = yield* withWallets(owner, other)
      assert.isUndefined(yield* ismine(two.on(), first.name))
      assert.isTrue(yield* ismine(two.on("owner"), first.name))
      assert.isFalse(yield* ismine(two.on("other"), first.name))
    }))

  it.effect("show whether the wallet owns an unconfirmed name", () =>
    Effect.gen(function*() {
      const owner = fakeWallet({}, { scripts: [ownScript(1)] }).wallet
      const pendingWith = (...wallets: ReadonlyArray<Wallet>) =>
        Effect.flatMap(withWallets(...wallets), ({ on }) => Effect.map(on().call("name_pending"), ({ text }) => text))
      assert.include(yield* pendingWith(owner), `"ismine":true,"op":"name_update"`)
      assert.include(yield* pendingWith(fakeWallet().wallet), `"ismine":false,"op":"name_update"`)
      assert.notInclude(yield* pendingWith(), "ismine")
    }))

  it.effect("summarize the wallet in getinfo", () =>
    Effect.gen(function*() {
      const balances = Effect.succeed({ trusted: 150_000_000, untrustedPending: 1, immature: 2 })
      const wallet = fakeWallet({
        balances,
        keypool: () => ({ receive: 7, change: 8 }),
        encryption: () => "locked"
      }).wallet
      const { text } = yield* (yield* withWallets(wallet)).on().call("getinfo")
      assert.include(text, `"walletversion":169900,"balance":1.50000000,"blocks":`)
      assert.include(text, `"keypoololdest":1500000000,"keypoolsize":7,"unlocked_until":0,"paytxfee":0.00000000`)
      const { value } = yield* (yield* withWallets(wallet, fakeWallet({ name: "x" }).wallet)).on().call("getinfo")
      assert.notProperty(value, "balance")
    }))
})
