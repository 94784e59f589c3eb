import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import type { Daemon } from "../../../src/programs/cli/daemon.ts"
import { gatherStatus, status, statusText } from "../../../src/programs/cli/status.ts"
import { waitForNames } from "../../../src/programs/cli/syncRows.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { fakeDaemon, hex } from "./fakeDaemon.ts"

const NOW = 1_800_000_000

const CONNECTION = {
  networkFrom: undefined,
  network: "mainnet" as const,
  dataDir: "/data",
  rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
  cookieFile: undefined,
  rpcAddrFrom: "default"
}

const PIPE = { terminal: false, columns: undefined, colours: false }

const CHAIN = {
  chain: "main",
  blocks: 812_345,
  headers: 812_345,
  bestblockhash: "ab".repeat(32),
  difficulty: 1.5,
  time: NOW - 420,
  verificationprogress: 1,
  initialblockdownload: false,
  warnings: []
}

const NETWORK = {
  subversion: "/svcd:0.1.0(my node)/",
  connections: 10,
  connections_in: 2,
  connections_out: 8,
  networkactive: true,
  warnings: []
}

const name = (text: string, expires_in: number, ismine = true) => ({
  name: hex(text),
  value: hex("{}"),
  expires_in,
  ismine
})

const WHOLE = {
  getblockchaininfo: CHAIN,
  getnetworkinfo: NETWORK,
  getmempoolinfo: { size: 12, bytes: 4_100 },
  uptime: 90_000,
  listwallets: [""],
  getbalances: "{\"mine\":{\"trusted\":12.50000000,\"untrusted_pending\":1.00000000,\"immature\":0.00000000}}",
  getwalletinfo: { walletname: "", unlocked_until: 0 },
  name_list: [name("d/b", 9_000), name("d/a", 1_000), name("d/gone", -3), name("d/given", 5, false)]
}

const shown = (answers: Readonly<Record<string, unknown>>, json = false) =>
  Effect.zipRight(
    TestClock.setTime(NOW * 1000),
    status(fakeDaemon(answers), { connection: CONNECTION, screen: PIPE, json })
  )

const lineOf = (text: string, label: string): string | undefined =>
  text.split("\n").find((line) => line.startsWith(`${label} `))?.slice(label.length).trim()

