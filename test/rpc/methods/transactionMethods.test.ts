import { assert } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import type { RpcError } from "../../../src/rpc/method/RpcError.ts"
import { bytesOf } from "../../support/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { type Answer, MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const branch = fixtureBlocks("regtest-names/stale.dat").slice(-2)
const examples = items(at(recordedJson("regtest-names/tx-examples.json"), "examples"))

const NOBODYS = "ab".repeat(32)
const WALLET_HINT = "Use gettransaction for wallet transactions."

const txidOf = (height: number, n: number): string =>
  displayHash(blocks[height]?.transactions[n]?.txid ?? assert.fail("no such transaction"))
const hashAt = (height: number): string => displayHash(blocks[height]?.hash ?? assert.fail("no such block"))

/** A transaction of ordinary coins that are all spent: without an index, only its block leads to it. */
const FORGOTTEN = (() => {
  const spent = new Set(
    blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ inputs }) => inputs.map(({ prevout }) => toHex(prevout)))
    )
  )
  for (const [height, { transactions }] of blocks.entries()) {
    for (const { outputs, txid, version } of transactions.slice(1)) {
      const allSpent = outputs.every((_, n) => spent.has(`${toHex(txid)}0${n}000000`))
      if (version !== 0x7100 && outputs.length < 10 && allSpent) return { height, txid: displayHash(txid) }
    }
  }
  return assert.fail("every transaction has something left")
})()

layer(methodNode({ txIndex: true }))("getrawtransaction with an index", (it) => {
  it.effect("finds every transaction of the chain except the first block's", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const { transactions } of blocks.slice(1)) {
        for (const { bytes, txid } of transactions) {
          assert.strictEqual((yield* call("getrawtransaction", displayHash(txid))).value, toHex(bytes))
        }
      }
    }), 60_000)

  it.effect("decodes them as the reference node does", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual(examples.length, 89)
      for (const example of examples) {
        const [txid, blockhash] = [stringAt(example, "txid"), stringAt(example, "blockhash")]
        const { text, when } = yield* call("getrawtransaction", txid, 1)
        const { height, time } = blocks.map(({ hash, header: { time } }, height) => ({ hash, height, time }))
          .find(({ hash }) => displayHash(hash) === blockhash) ?? assert.fail()
        assert.strictEqual(when, "verbosity is 1")
        assert.strictEqual(
          text,
          `${recordedText(at(example, "decoded")).slice(0, -1)},"hex":"${stringAt(example, "hex")}",` +
            `"blockhash":"${blockhash}","confirmations":${601 - height},"time":${time},"blocktime":${time}}`
        )
        const inBlock = yield* call("getrawtransaction", txid, 1, blockhash)
        assert.strictEqual(inBlock.text, `{"in_active_chain":true,${text.slice(1)}`)
      }
    }))

  it.effect("shows fee and coins from verbosity 2 on, if there are any", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const txid = txidOf(600, 1)
      const block = yield* call("getblock", hashAt(600), 3)
      const inBlock = at(block.json, "tx", 1)
      const { json, when } = yield* call("getrawtransaction", txid, 2)
      assert.strictEqual(when, "verbosity is 2 or more")
      for (const member of ["vin", "vout", "fee", "hex"]) {
        assert.strictEqual(recordedText(at(json, member)), recordedText(at(inBlock, member)))
      }
      const text = (verbosity: unknown) => Effect.map(call("getrawtransaction", txid, verbosity), ({ text }) => text)
      assert.strictEqual(yield* text(3), yield* text(2))
      assert.strictEqual(yield* text(2 ** 31 - 1), yield* text(2))
      assert.strictEqual(yield* text(true), yield* text(1))
      assert.strictEqual(yield* text(-1), yield* text(0))
      assert.strictEqual(yield* text(false), yield* text(0))
      assert.strictEqual(yield* text(null), yield* text(0))
      assert.notMatch((yield* call("getrawtransaction", txidOf(600, 0), 2)).text, /"(fee|prevout)"/)
    }))

  it.effect("refuses unknown transactions", () =>
    Effect.gen(function*() {
      const { refusal, refusalOfText } = yield* MethodNode
      assert.deepStrictEqual(yield* refusal("getrawtransaction", NOBODYS), {
        code: -5,
        message: `No such mempool or blockchain transaction. ${WALLET_HINT}`
      })
      const genesis = txidOf(0, 0)
      for (const params of [[genesis], [genesis, 1], [genesis, 0, hashAt(0)], [genesis, 0, NOBODYS]]) {
        assert.deepStrictEqual(yield* refusal("getrawtransaction", ...params), {
          code: -5,
          message: "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved"
        })
      }
      const txid = txidOf(600, 1)
      assert.deepStrictEqual(yield* refusal("getrawtransaction", txid, 0, NOBODYS), {
        code: -5,
        message: "Block hash not found"
      })
      assert.deepStrictEqual(yield* refusal("getrawtransaction", txid, 0, hashAt(599)), {
        code: -5,
        message: `No such transaction found in the provided block. ${WALLET_HINT}`
      })
      assert.deepStrictEqual(yield* refusal("getrawtransaction", "zz"), {
        code: -8,
        message: "parameter 1 must be of length 64 (not 2, for 'zz')"
      })
      assert.deepStrictEqual(yield* refusal("getrawtransaction", txid, 0, "zz"), {
        code: -8,
        message: "parameter 3 must be of length 64 (not 2, for 'zz')"
      })
      assert.deepStrictEqual(yield* refusal("getrawtransaction", txid, "1"), {
        code: -3,
        message: "JSON value of type string is not of expected type number"
      })
      for (const verbosity of ["1.0", "1e1", "2147483648"]) {
        assert.strictEqual((yield* refusalOfText("getrawtransaction", `["${txid}",${verbosity}]`)).code, -1)
      }
    }))
})

