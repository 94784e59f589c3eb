import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash, fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { encodeMerkleProof, readMerkleProof } from "../../../src/protocol/merkleProof.ts"
import { Reader } from "../../../src/protocol/Reader.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")

const full: Block = blocks.find(({ auxpow, transactions }) => auxpow !== undefined && transactions.length > 2) ??
  blocks.find(({ transactions }) => transactions.length > 3) ?? assert.fail("no block with transactions")

const txidsOf = ({ transactions }: Block): ReadonlyArray<string> => transactions.map(({ txid }) => displayHash(txid))

const coinbase = (height: number): string => displayHash(blocks[height]?.transactions[0]?.txid ?? assert.fail())

const NOBODYS = "00".repeat(32)

layer(methodNode())("proofs of transactions", (it) => {
  it.effect("prove any transactions of a block to the node", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const txids = txidsOf(full)
      const hash = displayHash(full.hash)
      for (const some of [txids, txids.slice(1), txids.slice(0, 1), txids.slice(1, 2), txids.toReversed()]) {
        const { value } = yield* call("gettxoutproof", some, hash)
        const expected = txids.filter((txid) => some.includes(txid))
        assert.deepStrictEqual((yield* call("verifytxoutproof", value)).value, expected)
      }
    }))

  it.effect("find the block by an unspent output of one transaction", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const { value } = yield* call("gettxoutproof", [coinbase(600)])
      assert.deepStrictEqual((yield* call("verifytxoutproof", value)).value, [coinbase(600)])
      for (const txid of [coinbase(0), NOBODYS]) {
        assert.deepStrictEqual(yield* refusal("gettxoutproof", [txid]), {
          code: -5,
          message: "Transaction not yet in block"
        })
      }
    }))

  it.effect("are refused for other blocks, and for no, repeated or malformed txids", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const refused = (code: number, message: string) => ({ code, message })
      const hash = displayHash(full.hash)
      assert.deepStrictEqual(
        yield* refusal("gettxoutproof", []),
        refused(-8, "Parameter 'txids' cannot be empty")
      )
      assert.deepStrictEqual(
        yield* refusal("gettxoutproof", [NOBODYS, NOBODYS]),
        refused(-8, `Invalid parameter, duplicated txid: ${NOBODYS}`)
      )
      assert.deepStrictEqual(yield* refusal("gettxoutproof", [NOBODYS], NOBODYS), refused(-5, "Block not found"))
      assert.deepStrictEqual(
        yield* refusal("gettxoutproof", [...txidsOf(full), coinbase(600)], hash),
        refused(-5, "Not all transactions found in specified or retrieved block")
      )
      assert.deepStrictEqual(
        yield* refusal("gettxoutproof", ["00"], hash),
        refused(-8, "txid must be of length 64 (not 2, for '00')")
      )
    }))

  it.effect("are invalid with another number of transactions, another tree or another header", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const { value } = yield* call("gettxoutproof", txidsOf(full).slice(0, 1), displayHash(full.hash))
      const proof = readMerkleProof(new Reader(fromHex(String(value)) ?? assert.fail()))
      const other = blocks[600] ?? assert.fail()
      const verify = (bytes: Uint8Array) => Effect.map(call("verifytxoutproof", toHex(bytes)), ({ value }) => value)
      assert.deepStrictEqual(yield* verify(encodeMerkleProof({ ...proof, head: other })), [])
      const tree = { transactions: 1, hashes: [full.merkle.root], flags: Uint8Array.of(1) }
      assert.deepStrictEqual(yield* verify(encodeMerkleProof({ ...proof, tree })), [])
      assert.strictEqual((yield* refusal("verifytxoutproof", "")).code, -1)
      assert.deepStrictEqual(yield* refusal("verifytxoutproof", "0"), {
        code: -8,
        message: "proof must be hexadecimal string (not '0')"
      })
    }))
})

layer(methodNode({ blocks: false }))("a chain without the block", (it) => {
  it.effect("refuses its proof", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const tree = { transactions: 1, hashes: [full.merkle.root], flags: Uint8Array.of(1) }
      assert.deepStrictEqual(yield* refusal("verifytxoutproof", toHex(encodeMerkleProof({ head: full, tree }))), {
        code: -5,
        message: "Block not found in chain"
      })
    }))
})

layer(methodNode({ txIndex: true }))("with an index of transactions", (it) => {
  it.effect("spent transactions are found too, but not the one of the first block", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const [, spent = assert.fail()] = txidsOf(full)
      assert.deepStrictEqual(
        (yield* call("verifytxoutproof", (yield* call("gettxoutproof", [spent])).value)).value,
        [spent]
      )
      assert.strictEqual((yield* refusal("gettxoutproof", [coinbase(0)])).message, "Transaction not yet in block")
    }))
})
