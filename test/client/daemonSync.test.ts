import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Logger, Stream } from "effect"
import { decodeConfig } from "../../src/client/config.ts"
import * as DaemonClient from "../../src/client/daemonClient.ts"
import type { ClientConfig } from "../../src/client/NameClient.ts"
import { type Call, fakeDaemon, INFO, type Reply } from "../support/fakeDaemon.ts"

const quietly = Effect.provide(Logger.remove(Logger.defaultLogger))

const hex = (text: string): string => Buffer.from(text).toString("hex")

const shown = (name: string, more: object = {}) => ({
  name: hex(name),
  value: hex("{}"),
  txid: "a".repeat(64),
  address: "ncrt1qexample",
  height: 690,
  expires_in: 20,
  expired: false,
  ...more
})

const WINDOW = { blocks: 100, of: 200, names: 40, unchecked: 7 }

/** What svcd answers while a window is filled. */
const STATUS = {
  phase: "window",
  proof: "work",
  height: 700,
  headers: 700,
  synced: false,
  percent: 42.5,
  secondsleft: 12,
  window: WINDOW
}

const CHECKING = { ...STATUS, phase: "signatures", synced: true, percent: 10, secondsleft: null }
const LIGHT = { ...CHECKING, phase: "ready", proof: "signatures", percent: 100, window: { ...WINDOW, unchecked: 0 } }
const FULL = { ...LIGHT, proof: "full", window: null }

const client = (answer: (call: Call) => Reply | undefined, config: ClientConfig = {}) =>
  Effect.gen(function*() {
    const { calls, port } = yield* fakeDaemon(answer)
    const decoded = yield* decodeConfig({ network: "regtest", rpcAddr: `http://127.0.0.1:${port}`, ...config })
    return { names: yield* DaemonClient.make(decoded, { interval: 5, firstPause: 10 }), calls }
  })

/** The options of the last call. */
const lastOptions = (calls: ReadonlyArray<Call>): unknown => calls.at(-1)?.params.at(-1)

