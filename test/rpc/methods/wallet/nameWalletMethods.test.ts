import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { NameEntry } from "../../../../src/names/NameEntry.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { type Bytes, displayHash, toHex } from "../../../../src/protocol/bytes.ts"
import { txidKeyOf } from "../../../../src/protocol/keys.ts"
import { nameScript } from "../../../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../../../src/protocol/transaction.ts"
import { InvalidWalletRequest, NameOperationRefused } from "../../../../src/wallet/errors.ts"
import type { Registration, WalletName } from "../../../../src/wallet/names/WalletNames.ts"
import { fakeWallet, ownScript } from "../../../support/fakeWallet.ts"
import { saltOf, text } from "../../../support/regtest.ts"
import { namesOn } from "./naming.ts"
import { chain, HEIGHT, mainChain, paidTo, payingWallet } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const made = paidTo(1, COIN, 1)
const TXID = displayHash(made.txid)

const invalid = (code: number, message: string) => ({ code, message })

const nameOf = (name: Bytes, value: Bytes, changes: Partial<WalletName> = {}): WalletName => ({
  name,
  operation: { op: "name_update", name, value },
  txid: made.txid,
  vout: 1,
  script: nameScript({ op: "name_update", name, value }, ownScript(9).script),
  height: HEIGHT,
  mine: true,
  ...changes
})

describe("name_list", () => {
  it.effect("lists nothing while a window answers: the wallet follows the chain behind it", () =>
    Effect.gen(function*() {
      const names = [nameOf(text("d/a"), text("v"))]
      const { refusal } = yield* namesOn([fakeWallet({ list: () => names })], [], "window")
      assert.strictEqual((yield* refusal("name_list")).code, -10)
    }))

  it.effect("lists names with their expiry and their owner", () =>
    Effect.gen(function*() {
      const names = [
        nameOf(text("d/a"), text("v"), { height: HEIGHT - 29 }),
        nameOf(text("d/b"), Uint8Array.of(0xff), { height: HEIGHT - 30, mine: false })
      ]
      const { call, refusal } = yield* namesOn([fakeWallet({ list: () => names })])
      assert.strictEqual(
        (yield* call("name_list")).text,
        `[{"name":"d/a","name_encoding":"ascii","value":"v","value_encoding":"ascii","txid":"${TXID}","vout":1,` +
          `"address":"${ADDRESS}","ismine":true,"height":171,"expires_in":1,"expired":false},` +
          `{"name":"d/b","name_encoding":"ascii","value_error":"invalid data for ascii","value_encoding":"ascii",` +
          `"txid":"${TXID}","vout":1,"address":"${ADDRESS}","ismine":false,"height":170,"expires_in":0,` +
          "\"expired\":true}]"
      )
      const listed = (...params: ReadonlyArray<unknown>) =>
        Effect.map(call("name_list", ...params), ({ value }) => Object(value).map(Object).length)
      assert.strictEqual(yield* listed("d/b"), 1)
      assert.strictEqual(yield* listed("d/c"), 0)
      assert.strictEqual(yield* listed("642F61", { nameEncoding: "hex" }), 1)
      assert.strictEqual(yield* listed(""), 2)
      assert.strictEqual(yield* listed(null, { valueEncoding: "hex" }), 2)
      assert.deepStrictEqual(
        yield* refusal("name_list", "ü"),
        invalid(-1000, "Name/value is invalid for encoding ascii")
      )
    }))
})

describe("sendtoname", () => {
  const record = (name: string, height: number): NameEntry => ({
    name: text(name),
    value: text("v"),
    height,
    txid: made.txid,
    vout: 0,
    address: ownScript(9).script,
    op: "name_update",
    amount: COIN / 100
  })

  it.effect("pays the owner of an unexpired name", () =>
    Effect.gen(function*() {
      const fake = payingWallet([10 * COIN])
      const { call, refusal } = yield* namesOn([fake], [record("d/a", HEIGHT - 29), record("d/old", HEIGHT - 30)])
      yield* call("sendtoname", "d/a", 0.5, "for you", "", true, false)
      assert.deepStrictEqual(fake.requests, [{
        version: 1,
        outputs: [{ value: COIN / 2, script: ownScript(9).script }],
        subtractFeeFrom: [0],
        replaceable: false,
        comment: "for you"
      }])
      assert.deepStrictEqual(yield* refusal("sendtoname", "d/none", 1), invalid(-5, "name not found: 'd/none'"))
      assert.deepStrictEqual(yield* refusal("sendtoname", "d/old", 1), invalid(-5, "the name is expired"))
      assert.deepStrictEqual(
        yield* refusal("sendtoname", "d/ü", 1),
        invalid(-1000, "Name/value is invalid for encoding ascii")
      )
    }))
})

