import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Logger } from "effect"
import type { RegistrationProgress } from "../../src/client/options.ts"
import { EMPTY, parseDisplayHash, toHex } from "../../src/protocol/bytes.ts"
import { makeTransaction, outpoint } from "../../src/protocol/transaction.ts"
import { eventually } from "../support/eventually.ts"
import type { Reply } from "../support/fakeDaemon.ts"
import { callsOf, CLAIM, client, hex, OTHER, RAND, shown, TXID } from "./daemonClients.ts"

const quietly = Effect.provide(Logger.remove(Logger.defaultLogger))

/** A transaction that spends an output of another. */
const spending = (txid: string): string => {
  const spent = parseDisplayHash(txid)
  if (spent === undefined) throw new Error("that is not a txid")
  const input = { prevout: outpoint(spent, 0), scriptSig: EMPTY, sequence: 0xffffffff, witness: [] }
  const { bytes } = makeTransaction({
    version: 2,
    inputs: [input],
    outputs: [{ value: 1, script: EMPTY }],
    lockTime: 0
  })
  return toHex(bytes)
}

describe("names that no program would read", () => {
  it.scopedLive("are registered only if the caller asks for any name; others of their namespaces and of other ones are", () =>
    Effect.gen(function*() {
      const { calls, client: names } = yield* client(({ method }) =>
        method === "name_autoregister" ? { code: -25, message: "asked" } : undefined
      )
      for (
        const name of ["d/UPPER", "d/-x", "d/1", "d/", "id/With Space", "dd/", "x.bit", "x", "D/x", "d/bücher", " d/x"]
      ) {
        const refused = yield* Effect.flip(names.registerName(name, "{}"))
        assert.deepInclude({ ...refused }, { _tag: "InvalidRequest", field: "name" }, name)
        assert.include(refused.message, "anyName", name)
      }
      assert.lengthOf(callsOf(calls, "name_autoregister"), 0)
      const asked = [
        names.registerName("d/UPPER", "{}", { anyName: true }),
        ...["d/x", "d/4chan", "id/a-b", "p/Key", "free text"].map((name) => names.registerName(name, "{}"))
      ]
      for (const one of asked) assert.strictEqual((yield* Effect.flip(one))._tag, "NameUnavailable")
      assert.lengthOf(callsOf(calls, "name_autoregister"), asked.length)
    }))

  it.scopedLive("are not called free by a daemon that has no record of them", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(({ method }) =>
        method === "name_show" ? { code: -4, message: "name never existed" } : undefined
      )
      const { message, ...refused } = yield* Effect.flip(names.resolveName("www.x.bit"))
      assert.deepInclude({ ...refused }, { _tag: "InvalidRequest", field: "name" })
      assert.include(message, "\"www.x.bit\" means the domain x.bit, the name \"d/x\"")
      for (const name of ["d/x", "x", "free text"]) {
        assert.strictEqual((yield* Effect.flip(names.resolveName(name)))._tag, "NameNotFound", name)
      }
    }))
})

