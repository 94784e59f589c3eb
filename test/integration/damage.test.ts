import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { blocksOf, temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, startNode, until, wholeDirectory } from "../support/daemon.ts"
import { fixtureJson } from "../support/fixtures.ts"

/** Stored blocks that are damaged or missing, in daemons that are connected to each other. */

const ADDRESS = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"
const OTHER_ADDRESS = "mkBg6GwqZ4XdYQ72vTEqiwfgb6T6WRSDm5"
const blocks = blocksOf("regtest-names/blocks.dat")

const { tipHash } = fixtureJson<{ readonly tipHash: string }>("regtest-names/expected.json")

/** The last height of the fixture. */
const TIP = 600

const bytesOf = (height: number): Uint8Array => blocks[height]?.bytes ?? assert.fail(`no block ${height}`)

/** Services by their words. */
const services = (node: Node) =>
  Effect.map(node.call("getnetworkinfo"), (info) => {
    const names = info !== null && typeof info === "object" && "localservicesnames" in info
      ? info.localservicesnames
      : undefined
    return Array.isArray(names) ? names.map(String) : []
  })

const checkInfo = (node: Node) =>
  Effect.map(node.call("getcheckinfo"), (info) => {
    const { doubts, missing_blocks } = { doubts: undefined, missing_blocks: undefined, ...Object(info) }
    return { doubts: Array.isArray(doubts) ? doubts.length : -1, missing: missing_blocks }
  })

/** A block as its hexadecimal digits; `undefined` where the node does not serve it. */
const raw = (node: Node, hash: unknown) => Effect.orElseSucceed(node.call("getblock", hash, 0), () => undefined)

const hashAt = (node: Node, height: number) => node.call("getblockhash", height)

/** A node that has the whole chain and accepts peers. */
const peer = Effect.gen(function*() {
  const port = yield* freePort
  const address = `127.0.0.1:${port}`
  const node = yield* startNode(yield* wholeDirectory, "-maxpeers", "20", "-listen", address)
  yield* node.ready
  return { node, address }
})

/** Cuts the last three blocks off, and flips a bit in the witness or body of one in the middle. */
const damage = (directory: string, middle: number): void => {
  const file = join(directory, "blocks", "blk00000.dat")
  const bytes = readFileSync(file)
  const at = bytes.indexOf(bytesOf(middle)) + bytesOf(middle).length - 6
  bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at)
  writeFileSync(file, bytes)
  truncateSync(file, bytes.indexOf(bytesOf(TIP - 2)) + 20)
}