layer(methodNode())("getrawtransaction without an index", (it) => {
  it.effect(
    "finds a transaction with an unspent output or a name change, or by its given block",
    () =>
      Effect.gen(function*() {
        const { call, refusal } = yield* MethodNode
        const { value } = yield* call("getrawtransaction", txidOf(600, 0), 1)
        assert.include(value, { blockhash: hashAt(600), confirmations: 1 })
        for (const name of items(at(recordedJson("regtest-names/tip-names.json"), "names"))) {
          for (const record of items(at(name, "history"))) {
            const found = yield* call("getrawtransaction", stringAt(record, "txid"), 1)
            assert.strictEqual(stringAt(found.json, "blockhash"), hashAt(Number(recordedText(at(record, "height")))))
          }
        }
        const { height, txid } = FORGOTTEN
        for (const unknown of [txid, NOBODYS]) {
          assert.deepStrictEqual(yield* refusal("getrawtransaction", unknown, 1), {
            code: -5,
            message:
              "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction " +
              `queries. ${WALLET_HINT}`
          })
        }
        const placed = yield* call("getrawtransaction", txid, 2, hashAt(height))
        assert.include(placed.value, { in_active_chain: true, txid, confirmations: 601 - height })
      }),
    60_000
  )

  it.effect("distinguishes blocks off the best chain from missing ones", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* MethodNode
      const [block = assert.fail()] = branch
      const [txid, hash] = [displayHash(block.transactions[0]?.txid ?? assert.fail()), displayHash(block.hash)]
      yield* chain.sink.acceptHeaders([block])
      assert.deepStrictEqual(yield* refusal("getrawtransaction", txid, 1, hash), {
        code: -1,
        message: "Block not available"
      })
      yield* chain.sink.submit(block)
      const { text } = yield* call("getrawtransaction", txid, 2, hash)
      assert.match(text, /^\{"in_active_chain":false,/)
      assert.match(text, new RegExp(`"blockhash":"${hash}","confirmations":0\\}$`))
      assert.strictEqual((yield* refusal("getrawtransaction", txid, 1)).code, -5)
    }))
})

