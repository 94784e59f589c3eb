import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { parseNameScript } from "../../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const checkpoints = items(at(recordedJson("regtest-names/expected.json"), "checkpoints"))
const checkpointAt = (height: number) =>
  checkpoints.find((each) => recordedText(at(each, "height")) === String(height)) ?? assert.fail()
const names = items(at(recordedJson("regtest-names/tip-names.json"), "names"))

const coinbaseAt = (height: number): Transaction => blocks[height]?.transactions[0] ?? assert.fail()

const NOBODYS = "00".repeat(32)

layer(methodNode())("gettxout", (it) => {
  it.effect("finds the coin of every unexpired name, and of no expired one", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      let alive = 0
      for (const name of names) {
        const show = at(name, "show")
        const { json, when } = yield* call("gettxout", stringAt(show, "txid"), Number(recordedText(at(show, "vout"))))
        if (at(show, "expired") === true) {
          assert.isNull(json)
          assert.strictEqual(when, "it is spent or unknown")
          continue
        }
        alive++
        assert.strictEqual(when, "the output is unspent")
        assert.strictEqual(
          recordedText(at(json, "confirmations")),
          String(601 - Number(recordedText(at(show, "height"))))
        )
        assert.match(stringAt(json, "scriptPubKey", "nameOp", "op"), /^name_(firstupdate|update)$/)
        assert.strictEqual(at(json, "coinbase"), false)
      }
      assert.strictEqual(alive, 67)
    }))

  it.effect("reports coinbases, and one confirmation for the tip's", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { value } = yield* call("gettxout", displayHash(coinbaseAt(600).txid), 0)
      assert.include(value, {
        confirmations: 1,
        coinbase: true,
        bestblock: displayHash(blocks[600]?.hash ?? assert.fail())
      })
    }))

  it.effect("returns null for coins that are spent, unknown, or of the first block", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const spent = blocks.flatMap(({ transactions }) => transactions.slice(1)).find(({ outputs }) =>
        outputs.some(({ script }) => parseNameScript(script)?.operation.op === "name_new")
      ) ?? assert.fail()
      const [{ prevout } = assert.fail()] = spent.inputs
      const [txid, n] = [
        displayHash(prevout.subarray(0, 32)),
        new DataView(prevout.slice(32).buffer).getUint32(0, true)
      ]
      for (const params of [[txid, n], [NOBODYS, 0], [NOBODYS, 2 ** 32 - 1], [displayHash(coinbaseAt(0).txid), 0]]) {
        assert.isNull((yield* call("gettxout", ...params)).value)
      }
      assert.isNull((yield* call("gettxout", txid, n, false)).value)
      assert.isNull((yield* call("gettxout", txid, n, null)).value)
    }))

  it.effect("refuses an invalid outpoint", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      assert.deepStrictEqual(yield* refusal("gettxout", "zz", 0), {
        code: -8,
        message: "txid must be of length 64 (not 2, for 'zz')"
      })
      for (const n of [-1, 2 ** 32, 0.5]) {
        assert.deepStrictEqual(yield* refusal("gettxout", NOBODYS, n), {
          code: -1,
          message: "JSON integer out of range"
        })
      }
      assert.strictEqual((yield* refusal("gettxout", NOBODYS, "0")).code, -3)
      assert.strictEqual((yield* refusal("gettxout", NOBODYS, 0, 1)).code, -3)
      assert.strictEqual((yield* refusal("gettxout", NOBODYS)).code, -1)
    }))
})

layer(methodNode())("gettxoutsetinfo", (it) => {
  /** The answer of the reference node; the size of its database is its own. */
  const expected = (hash: "hash_serialized_3" | "muhash" | undefined): string => {
    const utxo = at(checkpointAt(600), "utxo")
    const member = (name: string): string => `"${name}":${recordedText(at(utxo, name))},`
    return `{${
      ["height", "bestblock", "txouts", "bogosize", ...(hash === undefined ? [] : [hash]), "amount"].map(member).join(
        ""
      )
    }${member("transactions")}"disk_size":`
  }

  it.effect("agrees with the reference node for each kind of hash", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const infoOf = (...params: ReadonlyArray<unknown>) =>
        Effect.map(call("gettxoutsetinfo", ...params), ({ text }) => text.replace(/\d+\}$/, ""))
      for (
        const params of [[], [null], ["hash_serialized_3"], ["hash_serialized_3", null, false], [null, null, true]]
      ) {
        assert.strictEqual(yield* infoOf(...params), expected("hash_serialized_3"))
      }
      assert.strictEqual(yield* infoOf("muhash"), expected("muhash"))
      assert.strictEqual(yield* infoOf("none"), expected(undefined))
    }))

  it.effect("refuses other hashes, and other blocks than the tip", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      for (const type of ["hash_serialized_2", "MUHASH", ""]) {
        assert.deepStrictEqual(yield* refusal("gettxoutsetinfo", type), {
          code: -8,
          message: `'${type}' is not a valid hash_type`
        })
      }
      for (const block of [600, NOBODYS, "x", true]) {
        assert.deepStrictEqual(yield* refusal("gettxoutsetinfo", "muhash", block), {
          code: -8,
          message: "Querying specific block heights requires coinstatsindex"
        })
      }
      assert.strictEqual((yield* refusal("gettxoutsetinfo", 3)).code, -3)
      assert.strictEqual((yield* refusal("gettxoutsetinfo", "none", null, 0)).code, -3)
    }))
})

layer(methodNode({ blocks: false }))("the coins of a chain that has none", (it) => {
  it.effect("are counted too", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.match(
        (yield* call("gettxoutsetinfo", "none")).text,
        /"txouts":0,"bogosize":0,"amount":\{"coins":0\.00000000,"names":0\.00000000,"total":0\.00000000\},"transactions":0,/
      )
      assert.strictEqual((yield* call("name_checkdb")).value, true)
    }))
})