describe("svcd-cli status", () => {
  it.effect("shows the state of a node", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* shown(WHOLE),
        `svcd 0.1.0 (my node) on mainnet at 127.0.0.1:8336, up 1 day 1 hour

Chain       height 812,345, synced
Last block  7 minutes old, ${"ab".repeat(32)}
Difficulty  1.500
Peers       10 (8 outbound, 2 inbound)
Mempool     12 transactions, 4.1 kB
Wallet      12.50000000 NMC, 1.00000000 unconfirmed, locked
Names       2, the next expires in 1,000 blocks (about 2027-01-22)
`
      )
    }))

  it.effect("shows the progress of a syncing node, never rounded up", () =>
    Effect.gen(function*() {
      const chain = { ...CHAIN, blocks: 400_000, verificationprogress: 0.99999, initialblockdownload: true }
      const text = yield* shown({ getblockchaininfo: chain })
      assert.strictEqual(lineOf(text, "Chain"), "height 400,000 of 812,345, syncing: 99.99 %")
      const behind = yield* shown({ getblockchaininfo: { ...CHAIN, headers: 812_346 } })
      assert.include(lineOf(behind, "Chain"), "syncing")
    }))

  it.effect("takes it from svcd itself whether the chain is there, and shows one number for its progress", () =>
    Effect.gen(function*() {
      const chain = { ...CHAIN, blocks: 0, headers: 0, initialblockdownload: false, verificationprogress: 0.00001 }
      const sync = { phase: "headers", proof: "full", synced: false, percent: 12.3, secondsleft: null, window: null }
      const text = yield* shown({ ...WHOLE, getblockchaininfo: chain, getsyncstatus: sync })
      assert.strictEqual(lineOf(text, "Chain"), "height 0 of 0, syncing")
      assert.strictEqual(lineOf(text, "Sync"), "fetching headers: 12 % done")
      const inJson = (answer: object) =>
        Effect.map(
          shown({ ...WHOLE, getblockchaininfo: chain, getsyncstatus: answer }, true),
          (json) => JSON.parse(json).synced
        )
      assert.isFalse(yield* inJson(sync))
      assert.isTrue(yield* inJson({ ...sync, phase: "ready", synced: true }))
      const window = { blocks: 5, of: 36_100, names: 3, unchecked: 0 }
      assert.isFalse(yield* inJson({ ...sync, phase: "window", window }))
      assert.isTrue(yield* inJson({ ...sync, phase: "signatures", window }))
      const chainRow = (answer: object) =>
        Effect.map(
          shown({ ...WHOLE, getblockchaininfo: chain, getsyncstatus: { ...sync, ...answer } }),
          (shown) => lineOf(shown, "Chain")
        )
      assert.strictEqual(yield* chainRow({ headers: 500, phase: "window", window }), "height 0 of 500, syncing")
      assert.strictEqual(yield* chainRow({ headers: 500, phase: "ready", window }), "height 500, recent blocks only")
    }))

  it.effect("reminds of words that were never shown", () =>
    Effect.gen(function*() {
      const of = (phrase_kept: boolean) => shown({ ...WHOLE, getwalletinfo: { walletname: "", phrase_kept } })
      assert.include(yield* of(false), "Warning: the seed phrase of the wallet was never shown")
      assert.notInclude(yield* of(true), "Warning")
    }))

  it.effect("says how many names the wallet does not renew", () =>
    Effect.gen(function*() {
      const answers = { ...WHOLE, name_autorenew: { all: false, names: [{ name: hex("d/a") }] } }
      assert.match(lineOf(yield* shown(answers), "Names") ?? "", /; 1 not renewed automatically$/)
      assert.strictEqual(JSON.parse(yield* shown(answers, true)).wallet.names_by_hand, 1)
    }))

  const SYNC = {
    phase: "window",
    proof: "work",
    height: 812_345,
    headers: 812_345,
    synced: false,
    percent: 45.67,
    secondsleft: 12,
    window: { blocks: 16_000, of: 36_100, names: 90_000, unchecked: 1_200 }
  }

  it.effect.each([
    { sync: {}, lines: ["fetching the last blocks: 45 % done, about 12 seconds left", "not all names are known yet"] },
    { sync: { secondsleft: null }, lines: ["fetching the last blocks: 45 % done", "not all names are known yet"] },
    {
      sync: { phase: "signatures", synced: true, percent: 9.9, secondsleft: 200 },
      lines: [
        "checking signatures: 9 % done, about 3 minutes left",
        "up to block 812,345, from recent blocks (work), 1,200 signatures to check"
      ]
    },
    {
      sync: { phase: "ready", proof: "signatures", synced: true, window: { ...SYNC.window, unchecked: 0 } },
      lines: [undefined, "up to block 812,345, from recent blocks with checked signatures (signatures)"]
    },
    { sync: { phase: "ready", proof: "full", synced: true, window: null }, lines: [undefined, undefined] },
    { sync: { phase: "swimming" }, lines: [undefined, undefined] }
  ])("shows what a node works on, and what its answers rest on: $sync", ({ lines, sync }) =>
    Effect.gen(function*() {
      const text = yield* shown({ ...WHOLE, getsyncstatus: { ...SYNC, ...sync } })
      assert.deepStrictEqual([lineOf(text, "Sync"), lineOf(text, "Answers")], lines)
    }))

  it.effect("draws a bar on a terminal, as wide as that is", () =>
    Effect.gen(function*() {
      const bar = (columns: number) =>
        Effect.map(
          status(fakeDaemon({ ...WHOLE, getsyncstatus: SYNC }), {
            connection: CONNECTION,
            screen: { terminal: true, columns, colours: false },
            json: false
          }),
          (text) => lineOf(text, "Sync")
        )
      const facts = "fetching the last blocks: 45 % done, about 12 seconds left"
      assert.strictEqual(yield* bar(96), `[##########............] ${facts}`)
      assert.strictEqual(yield* bar(40), facts.slice(0, 27))
    }))

  it.effect("waits until all names are known, with a bar on a terminal", () =>
    Effect.gen(function*() {
      const answers: Record<string, unknown> = { getsyncstatus: SYNC }
      const drawn: Array<string> = []
      const terminal = { columns: 96, write: (text: string) => void drawn.push(text) }
      const waiting = yield* Effect.fork(waitForNames(fakeDaemon(answers), { progress: terminal, note: assert.fail }))
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* Fiber.poll(waiting).pipe(Effect.map(Option.getOrNull)))
      assert.match(drawn.at(-1) ?? "", /^\r\u001b\[2K\[#+\.+\] fetching the last blocks: 45 % done/)
      answers["getsyncstatus"] = { ...SYNC, synced: true, phase: "signatures" }
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
      assert.strictEqual(drawn.at(-1), "\r\u001b[2K")
    }))

  it.effect("waits for the chain of a daemon that tells no more", () =>
    Effect.gen(function*() {
      const answers: Record<string, unknown> = { getblockchaininfo: { ...CHAIN, initialblockdownload: true } }
      const notes: Array<string> = []
      const note = (line: string): void => void notes.push(line)
      const waiting = yield* Effect.fork(waitForNames(fakeDaemon(answers), { progress: undefined, note }))
      yield* TestClock.adjust("5 seconds")
      assert.isNull(yield* Fiber.poll(waiting).pipe(Effect.map(Option.getOrNull)))
      answers["getblockchaininfo"] = CHAIN
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
      // One line for each tenth.
      assert.deepStrictEqual(notes, ["checking blocks: 100 % done"])
    }))

  it.effect("warns of names in danger, of any wallet, and of none while the node is syncing", () =>
    Effect.gen(function*() {
      const names = [
        { name: hex("d/kept"), wallet: "", state: "locked", urgency: "alarm", text: "would renew, but" },
        { name: hex("d/lost"), wallet: "shop", state: "taken", urgency: "alarm", text: "expired 3 blocks ago" }
      ]
      const text = yield* shown({ ...WHOLE, name_alerts: { names, complete: true } })
      assert.include(
        text,
        "Warning: d/kept would renew, but: \"svcd-cli unlock -renewals\" unlocks the wallet for renewals\n"
      )
      assert.include(
        text,
        "Warning: d/lost expired 3 blocks ago: \"svcd-cli -rpcwallet shop dismiss d/lost\" ends this warning\n"
      )
      const many = Array.from({ length: 13 }, (_, i) => ({ ...names[0], name: hex(`d/${i}`) }))
      const cut = yield* shown({ ...WHOLE, name_alerts: { names: many, more: 5, complete: true } })
      assert.include(cut, "Warning: 8 more names are in danger: \"svcd-cli names\" lists them\n")
      assert.notInclude(yield* shown({ ...WHOLE, name_alerts: { names, complete: false } }), "Warning: d/")
    }))

  it.effect("asks in two requests, and fails while the daemon starts", () =>
    Effect.gen(function*() {
      const requests: Array<ReadonlyArray<string>> = []
      const daemonOf = (answers: Readonly<Record<string, unknown>>): Daemon => {
        const { ask, batch, ...rest } = fakeDaemon(answers)
        return {
          ...rest,
          ask: (method, params) => Effect.zipRight(Effect.sync(() => requests.push([method])), ask(method, params)),
          batch: (calls) =>
            Effect.zipRight(Effect.sync(() => requests.push(calls.map(({ method }) => method))), batch(calls))
        }
      }
      const answers = yield* gatherStatus(daemonOf(WHOLE))
      assert.deepStrictEqual(requests.map(({ length }) => length), [1, 11])
      assert.match(statusText(answers, CONNECTION, PIPE), /^svcd 0\.1\.0 \(my node\) on mainnet/)
      const starting = new RpcFailure({ code: -28, message: "Loading blocks" })
      const failed = yield* Effect.flip(gatherStatus(daemonOf({ ...WHOLE, getbalances: starting })))
      assert.strictEqual(failed.message, "Loading blocks")
    }))

  it.effect("omits facts that a daemon does not report", () =>
    Effect.gen(function*() {
      const text = yield* shown({ getblockchaininfo: CHAIN })
      assert.match(text, /^a daemon on mainnet at 127\.0\.0\.1:8336\n/)
      assert.notMatch(text, /Peers|Mempool|Wallet|Names|undefined|NaN/)
    }))

  it.effect.each([
    { listwallets: [], line: "none is loaded" },
    { listwallets: ["a", "b"], line: "2 are loaded; -rpcwallet NAME selects one" }
  ])("shows wallets $listwallets as: $line", ({ line, listwallets }) =>
    Effect.gen(function*() {
      assert.strictEqual(lineOf(yield* shown({ getblockchaininfo: CHAIN, listwallets }), "Wallet"), line)
    }))

  it.effect("tells a wallet that renews names alone from one that signs everything", () =>
    Effect.gen(function*() {
      const walletOf = (renewals_only: boolean) => {
        const answers = { ...WHOLE, getwalletinfo: { walletname: "", unlocked_until: NOW + 1e9, renewals_only } }
        return Effect.all([
          Effect.map(shown(answers), (text) => lineOf(text, "Wallet")),
          Effect.map(shown(answers, true), (text) => JSON.parse(text).wallet.renewals_only)
        ])
      }
      assert.deepStrictEqual(yield* walletOf(true), [
        "12.50000000 NMC, 1.00000000 unconfirmed, unlocked for renewals only",
        true
      ])
      assert.deepStrictEqual(yield* walletOf(false), ["12.50000000 NMC, 1.00000000 unconfirmed, unlocked", false])
    }))

  it.effect("shows each warning once, complete and escaped", () =>
    Effect.gen(function*() {
      const warnings = ["the clock is wrong\u001b[31m", "w".repeat(200)]
      const text = yield* shown({
        getblockchaininfo: { ...CHAIN, warnings },
        getnetworkinfo: { ...NETWORK, warnings: warnings[1] }
      })
      assert.include(text, "Warning: the clock is wrong\\u001b[31m\n")
      assert.lengthOf(text.split("w".repeat(200)), 2)
    }))

  it.effect("distinguishes disabled networking from a lack of peers", () =>
    Effect.gen(function*() {
      const of = (network: object) =>
        Effect.map(
          shown({ getblockchaininfo: CHAIN, getnetworkinfo: { ...NETWORK, ...network } }),
          (text) => lineOf(text, "Peers")
        )
      assert.strictEqual(yield* of({ connections: 0 }), "none")
      const alone = { ...WHOLE, getnetworkinfo: { ...NETWORK, connections: 0 } }
      assert.include(yield* shown(alone), "Warning: no peers, so no new blocks: check the network")
      assert.notInclude(yield* shown({ ...alone, uptime: 30 }), "Warning")
      assert.notInclude(yield* shown({ ...alone, getblockchaininfo: { ...CHAIN, chain: "regtest" } }), "Warning")
      const offline = { ...alone, getsyncstatus: { phase: "ready", percent: 100, window: null, offline: true } }
      const told = yield* shown(offline)
      assert.strictEqual(lineOf(told, "Peers"), "turned off (-maxpeers 0)")
      assert.notInclude(told, "Warning")
      const { peers } = JSON.parse(yield* shown(offline, true))
      assert.deepInclude(peers, { total: 0, active: true, wanted: false })
      assert.strictEqual(yield* of({ networkactive: false }), "networking is turned off")
    }))

  it.effect("prints JSON for programs, with amounts in their spelling", () =>
    Effect.gen(function*() {
      const text = yield* shown(WHOLE, true)
      assert.include(text, "\"balance\": 12.50000000")
      const { wallet, ...rest } = JSON.parse(text)
      assert.deepStrictEqual(rest, {
        network: "mainnet",
        version: "svcd 0.1.0 (my node)",
        uptime: 90_000,
        blocks: 812_345,
        headers: 812_345,
        synced: true,
        progress: 1,
        best_block: "ab".repeat(32),
        best_block_time: NOW - 420,
        difficulty: 1.5,
        peers: { total: 10, inbound: 2, outbound: 8, active: true, wanted: true },
        mempool: { transactions: 12, bytes: 4_100 },
        wallets: [""],
        names_in_danger: [],
        warnings: []
      })
      assert.deepInclude(wallet, { name: "", names: 2, next_expires_in: 1_000, unlocked_until: 0 })
      assert.isNull(JSON.parse(yield* shown({ getblockchaininfo: CHAIN }, true)).wallet)
    }))

  it.effect("fails with the error of a daemon that is still starting", () =>
    Effect.gen(function*() {
      const starting = new RpcFailure({ code: -28, message: "Loading block index…" })
      const error = yield* Effect.flip(shown({ getblockchaininfo: starting }))
      assert.strictEqual(error, starting)
      assert.strictEqual(yield* Effect.flip(shown({ ...WHOLE, uptime: starting })), starting)
    }))
})
