import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { nameEffects } from "../../src/consensus/names.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { keptOf } from "../../src/light/nameWindow.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import { nameScript, parseNameScript } from "../../src/protocol/nameOperation.ts"
import { encodeText } from "../../src/protocol/nameText.ts"
import { decodeTransaction, makeTransaction } from "../../src/protocol/transaction.ts"
import { blocksOf, temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, startNode, until, wholeDirectory } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"

/** Light nodes as daemons, and the handover of their names to the whole chain. */

const BLOCKS = blocksOf("regtest-names/blocks.dat")
const TIP = 600
const ANCHOR = 450

const isPhase = (phase: string) => (status: unknown): boolean => Object(status).phase === phase
const isWhole = (status: unknown): boolean => isPhase("ready")(status) && Object(status).window === null

/** A node that has the whole chain and accepts peers. */
const peer = Effect.gen(function*() {
  const address = `127.0.0.1:${yield* freePort}`
  const node = yield* startNode(yield* wholeDirectory, "-maxpeers", "20", "-listen", address)
  yield* node.ready
  return { node, address }
})

const anchorOf = (node: Node) =>
  Effect.gen(function*() {
    const hash = yield* node.call("getblockhash", ANCHOR)
    const header = yield* node.call("getblockheader", hash)
    return `-anchor=${ANCHOR}:${String(hash)}:${String(Object(header).chainwork)}`
  })

/** Living names that are plain text, as the node lists them, without the members that a wallet or a proof adds. */
const namesOf = (node: Node) =>
  Effect.map(node.call("name_scan", "", 10_000, { valueEncoding: "hex" }), (list) => {
    const records: ReadonlyArray<Record<string, unknown>> = Array.isArray(list) ? list : assert.fail("no list")
    return records.filter(({ expired, name }) => expired === false && name !== undefined)
      .map(({ ismine: _, proof: __, ...record }) => record)
  })

const body = (node: Node, path: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`http://127.0.0.1:${node.port}${path}`)
    return { status: answer.status, json: Object(await answer.json()) }
  })

/** A window of the chain of the fixture, as a light node that has ended leaves it. `changed`: one name has another value. */
const fillWindow = (directory: string, changed = false): string | undefined => {
  const file = new WindowFile(join(directory, "names-window.db"), 4096)
  try {
    const chain = new LightChain(file, new LightHeaders(new BlockIndex(), regtestParams, () => 1_900_000_000))
    for (const block of BLOCKS.slice(1)) chain.headers.accept(block)
    chain.begin()
    for (const block of BLOCKS.slice(1).toReversed()) {
      chain.take(block)
      chain.settle()
    }
    chain.flush()
    assert.isTrue(chain.isComplete)
    if (!changed) return undefined
    // The last operation on a name, with another value in its output.
    const height = BLOCKS.findLastIndex((block, at) => nameEffects(block, at, regtestParams).length > 0)
    const block = BLOCKS[height] ?? assert.fail("there is no name")
    const operations = keptOf({ block, height, params: regtestParams }).operations
    const [last = assert.fail("no operation"), ...others] = operations
    const transaction = decodeTransaction(last.tx)
    const outputs = transaction.outputs.map((output, at) => {
      if (at !== last.vout) return output
      const { address } = parseNameScript(output.script) ?? assert.fail("no name script")
      const operation = { op: "name_update", name: last.name, value: Uint8Array.of(33) } as const
      return { ...output, script: nameScript(operation, address) }
    })
    file.change((changes) => {
      changes.removeFrom(height)
      changes.add([{ ...last, tx: makeTransaction({ ...transaction, outputs }).bytes }, ...others])
    })
    return encodeText(last.name, "utf8") ?? assert.fail("no text")
  } finally {
    file.close()
  }
}

/** Waits until the whole chain answers, and the window is gone. */
const handedOver = (node: Node, directory: string) =>
  Effect.zipRight(
    until(node, "getsyncstatus", isWhole),
    eventually("the window is removed", () => !windowIn(directory))
  )

const SAME = "names come from the whole chain: the window had the same"

const windowIn = (directory: string): boolean => existsSync(join(directory, "names-window.db"))