describe("the queue", () => {
  it.effect("accepts transactions, lists them and removes them", () =>
    Effect.gen(function*() {
      const queue: Array<Transaction> = []
      const fake = fakeWallet({
        queue: () => queue,
        enqueue: (transaction) =>
          transaction.outputs.length > 0
            ? Effect.sync(() => void queue.push(transaction))
            : Effect.fail(new InvalidWalletRequest({ code: "not-eligible", reason: "Invalid transaction (bad)" }))
      })
      const { call, refusal } = yield* namesOn([fake])
      assert.strictEqual((yield* call("listqueuedtransactions")).text, "{}")
      const hex = toHex(made.bytes)
      assert.strictEqual((yield* call("queuerawtransaction", hex)).value, TXID)
      assert.strictEqual((yield* call("listqueuedtransactions")).text, `{"${TXID}":{"transaction":"${hex}"}}`)
      assert.strictEqual((yield* call("dequeuetransaction", TXID)).text, "null")
      assert.deepStrictEqual(fake.calls, [["dequeue", txidKeyOf(TXID)]])
      assert.deepStrictEqual(yield* refusal("queuerawtransaction", "c0ffee"), invalid(-22, "TX decode failed"))
      assert.deepStrictEqual(
        yield* refusal("queuerawtransaction", "01000000000000000000"),
        invalid(-4, "Invalid transaction (bad)")
      )
      assert.strictEqual((yield* refusal("dequeuetransaction", "zz")).code, -8)
    }))
})

const registration = (changes: Partial<Registration> = {}): Registration => ({
  name: text("d/x"),
  rand: saltOf(10),
  value: text("v"),
  newTxid: made.txid,
  newVout: 0,
  firstUpdateTxid: undefined,
  step: "committed",
  note: "",
  createdAt: 1_600_000_000,
  ...changes
})

const SHOWN = `"name":"d/x","name_encoding":"ascii","value":"v","value_encoding":"ascii","txid":"${TXID}",` +
  `"rand":"${"0a".repeat(20)}","step":"committed","time":1600000000`

describe("registrations", () => {
  it.effect("are started, with warnings about unusual names and values", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const fake = fakeWallet({
        register: (...given) =>
          Effect.sync(() => {
            asked.push(given)
            return registration()
          })
      })
      const { call, refusal } = yield* namesOn([fake])
      assert.strictEqual((yield* call("name_autoregister", "d/x", "{}")).text, `{${SHOWN},"autorenew":false}`)
      const { value } = yield* call("name_autoregister", "nonsense", "v", { destAddress: ADDRESS, autorenew: true })
      assert.lengthOf(Object(value).warnings, 1)
      assert.deepStrictEqual(asked, [
        [text("d/x"), text("{}"), {}],
        [text("nonsense"), text("v"), { destination: ownScript(9).script, renew: true }]
      ])
      assert.deepInclude(Object(value), { autorenew: false })
      assert.deepStrictEqual(
        yield* refusal("name_autoregister", "d/x", "v".repeat(521)),
        invalid(-8, "the value is too long")
      )
    }))

  it.effect("remind of words that were never shown, where coins have a value", () =>
    Effect.gen(function*() {
      const warningsOf = (kept: boolean, chainOf = mainChain) =>
        Effect.gen(function*() {
          const fake = fakeWallet({ register: () => Effect.succeed(registration()), isPhraseKept: () => kept })
          const { call } = yield* namesOn([fake], [], false, chainOf)
          return Object((yield* call("name_autoregister", "d/x", "{}")).value).warnings
        })
      const warnings = yield* warningsOf(false)
      assert.lengthOf(warnings, 1)
      assert.match(warnings[0], /^the seed phrase of the wallet was never shown/)
      assert.isUndefined(yield* warningsOf(true))
      assert.isUndefined(yield* warningsOf(false, chain))
    }))

  it.effect("are listed", () =>
    Effect.gen(function*() {
      const held = [
        { ...registration(), blocksLeft: undefined },
        {
          ...registration({
            step: "revealed",
            value: undefined,
            firstUpdateTxid: made.txid,
            note: "waits for a block"
          }),
          blocksLeft: 1
        }
      ]
      const { call } = yield* namesOn([fakeWallet({ registrations: () => held })])
      const { text: shown, value } = yield* call("name_registrations")
      assert.isTrue(shown.startsWith(`[{${SHOWN}},`))
      assert.deepStrictEqual([Object(value)[0].blocks_left, Object(value)[1].blocks_left], [undefined, 1])
      assert.deepInclude(Object(value)[1], { firstupdate_txid: TXID, step: "revealed", note: "waits for a block" })
      assert.notProperty(Object(value)[1], "value")
      const inHex = yield* call("name_registrations", { nameEncoding: "hex" })
      assert.strictEqual(Object(inHex.value)[0].name, "642f78")
    }))

  it.effect("are cancelled", () =>
    Effect.gen(function*() {
      const fake = fakeWallet()
      const { call } = yield* namesOn([fake])
      assert.deepStrictEqual((yield* call("name_cancel", "d/x")).value, { cancelled: "registration" })
      assert.deepStrictEqual(fake.calls, [["cancelRegistration", text("d/x")]])
      const reason = "no registration of this name is under way"
      const { refusal } = yield* namesOn([
        fakeWallet({ cancelRegistration: () => Effect.fail(new InvalidWalletRequest({ code: "missing", reason })) })
      ])
      assert.deepStrictEqual(yield* refusal("name_cancel", "d/x"), invalid(-4, reason))
    }))
})