layer(methodNode({ indexes: true }))("an index of addresses without one of transactions", (it) => {
  it.effect("leads each method to a transaction that has nothing left", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const { height, txid } = FORGOTTEN
      assert.include((yield* call("getrawtransaction", txid, 1)).value, { txid, blockhash: hashAt(height) })
      const proof = (yield* call("gettxoutproof", [txid])).value
      assert.deepStrictEqual((yield* call("verifytxoutproof", proof)).value, [txid])
      const outputs = { n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV: 1 }
      const empty = (yield* call("createpsbt", [{ txid, vout: 0 }], outputs)).value
      const { json } = yield* call("decodepsbt", (yield* call("utxoupdatepsbt", empty)).value)
      assert.strictEqual(stringAt(at(json, "inputs", 0, "non_witness_utxo"), "txid"), txid)
      assert.strictEqual((yield* refusal("gettxoutproof", [NOBODYS])).message, "Transaction not yet in block")
      assert.match((yield* refusal("getrawtransaction", NOBODYS)).message, /^No such mempool or blockchain transaction/)
    }))
})

layer(methodNode({ blocks: false }))("decoding", (it) => {
  it.effect("decoderawtransaction as the reference node", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const example of examples) {
        const hex = stringAt(example, "hex")
        for (
          const params of [
            [hex],
            [hex.toUpperCase()],
            [hex, null],
            ...(hex.slice(8, 12) === "0001" ? [[hex, true]] : [])
          ]
        ) {
          assert.strictEqual(
            (yield* call("decoderawtransaction", ...params)).text,
            recordedText(at(example, "decoded"))
          )
        }
      }
    }))

  it.effect("decoderawtransaction refuses invalid text", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const hex = stringAt(examples[0] ?? null, "hex")
      for (const text of ["", "0", "zz", hex.slice(0, -2), `${hex}00`, `${hex}0`, `0x${hex}`]) {
        assert.deepStrictEqual(yield* refusal("decoderawtransaction", text), { code: -22, message: "TX decode failed" })
      }
      assert.strictEqual((yield* refusal("decoderawtransaction", hex, 1)).code, -3)
      assert.strictEqual((yield* refusal("decoderawtransaction", 1)).code, -3)
      assert.strictEqual((yield* refusal("decoderawtransaction")).code, -1)
    }))

  it.effect("decodescript as recorded (reference/rpc.md 3.4)", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual(
        (yield* call("decodescript", "5303642f6201316d7576a914333333333333333333333333333333333333333388ac")).text,
        "{\"nameOp\":{\"op\":\"name_update\",\"name\":\"d/b\",\"name_encoding\":\"ascii\",\"value\":\"1\"," +
          "\"value_encoding\":\"ascii\"},\"asm\":\"OP_NAME_UPDATE 642f62 49 OP_2DROP OP_DROP OP_DUP OP_HASH160 " +
          "3333333333333333333333333333333333333333 OP_EQUALVERIFY OP_CHECKSIG\",\"desc\":\"raw(5303642f6201316d7576a914" +
          "333333333333333333333333333333333333333388ac)#z9ky5huh\",\"address\":\"mkBg6GwqZ4XdYQ72vTEqiwfgb6T6WRSDm5\"," +
          "\"type\":\"pubkeyhash\",\"p2sh\":\"2NC9nbEkYxPcnoc62E4YNQg2uGGW1vtKpPP\",\"segwit\":{\"asm\":" +
          "\"0 3333333333333333333333333333333333333333\",\"desc\":\"addr(ncrt1qxvenxvenxvenxvenxvenxvenxvenxvengnm3wg)" +
          "#k03dns2c\",\"hex\":\"00143333333333333333333333333333333333333333\",\"address\":" +
          "\"ncrt1qxvenxvenxvenxvenxvenxvenxvenxvengnm3wg\",\"type\":\"witness_v0_keyhash\",\"p2sh-segwit\":" +
          "\"2N6GyG6Jf2M2ydeuUqEKihWzrjesj6qhvt7\"}}"
      )
    }))

  it.effect("decodes scripts up to ten times the executable length, and transactions that fit a block", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      assert.include((yield* call("decodescript", "51".repeat(100_000))).value, { type: "nonstandard" })
      assert.deepStrictEqual(yield* refusal("decodescript", "51".repeat(100_001)), {
        code: -8,
        message: "argument must not be longer than 100000 bytes"
      })
      const spending = `0100000001${"11".repeat(36)}`
      const output = `01${"00".repeat(8)}0151`
      for (const [size, length] of [[100_000, "a0860100"], [100_001, "a1860100"]] as const) {
        const script = `fe${length}${"51".repeat(size)}`
        for (
          const hex of [
            `${spending}${script}ffffffff${output}00000000`,
            `${spending}00ffffffff01${"00".repeat(8)}${script}00000000`
          ]
        ) {
          if (size === 100_000) assert.include((yield* call("decoderawtransaction", hex)).value, { version: 1 })
          else {
            assert.deepStrictEqual(yield* refusal("decoderawtransaction", hex), {
              code: -22,
              message: "TX decode failed a script is longer than 100000 bytes"
            })
          }
        }
      }
      const tooLarge = `01000000000101${"00".repeat(8)}fe${"00093d00"}${"51".repeat(4_000_000)}00000000`
      assert.deepStrictEqual(yield* refusal("decoderawtransaction", tooLarge), {
        code: -22,
        message: "TX decode failed"
      })
    }))

  it.effect("decodescript accepts the empty script and upper case, and refuses text that is not hexadecimal", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      assert.include((yield* call("decodescript", "")).value, { asm: "", type: "nonstandard" })
      assert.include((yield* call("decodescript", "AC")).value, { asm: "OP_CHECKSIG" })
      for (const text of ["0", "zz", "0x51", " "]) {
        assert.deepStrictEqual(yield* refusal("decodescript", text), {
          code: -8,
          message: `argument must be hexadecimal string (not '${text}')`
        })
      }
    }))

  /** Answers as documented, or is refused with a code of its own: never a defect, never "internal error". */
  const holds = (code: number, call: Effect.Effect<Answer, RpcError>): Promise<boolean> =>
    Effect.runPromise(Effect.match(call, { onSuccess: () => true, onFailure: (error) => error.code === code }))

  it.effect("handles arbitrary bytes", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      // Opcodes and lengths with a meaning, more often than by chance.
      const script = FastCheck.array(
        FastCheck.oneof(
          bytesOf(0, 30),
          FastCheck.constantFrom(
            "51",
            "52",
            "53",
            "6d",
            "75",
            "76a914",
            "88ac",
            "a914",
            "87",
            "0014",
            "0020",
            "5120",
            "6a",
            "ae",
            "4c",
            "4d",
            "4e"
          )
            .map((text) => Uint8Array.from(Buffer.from(text, "hex")))
        ),
        { maxLength: 12 }
      ).map((parts) => Buffer.concat(parts).toString("hex"))
      yield* Effect.promise(() =>
        FastCheck.assert(FastCheck.asyncProperty(script, (hex) => holds(0, call("decodescript", hex))), {
          numRuns: 1_000
        })
      )
      const known = FastCheck.constantFrom(...examples.map((example) => stringAt(example, "hex")))
      const spoiled = FastCheck.tuple(known, FastCheck.nat(), bytesOf(1, 9)).map(([hex, place, patch]) => {
        const start = (place % (hex.length / 2)) * 2
        return `${hex.slice(0, start)}${toHex(patch)}${hex.slice(start + 2 * patch.length)}`
      })
      const transactions = FastCheck.oneof(spoiled, bytesOf(0, 80).map(toHex))
      yield* Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(
            transactions,
            FastCheck.option(FastCheck.boolean()),
            (hex, witness) => holds(-22, call("decoderawtransaction", hex, witness))
          ),
          { numRuns: 1_000 }
        )
      )
    }), 60_000)
})