describe("the client over a daemon that tells how far it is", () => {
  it.scopedLive("takes freshness and proof from the daemon, and each record's own", () =>
    Effect.gen(function*() {
      const { calls, names } = yield* client(({ method }) => {
        if (method === "getsyncstatus") return { result: CHECKING }
        return method === "name_show" ? { result: shown("d/x", { proof: "signatures" }) } : undefined
      })
      assert.deepStrictEqual(yield* names.freshness, { height: 700, synced: true, proof: "work" })
      const { asOf } = yield* names.resolveName("d/x")
      assert.deepStrictEqual(asOf, { height: 700, synced: true, proof: "signatures" })
      assert.deepStrictEqual(calls.slice(-2).map(({ method }) => method), ["getsyncstatus", "name_show"])
      assert.notProperty(lastOptions(calls), "requireProof")
      yield* names.resolveName("d/x", { requireSynced: true, requireProof: "signatures" })
      assert.include(lastOptions(calls), { requireProof: "signatures" })
    }))

  it.scopedLive("says how long it takes where the daemon cannot answer yet", () =>
    Effect.gen(function*() {
      let status: object = STATUS
      const { names } = yield* client(({ method }) => {
        if (method === "getsyncstatus") return { result: status }
        return method.startsWith("name_") ? { code: -10, message: "in its own words" } : undefined
      })
      const failure = yield* Effect.flip(names.resolveName("d/x"))
      assert.deepInclude({ ...failure }, {
        _tag: "NotSynced",
        height: 700,
        phase: "window",
        percent: 42.5,
        secondsLeft: 12
      })
      assert.strictEqual(
        failure.message,
        "names are known up to block 700 so far, which is not recent enough " +
          "(fetching the last blocks: 42 % done, about 12 seconds left)"
      )
      status = CHECKING
      const unsigned = yield* Effect.flip(names.resolveName("d/x", { requireProof: "signatures" }))
      assert.strictEqual(
        unsigned.message,
        "the answer does not rest on \"signatures\" (checking signatures: 10 % done)"
      )
      const list = yield* Effect.flip(names.listNames({ requireProof: "signatures" }))
      assert.deepInclude({ ...list }, { _tag: "NotSynced", phase: "signatures" })
    }))

  it.scopedLive("believes that a name does not exist, with the proof that it asked for", () =>
    Effect.gen(function*() {
      const { calls, names } = yield* client(({ method }) => {
        if (method === "getsyncstatus") return { result: CHECKING }
        return method === "name_show" ? { code: -4, message: "name never existed: 'd/x'" } : undefined
      })
      const failure = yield* Effect.flip(names.resolveName("d/x", { requireProof: "signatures" }))
      assert.strictEqual(failure._tag, "NameNotFound")
      assert.include(lastOptions(calls), { requireProof: "signatures" })
    }))

  it.scopedLive("asks for the proof of its configuration, unless a call asks for another", () =>
    Effect.gen(function*() {
      const { calls, names } = yield* client(({ method }) => {
        if (method === "getsyncstatus") return { result: LIGHT }
        if (method === "name_scan") return { result: [shown("d/x", { proof: "signatures" })] }
        return method === "name_show" ? { result: shown("d/x", { proof: "signatures" }) } : undefined
      }, { requireProof: "signatures" })
      yield* names.resolveName("d/x")
      assert.include(lastOptions(calls), { requireProof: "signatures" })
      yield* names.resolveName("d/x", { requireProof: "work" })
      assert.include(lastOptions(calls), { requireProof: "work" })
      assert.lengthOf(yield* names.listNames({ namespace: "d/" }), 1)
      assert.include(lastOptions(calls), { requireProof: "signatures" })
      assert.deepStrictEqual(yield* names.ready(), { height: 700, synced: true, proof: "signatures" })
    }))

  it.scopedLive("reports progress until the daemon waits for nothing, and each change once", () =>
    Effect.gen(function*() {
      const steps = [STATUS, STATUS, STATUS, { ...STATUS, percent: 80 }, CHECKING, LIGHT]
      let at = 0
      const { names } = yield* client(({ method }) =>
        method === "getsyncstatus" ? { result: steps[Math.min(at++, steps.length - 1)] } : undefined
      )
      const reports = Chunk.toReadonlyArray(yield* Stream.runCollect(names.progress))
      assert.deepStrictEqual(reports.map(({ percent, phase }) => [phase, percent]), [
        ["window", 42.5],
        ["window", 80],
        ["signatures", 10],
        ["ready", 100]
      ])
      assert.deepStrictEqual(reports[0], {
        phase: "window",
        proof: "work",
        height: 700,
        headers: 700,
        synced: false,
        percent: 42.5,
        secondsLeft: 12,
        window: WINDOW
      })
    }))

  it.scopedLive("waits for the names with the proof that is asked for, but not for one that never comes", () =>
    Effect.gen(function*() {
      let status = STATUS as object
      const { names } = yield* client(({ method }) => method === "getsyncstatus" ? { result: status } : undefined)
      const [work, signatures, full] = yield* Effect.all([
        Effect.fork(names.ready()),
        Effect.fork(names.ready("signatures")),
        Effect.fork(Effect.flip(names.ready("full")))
      ])
      status = CHECKING
      assert.deepStrictEqual(yield* Fiber.join(work), { height: 700, synced: true, proof: "work" })
      assert.strictEqual((yield* Fiber.poll(signatures))._tag, "None")
      status = LIGHT
      assert.deepStrictEqual(yield* Fiber.join(signatures), { height: 700, synced: true, proof: "signatures" })
      assert.deepInclude({ ...(yield* Fiber.join(full)) }, { _tag: "InvalidRequest", field: "level" })
      status = FULL
      assert.strictEqual((yield* names.ready("full")).proof, "full")
    }))

  it.scopedLive("says at its limit that the daemon has no peer", () =>
    Effect.gen(function*() {
      const { names } = yield* client(({ method }) => {
        if (method === "getsyncstatus") return { result: STATUS }
        return method === "getconnectioncount" ? { result: 0 } : undefined
      })
      const late = yield* Effect.flip(names.ready({ within: 50 }))
      assert.strictEqual(late._tag, "NotSynced")
      assert.include(late.message, "no peer is connected")
    }))

  it.scopedLive("forecasts by itself for a daemon that tells only its chain, and asks it for no proof", () =>
    Effect.gen(function*() {
      let verificationprogress = 0.1
      const info = (): object => ({ ...INFO, blocks: 70, initialblockdownload: true, verificationprogress })
      const { calls, names } = yield* client(({ method }) => {
        if (method === "getblockchaininfo") return { result: verificationprogress < 1 ? info() : INFO }
        return method === "name_show" ? { result: shown("d/x") } : undefined
      })
      const { asOf } = yield* names.resolveName("d/x", { requireProof: "full" })
      assert.deepStrictEqual(asOf, { height: 70, synced: false, proof: "full" })
      assert.notProperty(lastOptions(calls), "requireProof")
      const first = yield* Stream.runHead(names.progress)
      assert.deepInclude(first.pipe(Effect.runSync), { phase: "blocks", percent: 10, synced: false, proof: "full" })
      verificationprogress = 1
      assert.deepStrictEqual(yield* names.ready("full"), { height: 700, synced: true, proof: "full" })
    }))

  it.scopedLive("goes on when a daemon of another kind takes the place of the first", () =>
    Effect.gen(function*() {
      let isOurs = true
      const { names } = yield* client(({ method }) =>
        method === "getsyncstatus" && isOurs ? { result: LIGHT } : undefined
      )
      assert.strictEqual((yield* names.freshness).proof, "signatures")
      isOurs = false
      assert.deepStrictEqual(yield* names.freshness, { height: 700, synced: true, proof: "full" })
    }))

  it.scopedLive("refuses a report that no daemon of svcd makes", () =>
    Effect.gen(function*() {
      const replies: ReadonlyArray<object> = [
        { ...STATUS, percent: 101 },
        { ...STATUS, secondsleft: -1 },
        { ...STATUS, height: 1.5 },
        { ...STATUS, phase: "sleeping" },
        { ...STATUS, proof: "none" },
        { ...STATUS, window: { ...WINDOW, of: "many" } },
        {}
      ]
      for (const reply of replies) {
        const { names } = yield* client(({ method }) => method === "getsyncstatus" ? { result: reply } : undefined)
        assert.strictEqual((yield* Effect.flip(names.freshness))._tag, "DaemonRefused", JSON.stringify(reply))
      }
    }).pipe(quietly))
})