describe("a light node", () => {
  it.scopedLive(
    "answers from an anchor on, refuses what needs coins, and goes on to the whole chain",
    () =>
      Effect.gen(function*() {
        const { address, node: full } = yield* peer
        const anchor = yield* anchorOf(full)
        const expected = yield* namesOf(full)
        const directory = yield* temporaryDirectory
        const flags = ["-maxpeers", "8", "-addpeer", address, anchor]
        const light = yield* startNode(directory, "-sync=light", "-listen", `127.0.0.1:${yield* freePort}`, ...flags)
        yield* light.namesReady
        yield* until(light, "getsyncstatus", isPhase("ready"))
        const status = Object(yield* light.call("getsyncstatus"))
        assert.deepInclude(status, { proof: "signatures", height: TIP, headers: TIP, synced: true, percent: 100 })
        assert.isAbove(status.window.names, 0)
        assert.deepStrictEqual(yield* namesOf(light), expected)
        const names = yield* body(light, "/ready?names")
        const stated = { phase: "ready", proof: "signatures", syncing: false, block_height: 0, names_height: TIP }
        assert.deepInclude({ code: names.status, ...names.json }, { code: 200, ...stated, status: "ready" })
        const chain = yield* body(light, "/ready")
        assert.deepInclude({ code: chain.status, ...chain.json }, { code: 503, ...stated, status: "light" })
        const name = String(expected[0]?.name)
        assert.include(["work", "signatures"], Object(yield* light.call("name_show", name)).proof)
        const refused = [
          yield* Effect.flip(light.call("name_show", name, { requireProof: "full" })),
          yield* Effect.flip(light.call("name_history", name)),
          yield* Effect.flip(light.call("name_new", "d/new"))
        ]
        assert.deepStrictEqual(refused.map((error) => Object(error).code), [-10, -10, -10])
        assert.strictEqual(Object(yield* Effect.flip(light.call("name_show", "d/absent"))).code, -4)
        const [connection] = Object(yield* light.call("getpeerinfo"))
        assert.strictEqual(Object(connection).inbound, false)
        const { localservicesnames } = Object(yield* light.call("getnetworkinfo"))
        assert.notInclude(localservicesnames, "NETWORK")
        assert.notInclude(localservicesnames, "NETWORK_LIMITED")
        yield* light.running.end("SIGKILL")

        const whole = yield* startNode(directory, ...flags)
        yield* whole.ready
        const { json } = yield* body(whole, "/ready?names")
        assert.deepInclude(json, { status: "ready", proof: "full", block_height: TIP, names_height: TIP })
        yield* handedOver(whole, directory)
        yield* eventually("the log tells of the handover", () => whole.running.stdout.includes(SAME))
        assert.isFalse(existsSync(join(directory, "light-peers.json")))
        assert.deepStrictEqual(yield* namesOf(whole), expected)
        assert.notProperty(yield* whole.call("name_show", name), "proof")
        yield* whole.running.end()

        // A chain that was complete stays.
        const again = yield* startNode(directory, "-sync=light", ...flags)
        yield* until(again, "getsyncstatus", isWhole)
        assert.isFalse(windowIn(directory))
      }),
    120_000
  )

  it.scopedLive("that has the whole chain as its aim answers from a window first", () =>
    Effect.gen(function*() {
      const { address, node: full } = yield* peer
      const directory = yield* temporaryDirectory
      const node = yield* startNode(directory, "-maxpeers", "8", "-addpeer", address, yield* anchorOf(full))
      yield* handedOver(node, directory)
      assert.include(node.running.stdout, "light sync: new phase")
      yield* eventually("the log tells of the handover", () => node.running.stdout.includes(SAME))
      assert.deepStrictEqual(yield* namesOf(node), yield* namesOf(full))
    }), 120_000)
})

describe("the headers of a window", () => {
  it.scopedLive("are those of the whole chain too, even after a kill", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      fillWindow(directory)
      for (let kill = 0; kill < 2; kill++) {
        // Without peers.
        const node = yield* startNode(directory)
        yield* node.namesReady
        yield* until(node, "getblockchaininfo", (info) => Object(info).headers === TIP)
        assert.strictEqual(Object(yield* node.call("getblockchaininfo")).blocks, 0)
        yield* node.running.end("SIGKILL")
      }
    }), 120_000)
})

describe("the handover", () => {
  it.scopedLive(
    "reports names that differ: in the log, in a metric and on /health, and the chain's are right",
    () =>
      Effect.gen(function*() {
        const directory = yield* wholeDirectory
        const name = fillWindow(directory, true)
        const metrics = `127.0.0.1:${yield* freePort}`
        const node = yield* startNode(directory, "-metricsaddr", metrics)
        yield* until(node, "getsyncstatus", isWhole)
        yield* eventually("the log has the error", () => node.running.stdout.includes("names of the window differ"))
        assert.include(node.running.stdout, String(name))
        assert.notStrictEqual(Object(yield* node.call("name_show", name)).value, "!")
        const text = yield* Effect.promise(async () => (await fetch(`http://${metrics}/metrics`)).text())
        assert.include(text, "svcd_light_handovers_total{outcome=\"different\"} 1")
        const noticed = body(node, "/health").pipe(
          Effect.filterOrFail(({ json }) => json.notices !== undefined, () => "no notice"),
          Effect.retry(Schedule.spaced("20 millis")),
          Effect.timeout("20 seconds")
        )
        assert.strictEqual((yield* noticed).json.notices[0].what, "names-window-different.db")
        assert.isFalse(windowIn(directory))
        assert.isTrue(existsSync(join(directory, "names-window-different.db")))
      }),
    120_000
  )

  it.scopedLive("survives SIGKILL at any moment", () =>
    Effect.gen(function*() {
      const directory = yield* wholeDirectory
      fillWindow(directory)
      for (let kill = 0; kill < 4 && windowIn(directory); kill++) {
        const node = yield* startNode(directory)
        yield* node.namesReady
        yield* until(node, "getsyncstatus", (status) => kill < 2 || !windowIn(directory) || isWhole(status))
        yield* node.running.end("SIGKILL")
      }
      const node = yield* startNode(directory)
      yield* handedOver(node, directory)
      assert.isAbove((yield* namesOf(node)).length, 0)
    }), 120_000)
})
