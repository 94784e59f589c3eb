import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { vi } from "vitest"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { blockSubsidy } from "../../../src/consensus/subsidy.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { Op } from "../../../src/protocol/script.ts"
import { JsonNumber } from "../../../src/rpc/json/json.ts"
import { LongText } from "../../../src/rpc/json/LongText.ts"
import type { ScanJob, StoredBlock } from "../../../src/rpc/reader/readMessage.ts"
import { layer } from "../../support/layer.ts"
import { type Calls, contextOf, MethodNode, methodNode } from "../../support/methodNode.ts"
import { buildBlock, makeCoinbase } from "../../support/regtest.ts"
import { logged, SCAN, thread } from "./threads.ts"

/** Answer or error of a call, as text. */
const outcome = (calls: Calls, method: string, params: ReadonlyArray<unknown>) =>
  Effect.match(calls.call(method, ...params), {
    onSuccess: ({ text }) => text,
    onFailure: ({ code, message }) => `${code} ${message}`
  })

/** The same without the size of the file, which does not follow from the state alone. */
const stateIn = (calls: Calls, method: string, params: ReadonlyArray<unknown>) =>
  Effect.map(outcome(calls, method, params), (text) => text.replace(/"disk_size":\d+/, ""))

const HEX = { nameEncoding: "hex", valueEncoding: "hex" }

/** A coin of the chain, and one that it does not have. */
const OBJECTS = ["raw(51)", "addr(mkHV1C6JLheLoUSSZYk7x3FH5tnx9bu7yc)"]

const QUESTIONS: ReadonlyArray<readonly [method: string, ...params: ReadonlyArray<unknown>]> = [
  ["name_scan"],
  ["name_scan", "", 10_000],
  ["name_scan", "", 10_000, HEX],
  ["name_scan", "", 10_000, { nameEncoding: "utf8", valueEncoding: "utf8" }],
  ["name_scan", "d/", 3, { prefix: "d/" }],
  ["name_scan", "", 10_000, { prefix: "id/", requireProof: "full" }],
  ["name_scan", "", 10_000, { regexp: "^d/.*[0-9]" }],
  ["name_scan", "", 5, { regexp: "e" }],
  ["name_scan", "", 10_000, { minConf: 20, maxConf: 100 }],
  ["name_scan", "", 10_000, { maxConf: 0 }],
  ["name_scan", "", 0],
  ["name_scan", "", -1],
  ["name_scan", "", 10, { prefix: "no such prefix" }],
  ["name_scan", "", 10, { regexp: "(" }],
  ["name_scan", "", 10, { regexp: "a".repeat(600) }],
  ["name_scan", "", 10, { minConf: 0 }],
  ["name_scan", "zz", 10, { nameEncoding: "hex" }],
  ["name_history", "no such name"],
  ["gettxoutsetinfo"],
  ["gettxoutsetinfo", "muhash"],
  ["gettxoutsetinfo", "none"],
  ["gettxoutsetinfo", "other"],
  ["scantxoutset", "start", OBJECTS],
  ["scantxoutset", "start", ["raw()"]],
  ["scantxoutset", "start", ["no descriptor"]],
  ["scantxoutset", "status"],
  ["scantxoutset", "abort"]
]

/** A script that no block has. The filter of one block matches it by chance. */
const CHANCE = "raw(6a04000000a7)"

const VERBOSITIES = [1, 2, 3] as const

/** Outputs of a coinbase in a block of more than 100,000 bytes. */
const LONG_OUTPUTS = Array.from({ length: 12 }, () => ({ value: 0, script: new Uint8Array(9_000).fill(Op.OP_RETURN) }))

