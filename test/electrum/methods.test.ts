import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import type { ElectrumCaller, ElectrumMethod } from "../../src/electrum/methods/method.ts"
import { electrumNames } from "../../src/electrum/methods/nameMethods.ts"
import { electrumScriptHashes } from "../../src/electrum/methods/scriptHashMethods.ts"
import { electrumTransactions } from "../../src/electrum/methods/transactionMethods.ts"
import { badRequest, CODE, syncing } from "../../src/electrum/protocol/ElectrumError.ts"
import { VERSION_1_6 } from "../../src/electrum/protocol/versions.ts"
import { oneAtATime } from "../../src/electrum/sources/Histories.ts"
import { NodeRefused } from "../../src/electrum/sources/NodeCalls.ts"
import { makeScriptHistories, type ScriptHistoryParts } from "../../src/electrum/sources/scriptHistories.ts"
import { HistoryTooLong, ScriptsBehind } from "../../src/mempool/scripts/errors.ts"
import type { BookFailure } from "../../src/mempool/scripts/ScriptBook.ts"
import { makeTransaction } from "../../src/protocol/transaction.ts"
import { type Json, JsonNumber } from "../../src/rpc/json/json.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"

const txid = new Uint8Array(32)

const transaction = makeTransaction({ version: 0x7100, inputs: [], outputs: [], lockTime: 0 })

const callerOf = (withinLimits: ElectrumCaller["withinLimits"] = Effect.void): ElectrumCaller => ({
  version: () => VERSION_1_6,
  charge: () => {},
  withinLimits,
  speaks: () => {},
  followHeaders: () => {},
  follow: () => Effect.succeed(true),
  answered: () => {},
  leave: () => true,
  broadcasts: () => 1
})

const methodOf = (methods: ReadonlyArray<ElectrumMethod>, name: string): ElectrumMethod => {
  const method = methods.find((each) => each.name === name)
  if (method === undefined) throw new Error(`there is no ${name}`)
  return method
}

/** Proofs of a name with so many operations, each of which takes `work`. */
const proving = (operations: number, work: () => void = () => {}) => {
  const state = { reads: 0 }
  const confirmed = Array.from({ length: operations }, (_, at) => ({ txid, height: at + 1 }))
  const placed = { bytes: transaction.bytes, position: 0, branch: [], cost: 1 }
  const methods = electrumNames({
    expiration: () => 36_000,
    headers: {
      tip: () => 0,
      list: () => Effect.succeed([]),
      one: () => Effect.succeed(new Uint8Array(80)),
      proof: () => syncing(),
      isAt: () => true
    },
    histories: {
      all: () => syncing(),
      several: () => syncing(),
      known: () => ({ confirmed, unconfirmed: [] }),
      confirmed: () => Effect.succeed(confirmed),
      unconfirmed: () => Effect.succeed([]),
      unspent: () => Effect.succeed([]),
      balance: () => Effect.succeed({ confirmed: 0, unconfirmed: 0 })
    },
    blocks: {
      txids: () => syncing(),
      known: () => placed,
      placed: () =>
        Effect.sync(() => {
          state.reads++
          work()
          return placed
        })
    }
  })
  const { atOnce, call } = methodOf(methods, "blockchain.name.get_value_proof")
  return {
    state,
    prove: (caller = callerOf()) => call(["00".repeat(32)], caller),
    proveAtOnce: (caller: ElectrumCaller, ...more: ReadonlyArray<Json>) => atOnce?.(["00".repeat(32), ...more], caller)
  }
}

describe("the proof of a value", () => {
  it.effect("is the same from memory at the same cost, if it is small and has no checkpoint", () =>
    Effect.gen(function*() {
      const { prove, proveAtOnce, state } = proving(3)
      const costs = [0, 0]
      const charging = (at: number): ElectrumCaller => ({
        ...callerOf(),
        charge: (cost) => {
          costs[at] = (costs[at] ?? 0) + cost
        }
      })
      const known = proveAtOnce(charging(0))
      assert.isDefined(known)
      assert.strictEqual(state.reads, 0)
      assert.deepStrictEqual(yield* prove(charging(1)), known)
      assert.closeTo(costs[0] ?? 0, costs[1] ?? 0, 1e-9)
      assert.isUndefined(proveAtOnce(callerOf(), new JsonNumber("1")))
      assert.isUndefined(proving(51).proveAtOnce(callerOf()))
    }))

  it.live("reads no block if the answer cannot be small enough", () =>
    Effect.gen(function*() {
      const { prove, state } = proving(5_000)
      assert.include((yield* Effect.flip(prove())).message, "response too large")
      assert.strictEqual(state.reads, 0)
    }))

  it.live("stops at the cost limit", () =>
    Effect.gen(function*() {
      const { prove, state } = proving(1_000)
      const caller = callerOf(Effect.suspend(() => state.reads < 3 ? Effect.void : badRequest("too much")))
      assert.strictEqual((yield* Effect.flip(prove(caller))).message, "too much")
      assert.strictEqual(state.reads, 3)
    }))

  it.live("gives others a turn between blocks", () =>
    Effect.gen(function*() {
      const turns = { count: 0, atEnd: 0 }
      const { prove } = proving(20, () => {
        const end = performance.now() + 2
        while (performance.now() < end) { /* A block takes so long to read. */ }
      })
      const timer = setInterval(() => turns.count++, 0)
      yield* prove()
      turns.atEnd = turns.count
      clearInterval(timer)
      assert.isAbove(turns.atEnd, 1)
    }))
})

