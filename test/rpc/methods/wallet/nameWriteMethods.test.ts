import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TransactionRejected } from "../../../../src/mempool/errors.ts"
import { COIN } from "../../../../src/protocol/amount.ts"
import { displayHash, EMPTY, reversed } from "../../../../src/protocol/bytes.ts"
import { nameScript } from "../../../../src/protocol/nameOperation.ts"
import { makeTransaction } from "../../../../src/protocol/transaction.ts"
import { FundsMissing, InvalidWalletRequest, KeysLocked, NameOperationRefused } from "../../../../src/wallet/errors.ts"
import type { NameFailure } from "../../../../src/wallet/names/WalletNames.ts"
import { fakeWallet, ownScript, type WalletMembers } from "../../../support/fakeWallet.ts"
import { saltOf, text } from "../../../support/regtest.ts"
import { namesOn } from "./naming.ts"
import { paidTo } from "./paying.ts"

const ADDRESS = ownScript(9).address ?? ""
const made = paidTo(1, COIN, 1)
const TXID = displayHash(made.txid)
const SALT = "0a".repeat(20)

const invalid = (code: number, message: string) => ({ code, message })

const refused = new TransactionRejected({ txid: TXID, reason: "txn-mempool-name-error", kind: "conflict" })

/** A wallet that records and performs the calls. */
const writing = (overrides: WalletMembers = {}) => {
  const asked: Array<unknown> = []
  const note = <A>(answer: A) => (...given: ReadonlyArray<unknown>) =>
    Effect.sync(() => {
      asked.push(given.length === 1 ? given[0] : given)
      return answer
    })
  const fake = fakeWallet({
    nameNew: note({ transaction: made, rand: saltOf(10) }),
    nameFirstUpdate: note(made),
    nameUpdate: note(made),
    ...overrides
  })
  return { ...fake, asked }
}

const IN_HEX = { nameEncoding: "hex", valueEncoding: "hex" }

describe("options of the methods that write names", () => {
  const methods = [["name_new", "d/x"], ["name_firstupdate", "d/x", SALT, TXID, "v"], [
    "name_update",
    "d/x",
    "v"
  ]] as const

  it.effect("are refused with the reference node's words", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { refusal } = yield* namesOn([fake])
      for (const [method, ...params] of methods) {
        const given = (options: unknown) => refusal(method, ...params, options)
        for (
          const [options, code, message] of [
            [null, -3, "JSON value of type null is not of expected type object"],
            [{ destAddress: "nope" }, -5, "invalid address"],
            [{ destAddress: 5 }, -3, "JSON value of type number for field destAddress is not of expected type string"],
            [{ sendCoins: { x: 1 } }, -5, "Invalid address: x"],
            [{ sendCoins: { [ADDRESS]: 0 } }, -3, "Invalid amount for send"],
            [{ sendCoins: { [ADDRESS]: -1 } }, -3, "Amount out of range"],
            [{ sendCoins: 5 }, -3, "JSON value of type number for field sendCoins is not of expected type object"],
            [
              { nameEncoding: 42 },
              -3,
              "JSON value of type number for field nameEncoding is not of expected type string"
            ],
            [{ nameEncoding: "hex" }, -1000, "Name/value is invalid for encoding hex"]
          ] as const
        ) assert.deepStrictEqual(yield* given(options), invalid(code, message), `${method} ${JSON.stringify(options)}`)
      }
      assert.deepStrictEqual(
        yield* refusal("name_new", "d/x", { allowExisting: 42.5 }),
        invalid(-3, "JSON value of type number for field allowExisting is not of expected type bool")
      )
      assert.deepStrictEqual(
        yield* refusal("name_new", "d/x", "x"),
        invalid(
          -3,
          "Wrong type passed:\n{\n    \"Position 2 (options)\": \"JSON value of type string is not of expected type " +
            "object\"\n}"
        )
      )
      assert.deepStrictEqual(fake.asked, [])
    }))

  it.effect("reach the wallet; unknown options are ignored", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { callText } = yield* namesOn([fake])
      const options = `{"destAddress":"${ADDRESS}","sendCoins":{"${ADDRESS}":1.5,"${ADDRESS}":"2"},"streamID":"x"}`
      const { script } = ownScript(9)
      const expected = {
        destination: script,
        sendCoins: [{ value: 1.5 * COIN, script }, { value: 2 * COIN, script }]
      }
      yield* callText("name_new", `["d/x", ${options}]`)
      yield* callText("name_firstupdate", `["d/x", null, null, null, ${options}]`)
      yield* callText("name_update", `["d/x", null, ${options}]`)
      assert.deepStrictEqual(fake.asked, [
        [text("d/x"), expected],
        { ...expected, name: text("d/x"), rand: undefined, txid: undefined, value: EMPTY },
        { ...expected, name: text("d/x"), value: undefined }
      ])
    }))

  it.effect("select encodings for names and values separately", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call } = yield* namesOn([fake])
      yield* call("name_new", "642F00FF", { nameEncoding: "hex" })
      yield* call("name_firstupdate", "642f00ff", SALT, TXID, "00", IN_HEX)
      yield* call("name_update", "d/ü", "ü", { nameEncoding: "utf8", valueEncoding: "utf8" })
      assert.deepStrictEqual(fake.asked, [
        [Uint8Array.of(0x64, 0x2f, 0, 0xff), {}],
        {
          name: Uint8Array.of(0x64, 0x2f, 0, 0xff),
          rand: saltOf(10),
          txid: made.txid,
          value: Uint8Array.of(0)
        },
        { name: text("d/ü"), value: text("ü") }
      ])
    }))
})