layer(methodNode({ reader: thread, wallets: true }))("the read thread", (it) => {
  it.effect("answers as the event loop does, byte for byte", () =>
    Effect.gen(function*() {
      const { here, ...calls } = yield* MethodNode
      const { lines } = yield* Effect.map(
        logged(Effect.gen(function*() {
          for (const [method, ...params] of QUESTIONS) {
            const question = `${method} ${JSON.stringify(params).slice(0, 80)}`
            assert.strictEqual(yield* outcome(calls, method, params), yield* outcome(here, method, params), question)
          }
          const listed: ReadonlyArray<{ readonly name: string }> = JSON.parse(
            yield* outcome(here, "name_scan", ["", 10_000, HEX])
          )
          assert.lengthOf(listed, 391)
          for (const { name } of listed.slice(0, 60)) {
            assert.strictEqual(
              yield* outcome(calls, "name_history", [name, HEX]),
              yield* outcome(here, "name_history", [name, HEX])
            )
          }
        })),
        (lines) => ({ lines })
      )
      // Otherwise the event loop compared with itself.
      assert.deepStrictEqual(lines, [])
      assert.include(yield* outcome(calls, "name_scan", ["", 30]), `"ismine":false`)
    }))

  it.effect("asks the node whether its wallet owns a name", () =>
    Effect.gen(function*() {
      const { reader } = yield* MethodNode
      const shown = { ...SCAN.shown, withOwner: true, room: 1_000_000 }
      const job: ScanJob = { ...SCAN, file: reader.namesFile, list: { ...SCAN.list, count: 1_200 }, shown }
      let asked = 0
      const { count, pieces } = yield* reader.read(job, { owns: () => asked++ % 3 === 0 })
      const rows: ReadonlyArray<{ readonly ismine: boolean }> = JSON.parse(Buffer.concat([...pieces]).toString())
      assert.deepStrictEqual([asked, count], [391, 391])
      assert.deepStrictEqual(rows.map(({ ismine }) => ismine), rows.map((_, i) => i % 3 === 0))
    }))

  it.effect("refuses an answer that has no room", () =>
    Effect.gen(function*() {
      const { reader } = yield* MethodNode
      const job = { ...SCAN, file: reader.namesFile, list: { ...SCAN.list, count: 400 } }
      const error = yield* Effect.flip(Effect.asVoid(reader.read(job)))
      assert.deepStrictEqual([error._tag, "code" in error ? error.code : 0], ["RpcError", -7])
    }))

  it.effect("does not do a job on a file that it cannot read", () =>
    Effect.gen(function*() {
      const { reader } = yield* MethodNode
      const lines = yield* logged(Effect.gen(function*() {
        const error = yield* Effect.flip(reader.read({ ...SCAN, file: "/no/such/names.db" }))
        assert.strictEqual(error._tag, "NotRead")
      }))
      assert.lengthOf(lines, 1)
    }))

  it.effect("answers from one state each, even while blocks leave the chain and return", () =>
    Effect.gen(function*() {
      const { chain, here, ...calls } = yield* MethodNode
      const questions = [["name_scan", "", 10_000, HEX], ["gettxoutsetinfo"]] as const
      const { height } = yield* chain.tip
      const blocks = yield* Effect.forEach([0, 1, 2, 3], (n) => chain.headerAt(height - n))
      const hashes = blocks.map((info) => info?.hash ?? assert.fail("no block"))
      const known = questions.map(() => new Set<string>())
      const learn = Effect.gen(function*() {
        for (const [i, [method, ...params]] of questions.entries()) known[i]?.add(yield* stateIn(here, method, params))
      })
      yield* learn
      for (const hash of hashes) {
        yield* chain.control.invalidate(hash)
        yield* learn
      }
      const [lowest = assert.fail("no block")] = hashes.slice(-1)
      yield* chain.control.reconsider(lowest)
      for (const hash of hashes) yield* chain.control.reconsider(hash)
      assert.deepStrictEqual([...known].map(({ size }) => size), [5, 5])
      const seen = questions.map(() => new Set<string>())
      const lines = yield* logged(Effect.gen(function*() {
        // A slow machine may see only one state of two in six rounds.
        for (let round = 0; round < 6 || seen.some(({ size }) => size < 2); round++) {
          assert.isBelow(round, 60, "the chain did not move meanwhile")
          const asked = yield* Effect.fork(Effect.forEach(questions, ([method, ...params], i) =>
            Effect.map(stateIn(calls, method, params), (answer) => {
              assert.isTrue(known[i]?.has(answer), `${method} mixes states: ${answer.slice(0, 200)}`)
              seen[i]?.add(answer)
            }), { concurrency: 2, discard: true }))
          // The blocks leave or return while the thread reads, before it begins, or when it is done.
          for (let turn = 0; turn < round % 6; turn++) {
            yield* turnOfEventLoop
          }
          yield* round % 2 === 0 ? chain.control.invalidate(lowest) : chain.control.reconsider(lowest)
          yield* Fiber.join(asked)
        }
      }))
      assert.deepStrictEqual(lines, [])
    }))

  it.effect("shows blocks as the event loop does, byte for byte", () =>
    Effect.gen(function*() {
      const { chain, here, reader } = yield* MethodNode
      const { height: last } = yield* chain.tip
      for (let height = last; height >= 0; height -= 7) {
        const { header: _, ...place } = (yield* chain.headerAt(height)) ?? assert.fail("no block")
        const [block, stored] = [yield* chain.blockBytes(place.hash), yield* chain.undoBytes(place.hash)]
        for (const verbosity of VERBOSITIES) {
          const shown = { network: "regtest", nameEncoding: "ascii", valueEncoding: "ascii", room: 10_000_000 } as const
          const undo = verbosity === 1 ? undefined : stored
          const { pieces } = yield* reader.read({ type: "block", block, undo, place, verbosity, shown })
          assert.strictEqual(
            Buffer.concat([...pieces]).toString(),
            yield* outcome(here, "getblock", [displayHash(place.hash), verbosity]),
            `block ${height}, verbosity ${verbosity}`
          )
        }
      }
    }))

  it.effect("is asked for a large block, not for a small one", () =>
    Effect.gen(function*() {
      const { chain, here, methods, ...calls } = yield* MethodNode
      const tip = yield* chain.tip
      const coinbase = makeCoinbase(tip.height + 1, LONG_OUTPUTS)
      const block = buildBlock({ height: tip.height, params: chain.params, tip }, [], { coinbase })
      yield* chain.sink.deliver([block], false)
      const [small, large, largest] = [regtest.genesisBlock, yield* chain.blockBytes(tip.hash), block.bytes]
      const getblock = methods.get("getblock") ?? assert.fail("no such method")
      for (
        const [bytes, ...byThread] of [[small, false, false], [large, false, true], [largest, true, true]] as const
      ) {
        const hash = displayHash(decodeBlock(bytes).hash)
        for (const [i, verbosity] of [1, 3].entries()) {
          const result = yield* getblock.call([hash, new JsonNumber(`${verbosity}`)], contextOf(methods))
          assert.strictEqual(result instanceof LongText, byThread[i])
          const asked = [hash, verbosity]
          assert.strictEqual(yield* outcome(calls, "getblock", asked), yield* outcome(here, "getblock", asked))
        }
      }
    }))

  it.scoped("is not asked for the first names of a list, without a filter", () =>
    Effect.gen(function*() {
      const { here, reader, ...calls } = yield* MethodNode
      const read = vi.spyOn(reader, "read")
      yield* Effect.addFinalizer(() => Effect.sync(() => read.mockRestore()))
      const ways = [
        [16, {}, false],
        [17, {}, true],
        [16, { prefix: "" }, true],
        [16, { regexp: "e" }, true],
        [16, { maxConf: 600 }, true],
        [16, { minConf: 2 }, true]
      ] as const
      for (const [count, filter, byThread] of ways) {
        const asked = ["d/", count, filter]
        const before = read.mock.calls.length
        assert.strictEqual(yield* outcome(calls, "name_scan", asked), yield* outcome(here, "name_scan", asked))
        assert.strictEqual(read.mock.calls.length > before, byThread, JSON.stringify(asked))
      }
    }))

  it.effect("counts blocks and searches them as the event loop does, byte for byte", () =>
    Effect.gen(function*() {
      const { chain, here, reader, ...calls } = yield* MethodNode
      const { height: last } = yield* chain.tip
      const stored: Array<StoredBlock> = []
      for (let height = last; height >= 0; height -= 7) {
        const { hash, medianTimePast } = (yield* chain.headerAt(height)) ?? assert.fail("no block")
        const [block, undo] = [yield* chain.blockBytes(hash), yield* chain.undoBytes(hash)]
        stored.push({ hash, height, block, undo })
        const subsidy = blockSubsidy(height, chain.params)
        const counted = yield* reader.read({
          type: "blockStats",
          stored: { hash, height, block, undo },
          medianTimePast,
          subsidy
        })
        assert.strictEqual(JSON.stringify(counted), yield* outcome(here, "getblockstats", [height]), `block ${height}`)
      }
      const scripts = decodeBlock(stored[0]?.block ?? assert.fail("no block")).transactions
        .flatMap(({ outputs }) => outputs.map(({ script }) => script))
      const found = yield* reader.read({
        type: "blockSearch",
        blocks: stored,
        scripts: new Set(scripts.map(binaryString))
      })
      assert.lengthOf(found, stored.length)
      const objects = scripts.filter(({ length }) => length > 0).map((script) => `raw(${toHex(script)})`)
      const hashes = stored.map(({ hash }) => displayHash(hash))
      const lines = yield* logged(Effect.gen(function*() {
        const asked = [hashes, objects]
        const shown = yield* outcome(calls, "getdescriptoractivity", asked)
        assert.strictEqual(shown, yield* outcome(here, "getdescriptoractivity", asked))
        const { activity }: { readonly activity: ReadonlyArray<unknown> } = JSON.parse(shown)
        assert.isAbove(activity.length, 0)
        assert.lengthOf(found.flat(), activity.length)
        for (const wrong of [["ab".repeat(32)], [601]]) {
          assert.strictEqual(
            yield* outcome(calls, "getblockstats", wrong),
            yield* outcome(here, "getblockstats", wrong)
          )
        }
        const stats = [last, ["avgfee", "txs"]]
        assert.strictEqual(yield* outcome(calls, "getblockstats", stats), yield* outcome(here, "getblockstats", stats))
      }))
      assert.deepStrictEqual(lines, [])
    }))

  it.effect("leaves a damaged block to the event loop", () =>
    Effect.gen(function*() {
      const { chain, reader } = yield* MethodNode
      const { header: _, ...place } = yield* chain.tip
      const block = (yield* chain.blockBytes(place.hash)).slice()
      block[90] = (block[90] ?? 0) ^ 1
      const lines = yield* logged(Effect.gen(function*() {
        const error = yield* Effect.flip(
          reader.read({ type: "block", block, undo: undefined, place, verbosity: 1, shown: SCAN.shown })
        )
        assert.strictEqual(error._tag, "NotRead")
        const { hash, height } = place
        const blocks = [{ hash, height, block, undo: undefined }]
        const search = yield* Effect.flip(reader.read({ type: "blockSearch", blocks, scripts: new Set() }))
        assert.strictEqual(search._tag, "NotRead")
      }))
      assert.lengthOf(lines, 2)
    }))
})

