import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { witnessCommitment } from "../../../src/consensus/block.ts"
import { regtestParams, withOverrides } from "../../../src/consensus/params.ts"
import { type Block, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { makeTransaction, NO_WITNESS } from "../../../src/protocol/transaction.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const stale = fixtureBlocks("regtest-names/stale.dat")

const blockAt = (height: number): Block => blocks[height] ?? assert.fail(`no block ${height}`)
const hashAt = (height: number): string => displayHash(blockAt(height).hash)

const NOBODYS = "ab".repeat(32)
const TIP = hashAt(600)

layer(methodNode())("the chain as a whole", (it) => {
  it.effect("its height, its tip, and every hash of it", () =>
    Effect.gen(function*() {
      const { call, refusal, refusalOfText } = yield* MethodNode
      assert.strictEqual((yield* call("getblockcount")).text, "600")
      assert.strictEqual((yield* call("getbestblockhash")).value, TIP)
      for (const height of blocks.keys()) {
        assert.strictEqual((yield* call("getblockhash", height)).value, hashAt(height))
      }
      for (const height of [-1, 601, 2 ** 31 - 1, -(2 ** 31)]) {
        assert.deepStrictEqual(yield* refusal("getblockhash", height), {
          code: -8,
          message: "Block height out of range"
        })
      }
      for (const height of ["2147483648", "99999999999", "1.5", "1.0", "1e2"]) {
        assert.deepStrictEqual(yield* refusalOfText("getblockhash", `[${height}]`), {
          code: -1,
          message: "JSON integer out of range"
        })
      }
      assert.strictEqual((yield* refusal("getblockhash", "abc")).code, -3)
      assert.strictEqual((yield* refusal("getblockhash", null)).code, -3)
    }))

  it.effect("getdifficulty returns regtest's difficulty as a double", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.strictEqual((yield* call("getdifficulty")).text, "4.656542373906925e-10")
    }))

  it.effect("getblockchaininfo, member by member", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const size = yield* chain.control.sizeOnDisk
      const last = items(at(recordedJson("regtest-names/expected.json"), "blocks"))[600] ?? null
      assert.strictEqual(
        (yield* call("getblockchaininfo")).text,
        `{"chain":"regtest","blocks":600,"headers":600,"bestblockhash":"${TIP}","bits":"207fffff",` +
          `"difficulty":4.656542373906925e-10,"target":"7fffff${"00".repeat(29)}","time":${blockAt(600).header.time},` +
          `"mediantime":${recordedText(at(last, "mediantime"))},` +
          `"verificationprogress":1,"initialblockdownload":false,"chainwork":"${stringAt(last, "chainwork")}",` +
          `"size_on_disk":${size},"pruned":false,"warnings":[]}`
      )
      assert.isAbove(size, blocks.reduce((sum, { size }) => sum + size, 0))
    }))

  it.effect("getdeploymentinfo as recorded (reference/rpc.md 3.2), at the tip and elsewhere", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const rest =
        ",\"script_flags\":[\"CHECKLOCKTIMEVERIFY\",\"CHECKSEQUENCEVERIFY\",\"DERSIG\",\"NAMES_LONG_SALT\"," +
        "\"NULLDUMMY\",\"P2SH\",\"TAPROOT\",\"WITNESS\"],\"deployments\":{\"bip34\":{\"type\":\"buried\",\"active\":true," +
        "\"height\":1},\"bip16\":{\"type\":\"buried\",\"active\":true,\"height\":0},\"bip66\":{\"type\":\"buried\"," +
        "\"active\":true,\"height\":1},\"bip65\":{\"type\":\"buried\",\"active\":true,\"height\":1},\"csv\":{\"type\":" +
        "\"buried\",\"active\":true,\"height\":1},\"segwit\":{\"type\":\"buried\",\"active\":true,\"height\":0}}}"
      assert.strictEqual((yield* call("getdeploymentinfo")).text, `{"hash":"${TIP}","height":600${rest}`)
      assert.strictEqual((yield* call("getdeploymentinfo", TIP)).text, `{"hash":"${TIP}","height":600${rest}`)
      // A rule is active where the next block must keep it: all are active at the first block.
      const { json } = yield* call("getdeploymentinfo", hashAt(0))
      assert.strictEqual(at(json, "deployments", "bip34", "active"), true)
      assert.deepStrictEqual(yield* refusal("getdeploymentinfo", NOBODYS), { code: -5, message: "Block not found" })
    }))
})