describe("name_new", () => {
  it.effect("returns the txid and the salt", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call } = yield* namesOn([fake])
      assert.strictEqual((yield* call("name_new", "d/x", { allowExisting: true })).text, `["${TXID}","${SALT}"]`)
      assert.deepStrictEqual(fake.asked, [[text("d/x"), { allowExisting: true }]])
    }))

  it.effect("accepts names of 255 bytes", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* namesOn([writing()])
      yield* call("name_new", "x".repeat(255))
      assert.deepStrictEqual(yield* refusal("name_new", "x".repeat(256)), invalid(-8, "the name is too long"))
      assert.deepStrictEqual(
        yield* refusal("name_new", "d/ü"),
        invalid(-1000, "Name/value is invalid for encoding ascii")
      )
    }))

  it.effect("reports the wallet's failure", () =>
    Effect.gen(function*() {
      const refusedBy = (failure: NameFailure) =>
        Effect.flatMap(
          namesOn([fakeWallet({ nameNew: () => Effect.fail(failure) })]),
          ({ refusal }) => refusal("name_new", "d/x")
        )
      for (
        const [failure, code, message] of [
          [
            new NameOperationRefused({ code: "exists", reason: "this name exists already" }),
            -25,
            "this name exists already"
          ],
          [new FundsMissing({ needed: 1, available: 0 }), -6, "Insufficient funds"],
          [
            new FundsMissing({ needed: 1, available: 1, fee: 5400 }),
            -6,
            "The total exceeds your balance when the 0.000054 transaction fee is included."
          ],
          [new KeysLocked({}), -13, "Error: Please enter the wallet passphrase with walletpassphrase first."],
          [
            new InvalidWalletRequest({ code: "no-keys", reason: "no keys" }),
            -12,
            "Failed to generate mining address: Error: No legacy addresses available."
          ],
          [refused, -26, "txn-mempool-name-error"]
        ] as const
      ) assert.deepStrictEqual(yield* refusedBy(failure), invalid(code, message))
    }))

  it.effect("requires one wallet", () =>
    Effect.gen(function*() {
      const none = yield* namesOn([])
      assert.strictEqual((yield* none.refusal("name_new", "d/x")).code, -18)
      const two = yield* namesOn([fakeWallet({ name: "a" }), fakeWallet({ name: "b" })])
      assert.strictEqual((yield* two.refusal("name_list")).code, -19)
    }))
})