describe("the client over a daemon", () => {
  it.scopedLive("carries out both steps for a daemon that does not, and reports each", () =>
    Effect.gen(function*() {
      let confirmations = 0
      let claimed = 0
      const told: Array<RegistrationProgress> = []
      const { calls, client: names } = yield* client(({ method, params }) => {
        switch (method) {
          case "name_new":
            return { result: [TXID, RAND] }
          case "gettransaction":
            // A block arrives between any two requests.
            if (params[0] === TXID) return { result: { confirmations: Math.min(confirmations++, 12) } }
            return { result: claimed++ < 2 ? { confirmations: 0 } : { confirmations: 1, blockheight: 712 } }
          case "name_firstupdate":
            return { result: CLAIM }
          case "name_show":
            return { code: -4, message: "name never existed" }
          default:
            return undefined
        }
      })
      const result = yield* names.registerName("d/x", "v", {
        address: "n1",
        waitFor: "registered",
        onProgress: (progress) => void told.push(progress)
      })
      assert.deepStrictEqual(result, { txHash: CLAIM })
      assert.deepStrictEqual(
        told.map((each) => each.step === "waiting" ? each.blocksLeft : each.step),
        ["announced", 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, "claimed", "registered"]
      )
      // The salt is stored nowhere else.
      assert.deepStrictEqual(told[0], { step: "announced", txHash: TXID, rand: RAND })
      const options = { nameEncoding: "hex", valueEncoding: "hex", destAddress: "n1" }
      assert.deepStrictEqual(callsOf(calls, "name_firstupdate").map(({ params }) => params), [
        [hex("d/x"), RAND, TXID, hex("v"), options]
      ])
      assert.deepStrictEqual(callsOf(calls, "name_new").map(({ params }) => params), [
        [hex("d/x"), { nameEncoding: "hex" }]
      ])
    }))

  it.scopedLive("has no transaction for a registration that svcd queued, and waits for it", () =>
    Effect.gen(function*() {
      const told: Array<RegistrationProgress> = []
      const entry = { name: hex("d/x"), name_encoding: "hex", step: "committed" }
      const queued = { ...entry, txid: "0".repeat(64), note: "waits for a block" }
      let looks = 0
      const { client: names } = yield* client(({ method }) => {
        if (method === "name_autoregister") return { result: queued }
        if (method !== "name_registrations") return undefined
        return { result: [looks++ < 2 ? queued : { ...entry, txid: TXID }] }
      })
      const result = yield* names.registerName("d/x", "v", { onProgress: (progress) => void told.push(progress) })
      assert.deepStrictEqual(result, { txHash: TXID })
      assert.deepStrictEqual(told, [{ step: "queued", reason: "waits for a block" }, {
        step: "announced",
        txHash: TXID
      }])
    }))

  it.scopedLive("returns after the first step if asked to, and goes on with the second", () =>
    Effect.gen(function*() {
      let locked = 3
      const { calls, client: names } = yield* client(({ method, params }) => {
        if (method === "name_new") return { result: [TXID, RAND] }
        if (method === "gettransaction") return { result: { confirmations: params[0] === TXID ? 12 : 0 } }
        if (method !== "name_firstupdate") return undefined
        return locked-- > 0 ? { code: -13, message: "Error: Please enter the passphrase" } : { result: CLAIM }
      })
      assert.deepStrictEqual(yield* names.registerName("d/x", "v"), { txHash: TXID })
      // The wallet was locked at first: the client retries.
      yield* eventually("four tries", () => callsOf(calls, "name_firstupdate").length === 4)
    }).pipe(quietly))

  it.scopedLive("fails a registration if another owner was faster", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(({ method }) => {
        if (method === "name_new") return { result: [TXID, RAND] }
        if (method === "gettransaction") return { result: { confirmations: 12, hex: spending(CLAIM) } }
        if (method === "name_pending") return { result: [{ txid: OTHER }] }
        if (method === "name_show") return { result: shown("d/x", { txid: OTHER }) }
        return method === "name_firstupdate" ? { code: -25, message: "this name is already active" } : undefined
      })
      const told: Array<RegistrationProgress> = []
      const error = yield* Effect.flip(names.registerName("d/x", "v", {
        waitFor: "claimed",
        onProgress: (progress) => void told.push(progress)
      }))
      assert.strictEqual(error._tag, "RegistrationFailed")
      assert.include(error.message, "already active")
      assert.deepStrictEqual(told.at(-1), { step: "failed", reason: error.message })
    }).pipe(quietly))

  it.scopedLive("finds the claim whose answer was lost, and sends no second one", () =>
    Effect.gen(function*() {
      // The client finds it in the mempool, in a block, or only after its second claim was refused.
      for (const where of ["pending", "block", "late"] as const) {
        let tries = 0
        const { calls, client: names } = yield* client(({ method, params }) => {
          const isThere = where !== "late" || tries > 1
          switch (method) {
            case "name_new":
              return { result: [TXID, RAND] }
            case "gettransaction":
              if (params[0] === TXID) return { result: { confirmations: 12 } }
              if (params[0] === OTHER) return { code: -5, message: "Invalid or non-wallet transaction id" }
              return { result: { confirmations: 1, blockheight: 712, hex: spending(TXID) } }
            case "name_firstupdate":
              return tries++ === 0 ? "hang up" : { code: -25, message: "this name is already being registered" }
            case "name_pending":
              return { result: isThere && where !== "block" ? [{ txid: OTHER }, { txid: CLAIM }] : [] }
            case "name_show":
              return where === "block" ? { result: shown("d/x", { txid: CLAIM }) } : { code: -4, message: "" }
            default:
              return undefined
          }
        })
        assert.deepStrictEqual(yield* names.registerName("d/x", "v", { waitFor: "registered" }), { txHash: CLAIM })
        assert.strictEqual(callsOf(calls, "name_firstupdate").length, where === "late" ? 2 : 1, where)
      }
    }).pipe(quietly))

  it.scopedLive("reports a lost registration if the name went to another owner after the claim", () =>
    Effect.gen(function*() {
      const { client: names } = yield* client(({ method, params }) => {
        if (method === "name_new") return { result: [TXID, RAND] }
        if (method === "name_firstupdate") return { result: CLAIM }
        if (method === "gettransaction") return { result: { confirmations: params[0] === TXID ? 12 : 0 } }
        return method === "name_show" ? { result: shown("d/x", { txid: OTHER }) } : undefined
      })
      const error = yield* Effect.flip(names.registerName("d/x", "v", { waitFor: "registered" }))
      assert.strictEqual(error._tag, "RegistrationFailed")
      assert.include(error.message, "another registration of the name was confirmed first")
    }).pipe(quietly))

  it.scopedLive("registers a name once at a time, and again after a failure", () =>
    Effect.gen(function*() {
      let reply: Reply = { result: [TXID, RAND] }
      const { calls, client: names } = yield* client(({ method }) => {
        if (method === "name_new") return reply
        return method === "gettransaction" ? { result: { confirmations: 0 } } : undefined
      })
      const tags = yield* Effect.forEach(
        [1, 2, 3],
        () => Effect.either(names.registerName("d/x", "v")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tags.filter(Either.isRight).length, 1)
      assert.strictEqual(callsOf(calls, "name_new").length, 1)
      assert.strictEqual((yield* Effect.flip(names.registerName("d/x", "v")))._tag, "NameUnavailable")
      reply = { code: -6, message: "Insufficient funds" }
      assert.strictEqual((yield* Effect.flip(names.registerName("d/y", "v")))._tag, "InsufficientFunds")
      reply = { result: [TXID, RAND] }
      yield* names.registerName("d/y", "v")
    }).pipe(quietly))

  it.scopedLive("does not give up a begun registration because of a proxy, a cookie, a wallet or a listener", () =>
    Effect.gen(function*() {
      const rejections: Array<unknown> = []
      const note = (reason: unknown): void => void rejections.push(reason)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("unhandledRejection", note)),
        () => Effect.sync(() => process.off("unhandledRejection", note))
      )
      const inTheWay: Array<Reply> = [
        { status: 502, body: "<html>" },
        { status: 401 },
        { code: -18, message: "No wallet is loaded." },
        { code: -19, message: "Multiple wallets are loaded." },
        { code: -5, message: "Invalid or non-wallet transaction id" },
        { result: "nonsense" }
      ]
      const { client: names } = yield* client(({ method, params }) => {
        if (method === "name_new") return { result: [TXID, RAND] }
        if (method === "name_firstupdate") return { result: CLAIM }
        if (method === "name_show") return { code: -4, message: "" }
        if (method !== "gettransaction") return undefined
        if (params[0] === TXID) return inTheWay.shift() ?? { result: { confirmations: 12 } }
        return { result: { confirmations: 1, blockheight: 712 } }
      })
      const registering = names.registerName("d/x", "v", {
        waitFor: "registered",
        onProgress: async ({ step }) => {
          // A callback that never ends delays nothing either.
          if (step === "claimed") await new Promise(() => {})
          throw new Error(step)
        }
      })
      assert.deepStrictEqual(yield* registering, { txHash: CLAIM })
      assert.deepStrictEqual([inTheWay, rejections], [[], []])
    }).pipe(quietly))
})