layer(methodNode({ reader: thread, indexes: true }))("the read thread with indexes", (it) => {
  it.effect("sorts out the blocks that a filter matches by chance, as the event loop does", () =>
    Effect.gen(function*() {
      const { chain, here, ...calls } = yield* MethodNode
      const { hash } = (yield* chain.headerAt(300)) ?? assert.fail("no block")
      const { outputs } = decodeBlock(yield* chain.blockBytes(hash)).transactions[0] ?? assert.fail("no coinbase")
      const paid = `raw(${toHex(outputs[0]?.script ?? assert.fail("no output"))})`
      const lines = yield* logged(Effect.gen(function*() {
        for (const [objects, least] of [[[CHANCE], 0], [[paid, CHANCE], 1]] as const) {
          const scan = (exact: boolean, where: Calls) =>
            Effect.map(
              outcome(where, "scanblocks", ["start", objects, 0, null, "basic", { filter_false_positives: exact }]),
              (text): { readonly relevant_blocks: ReadonlyArray<string> } => JSON.parse(text)
            )
          const exact = yield* scan(true, calls)
          assert.deepStrictEqual(exact, yield* scan(true, here))
          const { relevant_blocks: all } = yield* scan(false, calls)
          assert.lengthOf(exact.relevant_blocks, all.length - 1)
          assert.isAtLeast(exact.relevant_blocks.length, least)
        }
      }))
      assert.deepStrictEqual(lines, [])
    }))
})