describe("name_firstupdate", () => {
  it.effect("passes salt and txid to the wallet, the txid in wire order", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call } = yield* namesOn([fake])
      const id = "00".repeat(31) + "01"
      assert.strictEqual((yield* call("name_firstupdate", "d/x", "0a", id, "v", {}, true)).value, TXID)
      assert.deepStrictEqual(fake.asked, [{
        name: text("d/x"),
        rand: Uint8Array.of(10),
        txid: reversed(Uint8Array.of(...new Uint8Array(31), 1)),
        value: text("v"),
        allowActive: true
      }])
    }))

  it.effect("refuses salts, txids and values as the reference node does", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call, refusal, refusalOfText } = yield* namesOn([fake])
      yield* call("name_firstupdate", "d/x", SALT, TXID, "v".repeat(520))
      for (
        const [params, code, message] of [
          [["00".repeat(21), TXID, "v"], -8, "invalid rand value"],
          [["zz", TXID, "v"], -8, "rand must be hexadecimal string (not 'zz')"],
          [[SALT, "zz", "v"], -8, "invalid txid"],
          [[SALT, TXID, "v".repeat(521)], -8, "the value is too long"],
          [[SALT, TXID, "ü"], -1000, "Name/value is invalid for encoding ascii"]
        ] as const
      ) assert.deepStrictEqual(yield* refusal("name_firstupdate", "d/x", ...params), invalid(code, message))
      assert.deepStrictEqual(
        yield* refusalOfText("name_firstupdate", "{\"name\":\"d/x\",\"allow_active\":true}"),
        invalid(-3, "JSON value of type null is not of expected type object")
      )
      assert.lengthOf(fake.asked, 1)
    }))

  it.effect("treats a txid of zeros as not found", () =>
    Effect.gen(function*() {
      const failing = (code: NameOperationRefused["code"], reason: string) =>
        namesOn([writing({ nameFirstUpdate: () => Effect.fail(new NameOperationRefused({ code, reason })) })])
      const { refusal } = yield* failing("no-new", "previous txid not found")
      const given = (txid: string) => refusal("name_firstupdate", "d/x", SALT, txid, "v")
      assert.deepStrictEqual(yield* given("00".repeat(32)), invalid(-25, "scan for previous txid failed"))
      assert.deepStrictEqual(yield* given(TXID), invalid(-25, "previous txid not found"))
      const active = yield* failing("exists", "this name is already active")
      assert.deepStrictEqual(
        yield* active.refusal("name_firstupdate", "d/x", "00", "00".repeat(32), "v"),
        invalid(-25, "this name is already active")
      )
    }))
})

describe("name_update", () => {
  it.effect("distinguishes an empty value from a missing one", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call, refusal } = yield* namesOn([fake])
      assert.strictEqual((yield* call("name_update", "d/x")).value, TXID)
      yield* call("name_update", "d/x", null)
      yield* call("name_update", "d/x", "")
      yield* call("name_update", "d/x", "v".repeat(520))
      const values = fake.asked.map((request) => Object(request).value?.length)
      assert.deepStrictEqual(values, [undefined, undefined, 0, 520])
      assert.deepStrictEqual(
        yield* refusal("name_update", "d/x", "v".repeat(521)),
        invalid(-8, "the value is too long")
      )
    }))

  it.effect("reports that the name belongs to another owner", () =>
    Effect.gen(function*() {
      const missing = String.fromCharCode(...made.txid, 1, 0, 0, 0)
      const { refusal } = yield* namesOn([
        fakeWallet({ nameUpdate: () => Effect.fail(new FundsMissing({ needed: 1, available: 0, missing })) })
      ])
      assert.deepStrictEqual(
        yield* refusal("name_update", "d/x", "v"),
        invalid(-6, `Not found pre-selected input COutPoint(${TXID.slice(0, 10)}, 1)`)
      )
    }))
})

