import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SnapshotReader } from "../../../src/chain/snapshot/SnapshotReader.ts"
import { CoinStats } from "../../../src/chain/state/coinStats.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { at, items, recordedJson, recordedText, stringAt } from "../../support/recordedJson.ts"
import { NETWORK } from "../../support/snapshots.ts"

/** Four of those along the chain, the last one at its tip: `Chain.test.ts` compares the coins at all of them. */
const checkpoints = items(at(recordedJson("regtest-names/expected.json"), "checkpoints")).filter((_, i) => i % 6 === 5)

/** The hash over the coins of a file. */
const hashOf = (path: string): string => {
  const reader = new SnapshotReader(path)
  const stats = new CoinStats("hash_serialized_3")
  try {
    reader.metadata(NETWORK)
    reader.expect(1_000_000)
    for (let coins = reader.coins(100); coins !== undefined; coins = reader.coins(100)) {
      for (const { coin, outpoint } of coins) stats.add(outpoint, coin)
    }
    return displayHash(stats.finish().hash ?? assert.fail())
  } finally {
    reader.close()
  }
}

layer(methodNode())("dumptxoutset", (it) => {
  it.scoped("writes the coins that the reference node has at a checkpoint", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const directory = yield* temporaryDirectory
      const tip = yield* chain.tip
      assert.isAbove(checkpoints.length, 2)
      for (const checkpoint of checkpoints) {
        const height = Number(recordedText(at(checkpoint, "height")))
        const path = join(directory, `${height}.dat`)
        const { value } = height === tip.height
          ? yield* call("dumptxoutset", path, "latest")
          : yield* call("dumptxoutset", path, "rollback", { rollback: height })
        const utxo = at(checkpoint, "utxo")
        assert.include(value, {
          coins_written: Number(recordedText(at(utxo, "txouts"))),
          base_hash: stringAt(utxo, "bestblock"),
          base_height: height,
          path,
          txoutset_hash: stringAt(utxo, "hash_serialized_3")
        })
        assert.strictEqual(hashOf(path), stringAt(utxo, "hash_serialized_3"))
      }
      assert.strictEqual((yield* chain.tip).height, tip.height)
    }), 60_000)

  it.scoped("counts the transactions of the chain", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const path = join(yield* temporaryDirectory, "set.dat")
      const { json } = yield* call("dumptxoutset", path, "", { rollback: 300 })
      const { json: hash } = yield* call("getblockhash", 300)
      const { json: stats } = yield* call("getchaintxstats", 10, hash)
      assert.strictEqual(recordedText(at(json, "nchaintx")), recordedText(at(stats, "txcount")))
    }))

  it.scoped("leaves an existing file as it is", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const path = join(yield* temporaryDirectory, "set.dat")
      yield* call("dumptxoutset", path, "latest")
      const before = readFileSync(path)
      assert.deepStrictEqual(yield* refusal("dumptxoutset", path, "latest"), {
        code: -8,
        message: `${path} already exists. If you are sure this is what you want, move it out of the way first`
      })
      assert.isTrue(before.equals(readFileSync(path)))
    }))

  it.scoped("refuses other types, blocks and paths", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const path = join(yield* temporaryDirectory, "set.dat")
      const hint = "Please specify \"rollback\" or \"latest\""
      assert.deepStrictEqual(yield* refusal("dumptxoutset", path, "bogus"), {
        code: -8,
        message: `Invalid snapshot type "bogus" specified. ${hint}`
      })
      assert.deepStrictEqual(yield* refusal("dumptxoutset", path), {
        code: -8,
        message: `Invalid snapshot type "" specified. ${hint}`
      })
      assert.deepStrictEqual(yield* refusal("dumptxoutset", path, "latest", { rollback: 5 }), {
        code: -8,
        message: "Invalid snapshot type \"latest\" specified with rollback option"
      })
      assert.deepStrictEqual(yield* refusal("dumptxoutset", path, "rollback", { rollback: 5_000 }), {
        code: -8,
        message: "Target block height 5000 after current tip 600"
      })
      const nowhere = join(path, "nowhere")
      assert.deepStrictEqual(yield* refusal("dumptxoutset", nowhere, "latest"), {
        code: -8,
        message: `Couldn't open file ${nowhere}.incomplete for writing.`
      })
      assert.isFalse(existsSync(path))
      assert.isFalse(existsSync(`${path}.incomplete`))
    }))
})

layer(methodNode())("loadtxoutset", (it) => {
  it.scoped("refuses files with the errors of the reference node", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const path = join(yield* temporaryDirectory, "set.dat")
      assert.deepStrictEqual(yield* refusal("loadtxoutset", path), {
        code: -8,
        message: `Couldn't open file ${path} for reading.`
      })
      writeFileSync(path, "utxo")
      assert.deepStrictEqual(yield* refusal("loadtxoutset", path), {
        code: -22,
        message: "Unable to parse metadata: AutoFile::read: end of file"
      })
      const good = `${path}.good`
      const { json } = yield* call("dumptxoutset", good, "rollback", { rollback: 300 })
      assert.deepStrictEqual(yield* refusal("loadtxoutset", good), {
        code: -32603,
        message: "Unable to load UTXO snapshot: assumeutxo block hash in snapshot metadata not recognized (hash: " +
          `${stringAt(json, "base_hash")}). The following snapshot heights are available: 110, 200, 299. To trust ` +
          `another snapshot, start the node with -snapshothash and its txoutset_hash. (${good})`
      })
    }))

  it.effect("getchainstates shows the validated chain state of a node that began with genesis", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { value } = yield* call("getchainstates")
      const { json: info } = yield* call("getblockchaininfo")
      assert.deepInclude(value, { headers: 600 })
      const state = items(at((yield* call("getchainstates")).json, "chainstates"))[0] ?? assert.fail()
      assert.strictEqual(at(state, "validated"), true)
      assert.strictEqual(stringAt(state, "bestblockhash"), stringAt(info, "bestblockhash"))
    }))
})