describe("a node whose block file was shortened and has a flipped bit", () => {
  it.scopedLive(
    "gets the blocks again, survives a reorganisation over them, and is ready again",
    () =>
      Effect.gen(function*() {
        const { address, node: good } = yield* peer
        const directory = yield* wholeDirectory
        damage(directory, 400)

        // Without peers it knows the effects of the blocks, cannot serve them, and reports that.
        const alone = yield* startNode(directory)
        yield* until(alone, "getblockcount", (height) => height === TIP)
        assert.strictEqual(yield* alone.status("/ready"), 503)
        assert.deepStrictEqual(yield* checkInfo(alone), { doubts: 1, missing: 3 })
        assert.isFalse(yield* alone.call("verifychain"))
        assert.notInclude(yield* services(alone), "NETWORK")
        assert.notInclude(yield* services(alone), "NETWORK_LIMITED")
        assert.include(alone.running.stdout, "start with -loadblock")
        // The damage in the middle is found at the first request for the block; the node does not serve it.
        const middle = yield* hashAt(alone, 400)
        assert.isUndefined(yield* raw(alone, middle))
        assert.deepStrictEqual(yield* checkInfo(alone), { doubts: 1, missing: 4 })
        // A reorganisation waits.
        yield* alone.call("invalidateblock", yield* hashAt(alone, TIP - 1))
        assert.strictEqual(yield* alone.call("getblockcount"), TIP)
        assert.deepStrictEqual(yield* checkInfo(alone), { doubts: 2, missing: 4 })
        yield* alone.call("reconsiderblock", yield* hashAt(alone, TIP - 1))
        assert.deepStrictEqual(yield* checkInfo(alone), { doubts: 1, missing: 4 })
        const { code, stderr } = yield* alone.running.end()
        assert.deepStrictEqual([code, stderr], [0, ""])

        const node = yield* startNode(directory, "-maxpeers", "20", "-listen", "", "-addpeer", address)
        yield* node.ready
        yield* until(node, "getcheckinfo", (info) => Object(info).missing_blocks === 0)
        assert.deepStrictEqual(yield* checkInfo(node), { doubts: 0, missing: 0 })
        assert.includeMembers(yield* services(node), ["NETWORK", "NETWORK_LIMITED"])
        for (const height of [400, TIP - 2, TIP - 1, TIP]) {
          assert.strictEqual(
            yield* raw(node, yield* hashAt(node, height)),
            Buffer.from(bytesOf(height)).toString("hex")
          )
        }
        assert.isTrue(yield* node.call("verifychain", 4, 50))

        yield* good.call("invalidateblock", yield* hashAt(good, TIP - 1))
        const made = yield* good.call("generatetoaddress", 4, ADDRESS)
        yield* until(node, "getbestblockhash", (hash) => Array.isArray(made) && hash === made[3])
        yield* node.ready
        assert.strictEqual(yield* node.status("/ready"), 200)
        assert.isTrue(yield* node.call("verifychain", 4))
        assert.deepStrictEqual((yield* node.running.end()).stderr, "")
      }),
    120_000
  )

  it.scopedLive(
    "with a pending reorganisation gets the blocks to disconnect from a peer that has reorganised away from them",
    () =>
      Effect.gen(function*() {
        const { address, node: good } = yield* peer
        const miner = yield* startNode(yield* wholeDirectory)
        yield* miner.ready
        const left = yield* good.call("generatetoaddress", 3, ADDRESS)
        const directory = yield* temporaryDirectory
        const flags = ["-maxpeers", "20", "-listen", "", "-addpeer", address]
        const before = yield* startNode(directory, ...flags)
        yield* until(before, "getbestblockhash", (hash) => Array.isArray(left) && hash === left[2])
        yield* before.running.end()
        const file = join(directory, "blocks", "blk00000.dat")
        truncateSync(file, readFileSync(file).length - 100)

        const made = yield* miner.call("generatetoaddress", 4, OTHER_ADDRESS)
        const hashes = Array.isArray(made) ? made : []
        for (const hash of hashes) yield* good.call("submitblock", yield* raw(miner, hash))
        assert.strictEqual(yield* good.call("getbestblockhash"), hashes[3])

        const node = yield* startNode(directory, ...flags)
        yield* until(node, "getbestblockhash", (hash) => hash === hashes[3])
        yield* node.ready
        assert.include(node.running.stdout, "a reorg has to disconnect block")
        assert.isTrue(yield* node.call("verifychain", 4, 10))
        assert.deepStrictEqual((yield* node.running.end()).stderr, "")
      }),
    120_000
  )

  it.scopedLive("takes all blocks again where the block files are gone", () =>
    Effect.gen(function*() {
      const { address } = yield* peer
      const directory = yield* wholeDirectory
      rmSync(join(directory, "blocks", "blk00000.dat"))
      const node = yield* startNode(directory, "-maxpeers", "20", "-listen", "", "-addpeer", address)
      yield* until(node, "getcheckinfo", (info) => Object(info).missing_blocks === 0)
      yield* node.ready
      assert.strictEqual(yield* node.call("getbestblockhash"), tipHash)
      assert.isTrue(yield* node.call("verifychain", 4, 0))
      assert.deepStrictEqual((yield* node.running.end()).stderr, "")
    }), 120_000)
})