describe("a broadcast", () => {
  const refusalOf = (name: string, given: Json, code: number) =>
    Effect.gen(function*() {
      const refused = () => new NodeRefused({ code, message: "why" })
      const methods = electrumTransactions({
        blocks: { txids: () => syncing(), placed: () => syncing() },
        node: { call: refused, ask: () => syncing() }
      })
      return yield* Effect.flip(methodOf(methods, name).call([given], callerOf()))
    })

  it.effect("that is not answered in time is not called rejected", () =>
    Effect.gen(function*() {
      for (
        const [name, given] of [
          ["blockchain.transaction.broadcast", "00"],
          ["blockchain.transaction.broadcast_package", ["00"]]
        ] as const
      ) {
        const busy = yield* refusalOf(name, given, -102)
        assert.deepStrictEqual([busy.code, busy.message], [-102, "server busy - request timed out"])
        const rejected = yield* refusalOf(name, given, -26)
        assert.strictEqual(rejected.code, 1)
        assert.include(rejected.message, "was rejected by network rules.\n\nwhy")
      }
    }))
})

/** What each method about a script hash answers, and how often a subscription was taken back. */
const askAboutScript = (parts: Pick<ScriptHistoryParts, "book" | "names">) =>
  Effect.gen(function*() {
    const state = { left: 0 }
    const histories = makeScriptHistories({ ...parts, chain: { params: regtestParams } })
    const methods = electrumScriptHashes({ histories }).filter(({ name }) => !name.endsWith("unsubscribe"))
    const caller: ElectrumCaller = { ...callerOf(), leave: () => ++state.left > 0 }
    const answers = yield* Effect.forEach(methods, ({ call, name }) =>
      Effect.map(Effect.either(call(["00".repeat(32)], caller)), (answer) => ({ name, answer })))
    return { answers, left: state.left }
  })

const namesWith = (confirmed: ScriptHistoryParts["names"]["confirmed"]): ScriptHistoryParts["names"] => {
  const all: ScriptHistoryParts["names"]["all"] = (key) =>
    Effect.map(confirmed(key), (operations) => ({ confirmed: operations, unconfirmed: [] }))
  return {
    all,
    several: oneAtATime(all),
    confirmed,
    unconfirmed: () => Effect.succeed([]),
    unspent: () => Effect.succeed([]),
    balance: () => Effect.succeed({ confirmed: 0, unconfirmed: 0 })
  }
}

const building = new ScriptsBehind({ height: 412_004, tip: 853_120 })

describe("methods about the script hash of an address", () => {
  const errors: ReadonlyArray<readonly [BookFailure, { readonly code: number; readonly message: RegExp }]> = [
    [building, { code: CODE.daemonError, message: /^syncing: .* has block 412,004 of 853,120; try again later$/ }],
    [
      new ScriptsBehind({ height: -1, tip: 853_120 }),
      { code: CODE.daemonError, message: /^syncing: .* has 0 of 853,120 blocks; try again later$/ }
    ],
    [new HistoryTooLong({ most: 20_000 }), { code: CODE.historyTooLong, message: /^history too large$/ }],
    [
      new StorageUnavailable({ file: "electrum.db", doing: "reading", reason: "EIO" }),
      { code: CODE.internalError, message: /^internal server error$/ }
    ]
  ]

  it.effect.each(errors)(
    "fail without the index, and answer no empty list: %s",
    ([failure, { code, message }]) =>
      Effect.gen(function*() {
        const book = { find: () => Effect.fail(failure) }
        const { answers, left } = yield* askAboutScript({ book, names: namesWith(() => Effect.succeed([])) })
        assert.lengthOf(answers, 5)
        for (const { answer, name } of answers) {
          if (answer._tag === "Right") return assert.fail(`${name} answers ${JSON.stringify(answer.right)}`)
          assert.strictEqual(answer.left.code, code)
          assert.match(answer.left.message, message)
        }
        // The client does not follow it, and may ask again.
        assert.strictEqual(left, 1)
      })
  )

  it.effect("fail while names are not complete, even with a complete index", () =>
    Effect.gen(function*() {
      const book = { find: () => Effect.dieMessage("the index is asked") }
      const { answers } = yield* askAboutScript({ book, names: namesWith(() => syncing()) })
      for (const { answer } of answers) assert.deepInclude(answer, { _tag: "Left", left: syncing() })
    }))

  it.effect("answer for names while the index is built", () =>
    Effect.gen(function*() {
      const book = { find: () => Effect.fail(building) }
      const names = namesWith(() => Effect.succeed([{ txid, height: 7 }]))
      const { answers } = yield* askAboutScript({ book, names })
      assert.deepStrictEqual(answers.map(({ answer }) => answer._tag), Array.from({ length: 5 }, () => "Right"))
    }))
})