describe("name_renew", () => {
  it.effect("takes names, all or a number of blocks; in an array, all is a name", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const fake = fakeWallet({
        renew: (choice) =>
          Effect.sync(() => {
            asked.push(choice)
            return []
          })
      })
      const { call, refusal } = yield* namesOn([fake])
      for (const given of ["all", ["all"], "d/x", ["d/x", "d/y"], 30]) yield* call("name_renew", given)
      assert.deepStrictEqual(asked, [
        { of: "all" },
        { of: "names", names: [text("all")] },
        { of: "names", names: [text("d/x")] },
        { of: "names", names: [text("d/x"), text("d/y")] },
        { of: "within", blocks: 30 }
      ])
      assert.deepStrictEqual(
        yield* refusal("name_renew", []),
        invalid(-8, "there have to be from 1 to 5000 names")
      )
    }))

  it.effect("tells how many names a plan leaves out", () =>
    Effect.gen(function*() {
      const plan = (leftOut: number) =>
        fakeWallet({ planRenewals: () => Effect.succeed({ names: [], fee: 0, leftOut }) })
      const some = yield* namesOn([plan(2)])
      assert.include((yield* some.call("name_renew", "all", { dryrun: true })).text, "\"left_out\":2")
      const none = yield* namesOn([plan(0)])
      assert.notInclude((yield* none.call("name_renew", "all", { dryrun: true })).text, "left_out")
    }))

  it.effect("is refused with -10 while a name may be unknown", () =>
    Effect.gen(function*() {
      const renew = () => Effect.fail(new NameOperationRefused({ code: "unknown", reason: "retry later" }))
      const fake = fakeWallet({ planRenewals: renew, renew })
      const { refusal } = yield* namesOn([fake], [], true)
      assert.strictEqual((yield* refusal("name_renew", ["d/x"])).code, -10)
      assert.strictEqual((yield* refusal("name_renew", ["d/x"], { dryrun: true })).code, -10)
    }))
})

describe("name_autorenew", () => {
  it.effect("refuses what the wallet refuses", () =>
    Effect.gen(function*() {
      const reason = "the wallet neither owns nor registers this name"
      const { refusal } = yield* namesOn([
        fakeWallet({ setRenewal: () => Effect.fail(new InvalidWalletRequest({ code: "missing", reason })) })
      ])
      assert.deepStrictEqual(yield* refusal("name_autorenew", "d/tpyo", true), invalid(-4, reason))
    }))

  it.effect("shows the renewed names, and changes the setting", () =>
    Effect.gen(function*() {
      const fake = fakeWallet({
        renewal: () => ({ all: false, names: [text("d/x"), Uint8Array.of(0xff)], except: [] })
      })
      const { call } = yield* namesOn([fake])
      const shown = "{\"all\":false,\"names\":[{\"name\":\"d/x\",\"name_encoding\":\"ascii\"}," +
        "{\"name_error\":\"invalid data for ascii\",\"name_encoding\":\"ascii\"}]}"
      assert.strictEqual((yield* call("name_autorenew")).text, shown)
      assert.deepStrictEqual(fake.calls, [])
      yield* call("name_autorenew", "d/x", true)
      yield* call("name_autorenew", null, false)
      yield* call("name_autorenew", "ff", false, { nameEncoding: "hex" })
      assert.deepStrictEqual(fake.calls, [
        ["setRenewal", text("d/x"), true],
        ["setRenewal", undefined, false],
        ["setRenewal", Uint8Array.of(0xff), false]
      ])
    }))

  it.effect("shows the exceptions to \"all\"", () =>
    Effect.gen(function*() {
      const { call } = yield* namesOn([
        fakeWallet({ renewal: () => ({ all: true, names: [], except: [text("d/x")] }) })
      ])
      assert.strictEqual(
        (yield* call("name_autorenew")).text,
        "{\"all\":true,\"names\":[],\"except\":[{\"name\":\"d/x\",\"name_encoding\":\"ascii\"}]}"
      )
    }))
})