layer(methodNode({ blocks: false, params: withOverrides(regtestParams, { activation: { csv: 3, segwit: 2 } }) }))(
  "getdeploymentinfo before a rule holds",
  (it) => {
    it.effect("reports the height of activation, and the state for the next block", () =>
      Effect.gen(function*() {
        const { call } = yield* MethodNode
        const { json } = yield* call("getdeploymentinfo")
        const active = (rule: string) => at(json, "deployments", rule, "active")
        assert.deepStrictEqual(["bip34", "segwit", "csv"].map(active), [true, false, false])
        assert.notInclude(items(at(json, "script_flags")), "CHECKSEQUENCEVERIFY")
      }))
  }
)

layer(methodNode())("branches", (it) => {
  const tips = Effect.gen(function*() {
    const { call } = yield* MethodNode
    return (yield* call("getchaintips")).value
  })
  const branchTo = (height: number, hash: string, branchlen: number, status: string) => ({
    height,
    hash,
    branchlen,
    status
  })
  const [first, second] = stale.slice(-2)
  const [one, two] = [first, second].map((block) => displayHash(block?.hash ?? assert.fail()))

  it.effect("are added, invalidated and reconsidered", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const active = branchTo(600, TIP, 0, "active")
      assert.deepStrictEqual(yield* tips, [active])
      yield* chain.sink.acceptHeaders([first ?? assert.fail()])
      assert.deepStrictEqual(yield* tips, [active, branchTo(591, one ?? "", 1, "headers-only")])
      assert.strictEqual((yield* call("submitblock", toHex(second?.bytes ?? assert.fail()))).value, "inconclusive")
      assert.deepStrictEqual(yield* tips, [active, branchTo(592, two ?? "", 2, "headers-only")], "the first is missing")
      assert.strictEqual((yield* call("submitblock", toHex(first?.bytes ?? assert.fail()))).value, "inconclusive")
      assert.deepStrictEqual(yield* tips, [active, branchTo(592, two ?? "", 2, "valid-headers")])

      assert.strictEqual((yield* call("invalidateblock", hashAt(591))).text, "null")
      assert.strictEqual((yield* call("getbestblockhash")).value, two)
      assert.deepStrictEqual(yield* tips, [branchTo(600, TIP, 10, "invalid"), branchTo(592, two ?? "", 0, "active")])

      assert.strictEqual((yield* call("reconsiderblock", hashAt(591))).text, "null")
      assert.strictEqual((yield* call("getbestblockhash")).value, TIP)
      assert.deepStrictEqual(yield* tips, [active, branchTo(592, two ?? "", 2, "valid-fork")])
    }))

  it.effect("change nothing without a cause", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      for (const method of ["invalidateblock", "reconsiderblock"]) {
        assert.deepStrictEqual(yield* refusal(method, NOBODYS), { code: -5, message: "Block not found" })
        assert.strictEqual((yield* refusal(method, "zz")).code, -8)
        assert.strictEqual((yield* call(method, hashAt(0))).text, "null")
        assert.strictEqual((yield* call("getbestblockhash")).value, TIP)
      }
    }))
})

/** The block from a miner that leaves the reserved value to the node. */
const withoutReservedValue = (block: Block): Block => {
  const [coinbase, ...others] = block.transactions
  const [input] = coinbase?.inputs ?? []
  if (coinbase === undefined || input === undefined) return assert.fail("no coinbase")
  const { lockTime, outputs, version } = coinbase
  const bare = makeTransaction({ version, lockTime, outputs, inputs: [{ ...input, witness: NO_WITNESS }] })
  return makeBlock(block, [bare, ...others])
}