describe("a missing name while blocks are missing", () => {
  const behind = (fake: ReturnType<typeof writing>, syncing = true) => namesOn([fake], [], syncing)
  const DOWNLOADING = invalid(-10, "Namecoin is downloading blocks...")

  for (
    const [method, ...params] of [
      ["name_new", "d/x"],
      ["name_firstupdate", "d/x", SALT, TXID, "v"],
      ["name_autoregister", "d/x", "v"]
    ] as const
  ) {
    it.effect(`makes ${method} fail before it pays`, () =>
      Effect.gen(function*() {
        const fake = writing()
        assert.deepStrictEqual(yield* (yield* behind(fake)).refusal(method, ...params), DOWNLOADING)
        assert.deepStrictEqual(fake.asked, [])
      }))
  }

  it.effect("is not reported as missing by name_update", () =>
    Effect.gen(function*() {
      const reason = "this name can not be updated"
      const fake = writing({ nameUpdate: () => Effect.fail(new NameOperationRefused({ code: "unknown", reason })) })
      assert.deepStrictEqual(yield* (yield* behind(fake)).refusal("name_update", "d/x", "v"), DOWNLOADING)
      assert.deepStrictEqual(
        yield* (yield* behind(fake, false)).refusal("name_update", "d/x", "v"),
        invalid(-25, reason)
      )
    }))

  it.effect("is registered if the caller insists, and updated if the wallet owns it", () =>
    Effect.gen(function*() {
      const fake = writing()
      const { call } = yield* behind(fake)
      yield* call("name_new", "d/x", { allowExisting: true })
      yield* call("name_firstupdate", "d/x", SALT, TXID, "v", {}, true)
      yield* call("name_update", "d/x", "v")
      assert.lengthOf(fake.asked, 3)
    }))
})

describe("the warnings about a name and a value", () => {
  it.effect("are in the answer if the caller asks for them, and the answer is the bare txid otherwise", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* namesOn([writing()])
      const odd = "{\"ip\":\"192.0.2.300\"}"
      for (const params of [["name_update", "d/x"], ["name_firstupdate", "d/x", SALT, TXID]] as const) {
        const [method, ...before] = params
        assert.strictEqual((yield* call(method, ...before, odd)).value, TXID)
        assert.strictEqual((yield* call(method, ...before, odd, { warnings: false })).value, TXID)
        const { txid, warnings } = Object((yield* call(method, ...before, odd, { warnings: true })).value)
        assert.strictEqual(txid, TXID)
        assert.match(warnings.join(), /ip "192\.0\.2\.300" is not an IPv4 address/)
        const { value: fine } = yield* call(method, ...before, "{}", { warnings: true })
        assert.deepStrictEqual(Object(fine), { txid: TXID, warnings: [] })
      }
      assert.deepInclude(yield* refusal("name_update", "d/x", "v", { warnings: 1 }), { code: -3 })
    }))

  it.effect("are about the value that the name has, if an update gives none", () =>
    Effect.gen(function*() {
      const operation = { op: "name_update", name: text("d/x"), value: text("{\"ip\":\"192.0.2.300\"}") } as const
      const [output] = made.outputs
      const script = nameScript(operation, output?.script ?? EMPTY)
      const { inputs, lockTime, outputs, version } = made
      const renewal = makeTransaction({ version, inputs, lockTime, outputs: [...outputs, { value: 0, script }] })
      const { call } = yield* namesOn([writing({ nameUpdate: () => Effect.succeed(renewal) })])
      const { warnings } = Object((yield* call("name_update", "d/x", null, { warnings: true })).value)
      assert.match(warnings.join(), /ip "192\.0\.2\.300" is not an IPv4 address/)
      assert.strictEqual((yield* call("name_update", "d/x")).value, displayHash(renewal.txid))
    }))
})
