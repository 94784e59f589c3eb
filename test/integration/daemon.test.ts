import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "../support/chain.ts"
import { program, run, startNode, startNodeUnder, wholeDirectory } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { fixtureJson, ownFixture } from "../support/fixtures.ts"

interface Expected {
  readonly tipHash: string
  readonly checkpoints: ReadonlyArray<{ readonly utxo: { readonly hash_serialized_3: string } }>
}

interface TipNames {
  readonly names: ReadonlyArray<{
    readonly nameHex: string
    readonly show: { readonly expired: boolean; readonly value: string; readonly txid: string }
  }>
}

const FILE = ownFixture("regtest-names/blocks.dat")
const { checkpoints, tipHash } = fixtureJson<Expected>("regtest-names/expected.json")
const { names } = fixtureJson<TipNames>("regtest-names/tip-names.json")
const HEX = { nameEncoding: "hex", valueEncoding: "hex" }

const coins = checkpoints.at(-1)?.utxo.hash_serialized_3

describe("svcd", () => {
  it.scopedLive("imports a chain, answers for its names, and keeps both over a restart", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      // Without a wallet, which would add to each name whose it is.
      const node = yield* startNode(directory, "-disablewallet", "-loadblock", FILE)
      yield* node.ready
      assert.strictEqual(yield* node.call("getbestblockhash"), tipHash)
      for (const { nameHex, show } of names.filter((name) => !name.show.expired).slice(0, 20)) {
        assert.deepStrictEqual(yield* node.call("name_show", nameHex, HEX), show)
      }
      assert.isTrue(yield* node.call("name_checkdb"))
      const ended = yield* node.running.end()
      assert.deepStrictEqual([ended.code, ended.stderr], [0, ""])
      assert.match(ended.stdout, /node stopped\n$/)
      const again = yield* startNode(directory)
      yield* again.ready
      assert.deepInclude(yield* again.call("gettxoutsetinfo"), { bestblock: tipHash, hash_serialized_3: coins })
      assert.notMatch(again.running.stdout, /repaired/)
    }))

  it.scopedLive("killed at any moment of an import, it goes on to the very same state", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      // Heights at which the process is killed, so that the moments spread over the import on every machine.
      for (const height of [1, 60, 200, 350, 500]) {
        const node = yield* startNode(directory, "-loadblock", FILE)
        yield* node.call("getblockcount").pipe(
          Effect.filterOrFail((count) => typeof count === "number" && count >= height, () => "too early"),
          Effect.retry(Schedule.spaced("1 millis"))
        )
        yield* node.running.end("SIGKILL")
      }
      const node = yield* startNode(directory, "-loadblock", FILE)
      yield* node.ready
      assert.deepInclude(yield* node.call("gettxoutsetinfo"), { bestblock: tipHash, hash_serialized_3: coins })
      assert.isTrue(yield* node.call("name_checkdb"))
    }))

  it.scopedLive("goes on resolving names where blocks and chain state were deleted", () =>
    Effect.gen(function*() {
      const directory = yield* wholeDirectory
      for (const name of ["blocks", "chainstate"]) rmSync(join(directory, name), { recursive: true })
      const node = yield* startNode(directory)
      // The names are those of a chain that is missing: the node answers, and is not ready.
      yield* Effect.retry(node.call("getblockcount"), Schedule.spaced("20 millis"))
      assert.strictEqual(yield* node.call("getblockcount"), 0)
      assert.strictEqual(yield* node.status("/ready"), 503)
      const alive = names.find(({ show }) => !show.expired)
      assert.isDefined(alive)
      assert.deepInclude(yield* node.call("name_show", alive.nameHex, HEX), {
        value: alive.show.value,
        txid: alive.show.txid
      })
      yield* node.running.end()
      const synced = yield* startNode(directory, "-loadblock", FILE)
      yield* synced.ready
      assert.deepInclude(yield* synced.call("gettxoutsetinfo"), { bestblock: tipHash, hash_serialized_3: coins })
      assert.isTrue(yield* synced.call("name_checkdb"))
    }))

  it.scopedLive("rebuilds names.db from the stored blocks where it is gone", () =>
    Effect.gen(function*() {
      const directory = yield* wholeDirectory
      for (const name of readdirSync(directory)) if (name.startsWith("names.db")) rmSync(join(directory, name))
      const node = yield* startNode(directory, "-disablewallet")
      yield* node.ready
      const alive = names.find(({ show }) => !show.expired)
      assert.isDefined(alive)
      assert.deepStrictEqual(yield* node.call("name_show", alive.nameHex, HEX), alive.show)
      assert.isTrue(yield* node.call("name_checkdb"))
    }))

  it.scopedLive("stops by RPC, with the answer given first, and leaves the directory to the next", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const node = yield* startNode(directory)
      yield* node.ready
      assert.strictEqual(yield* node.call("stop"), "svcd stopping")
      assert.strictEqual((yield* node.running.ended).code, 0)
      const next = yield* startNode(directory)
      yield* next.ready
    }))

  it.scopedLive("refuses a data directory that is in use, and one of another network", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const node = yield* startNode(directory)
      yield* node.ready
      const flags = ["-datadir", directory, "-rpcaddr", "127.0.0.1:1", "-maxpeers", "0"]
      const second = yield* run("svcd", "-network", "regtest", ...flags)
      assert.strictEqual(second.code, 1)
      assert.include(second.stderr, directory)
      yield* node.running.end()
      const foreign = yield* run("svcd", "-network", "testnet", ...flags)
      assert.strictEqual(foreign.code, 1)
      assert.match(foreign.stderr, /regtest.*testnet|testnet.*regtest/s)
    }))

  it.scopedLive("names the import file that is not there, and leaves nothing running", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const missing = join(directory, "missing.dat")
      const ended = yield* Effect.flatMap(startNode(join(directory, "data"), "-loadblock", missing), ({ running }) =>
        running.ended)
      assert.strictEqual(ended.code, 1)
      assert.include(ended.stderr, missing)
      assert.isBelow(ended.stderr.trim().split("\n").length, 7)
    }))

  it.scopedLive("keeps its files to itself: 700 for the directory, 600 for what is in it", () =>
    Effect.gen(function*() {
      const parent = yield* temporaryDirectory
      const directory = join(parent, "deep", "er")
      const node = yield* startNode(directory)
      yield* node.ready
      yield* node.running.end()
      assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
      for (const name of ["names.db", "blocks", "chainstate"]) assert.isTrue(existsSync(join(directory, name)), name)
      assert.strictEqual(statSync(join(directory, "blocks", "blk00000.dat")).mode & 0o777, 0o600)
    }))

  it.each(["svcd", "svcd-cli"])("%s runs in strict mode", (name) => {
    const [first = "", second] = readFileSync(program(name).replace(/\.js$/, ".main.cjs"), "latin1").split("\n", 2)
    assert.strictEqual(first.startsWith("#!") ? second : first, "\"use strict\";")
  })

  it.scopedLive("keeps its compiled code soon after its first start", () =>
    Effect.gen(function*() {
      const parent = yield* temporaryDirectory
      const cache = join(parent, "cache", "svcd")
      yield* startNodeUnder(
        ["env", "-u", "CACHE_DIRECTORY", `XDG_CACHE_HOME=${join(parent, "cache")}`],
        join(parent, "data")
      )
      const kept = (): ReadonlyArray<string> => existsSync(cache) ? readdirSync(cache) : []
      yield* eventually("the code is kept", () => kept().some((name) => /^svcd-[0-9a-f]{32}$/.test(name)))
      for (const name of kept()) assert.isAbove(statSync(join(cache, name)).size, 1_000_000)
    }))
})

describe("svcd-cli", () => {
  it.scopedLive("prints what the node answers, and fails with the code of the error", () =>
    Effect.gen(function*() {
      const node = yield* startNode(yield* wholeDirectory)
      yield* node.ready
      const cli = (...args: ReadonlyArray<string>) => run("svcd-cli", "-rpcaddr", `127.0.0.1:${node.port}`, ...args)
      const count = yield* cli("getblockcount")
      assert.deepStrictEqual([count.code, count.stdout], [0, "600\n"])
      const unknown = yield* cli("name_show", "d/absent")
      assert.strictEqual(unknown.code, 4)
      assert.include(unknown.stderr, "name never existed: 'd/absent'")
    }))
})