layer(methodNode({ blocks: false }))("submitblock", (it) => {
  const hexOf = (height: number): string => toHex(blockAt(height).bytes)

  it.effect("accepts blocks in order, once", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const submit = (hex: string) => Effect.map(call("submitblock", hex), ({ value }) => value)
      assert.strictEqual(yield* submit(hexOf(0)), "duplicate")
      assert.strictEqual(yield* submit(hexOf(2)), "prev-blk-not-found")
      assert.isNull(yield* submit(hexOf(1)))
      assert.strictEqual(yield* submit(hexOf(1)), "duplicate")
      assert.isNull(yield* submit(hexOf(2).toUpperCase()))
      assert.isNull((yield* call("submitblock", hexOf(3), "ignored")).value)
      assert.strictEqual((yield* call("getblockcount")).value, 3)
    }))

  it.effect("ignores bytes after the block, as the reference node does", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.isNull((yield* call("submitblock", `${hexOf(4)}c0ffee`)).value)
      assert.strictEqual((yield* call("getblock", hashAt(4), 0)).value, hexOf(4))
    }))

  it.effect("refuses undecodable blocks", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const hex = hexOf(5)
      for (
        const text of [
          "",
          "0",
          "c0ffee",
          "zz",
          `${hex}0`,
          ` ${hex}`,
          hex.slice(0, -2),
          hex.slice(0, 160),
          "00".repeat(80)
        ]
      ) {
        assert.deepStrictEqual(yield* refusal("submitblock", text), { code: -22, message: "Block decode failed" })
      }
      assert.strictEqual((yield* refusal("submitblock", 5)).code, -3)
      assert.strictEqual((yield* refusal("submitblock", hex, 5)).code, -3)
      assert.strictEqual((yield* refusal("submitblock")).code, -1)
      assert.strictEqual((yield* call("getblockcount")).value, 4)
    }))

  it.effect("refuses an invalid block in the reference node's words, and accepts the valid one later", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { auxpow, header, transactions } = blockAt(5)
      const empty = toHex(makeBlock({ header, auxpow }, []).bytes)
      assert.strictEqual((yield* call("submitblock", empty)).value, "bad-txnmrklroot")
      const twice = toHex(makeBlock({ header, auxpow }, [...transactions, ...transactions]).bytes)
      assert.strictEqual((yield* call("submitblock", twice)).value, "bad-txnmrklroot")
      assert.isNull((yield* call("submitblock", hexOf(5))).value)
    }))

  it.effect("adds the reserved value that a miner omitted", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const isZero = ({ transactions: [coinbase] }: Block): boolean =>
        coinbase !== undefined && witnessCommitment(coinbase) !== undefined &&
        coinbase.inputs[0]?.witness[0]?.every((byte) => byte === 0) === true
      const height = blocks.findIndex((block, at) => at > 5 && isZero(block))
      assert.isAbove(height, 5)
      for (const block of blocks.slice(6, height)) {
        assert.strictEqual((yield* chain.sink.submit(block)).type, "connected")
      }
      const bare = withoutReservedValue(blockAt(height))
      assert.isBelow(bare.size, blockAt(height).size)
      assert.isNull((yield* call("submitblock", toHex(bare.bytes))).value)
      assert.strictEqual((yield* call("getblock", hashAt(height), 0)).value, hexOf(height))
    }))
})

layer(methodNode({ blocks: false }))("preciousblock", (it) => {
  it.effect("chooses among tips of the same work, again and again, and leaves more work alone", () =>
    Effect.gen(function*() {
      const { call, chain, refusal } = yield* MethodNode
      const [rival = assert.fail()] = stale.slice(-2)
      const height = blocks.findIndex(({ hash }) => displayHash(hash) === displayHash(rival.header.prevHash)) + 1
      yield* chain.sink.deliver([...blocks.slice(1, height + 1), rival], false)
      const other = displayHash(rival.hash)
      const tip = Effect.map(call("getbestblockhash"), ({ value }) => value)
      assert.strictEqual(yield* tip, hashAt(height))
      for (const hash of [other, hashAt(height), other, other]) {
        assert.isNull((yield* call("preciousblock", hash)).value)
        assert.strictEqual(yield* tip, hash)
      }
      yield* call("preciousblock", hashAt(height - 1))
      assert.strictEqual(yield* tip, other)
      yield* chain.sink.submit(blockAt(height + 1))
      yield* call("preciousblock", other)
      assert.strictEqual(yield* tip, hashAt(height + 1))
      assert.deepStrictEqual(yield* refusal("preciousblock", NOBODYS), { code: -5, message: "Block not found" })
    }))
})
