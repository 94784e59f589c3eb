import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect } from "effect"
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { toHex } from "../../src/protocol/bytes.ts"
import { blocksOf, temporaryDirectory } from "../support/chain.ts"
import { type Ended, type Node, startNode, startNodeUnder, wholeDirectory } from "../support/daemon.ts"
import { fixtureJson, ownFixture } from "../support/fixtures.ts"
import { asOrdinaryUser, canLimit, canMount, handOver, smallDisk, withFileLimit } from "../support/smallDisk.ts"

interface Expected {
  readonly tipHash: string
  readonly checkpoints: ReadonlyArray<{ readonly utxo: { readonly hash_serialized_3: string } }>
}

const FILE = ownFixture("regtest-names/blocks.dat")
const { checkpoints, tipHash } = fixtureJson<Expected>("regtest-names/expected.json")
const coins = checkpoints.at(-1)?.utxo.hash_serialized_3
const blocks = blocksOf("regtest-names/blocks.dat")

/** Waits for the end of a node that should have ended by itself. */
const ended = ({ running }: Node) =>
  Effect.timeoutFail(running.ended, {
    duration: "20 seconds",
    onTimeout: () => `the node goes on: ${running.stdout}`
  })

/** A block file up to a height. */
const fileOf = (height: number): Buffer =>
  Buffer.concat(
    blocks.slice(0, height + 1).flatMap(({ bytes }) => {
      const frame = Buffer.from("fabfb5da00000000", "hex")
      frame.writeUInt32LE(bytes.length, 4)
      return [frame, bytes]
    })
  )

/** Checks that the node ended with an error about a file. */
const endsPlainly = (end: Ended, ...words: ReadonlyArray<string | RegExp>): void => {
  assert.strictEqual(end.code, 1, end.stderr + end.stdout)
  for (const word of words) {
    if (typeof word === "string") assert.include(end.stderr, word)
    else assert.match(end.stderr, word)
  }
  assert.match(end.stderr, /^Error: /)
  assert.isAtMost(end.stderr.trim().split("\n").length, 2)
  for (const text of [end.stderr, end.stdout]) assert.notMatch(text, /^\s+at |FiberFailure|node:internal/m)
}

const isWhole = (node: Node) =>
  Effect.gen(function*() {
    yield* node.ready
    assert.deepInclude(yield* node.call("gettxoutsetinfo"), { bestblock: tipHash, hash_serialized_3: coins })
    assert.isTrue(yield* node.call("name_checkdb"))
  })

/** Makes copies of a data directory with the whole chain. */
const copies = Effect.gen(function*() {
  const [directory, whole] = [yield* temporaryDirectory, yield* wholeDirectory]
  return (name: string): string => {
    const copy = join(directory, name)
    cpSync(whole, copy, { recursive: true })
    return copy
  }
})

describe.skipIf(!canMount)("a full disk", () => {
  it.scopedLive("ends a start before anything is written; with room the next start goes on", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk("2000k")
      const data = join(disk.path, "data")
      const node = yield* startNode(data, "-loadblock", FILE)
      endsPlainly(
        yield* ended(node),
        `Error: writing to ${data} failed: the disk is nearly full`,
        "make room and start again"
      )
      assert.deepStrictEqual(readdirSync(disk.path), [])
      disk.remount("size=64m")
      yield* isWhole(yield* startNode(data, "-loadblock", FILE))
    }))

  it.scopedLive("ends the node that cannot store a block; with room it takes it", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk("64m")
      const data = join(disk.path, "data")
      const part = join(disk.path, "part.dat")
      writeFileSync(part, fileOf(500))
      const node = yield* startNode(data, "-loadblock", part)
      yield* node.ready
      const filler = disk.fill()
      const next = blocks.slice(501).map(({ bytes }) => toHex(bytes))
      for (const block of next) {
        // The call that fails gets an error for an answer, or none at all.
        const answer = yield* Effect.either(node.call("submitblock", block))
        if (answer._tag === "Left") break
      }
      endsPlainly(yield* ended(node), data, / failed: .*(ENOSPC|SQLITE_FULL|SQLITE_IOERR)/)
      rmSync(filler)
      const again = yield* startNode(data)
      yield* again.ready
      assert.isAtLeast(Number(yield* again.call("getblockcount")), 500)
      yield* again.running.end()
      yield* isWhole(yield* startNode(data, "-loadblock", FILE))
    }))

  it.scopedLive("that is read-only is refused", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk("64m")
      const data = join(disk.path, "data")
      cpSync(yield* wholeDirectory, data, { recursive: true })
      disk.remount("ro")
      const node = yield* startNode(data)
      endsPlainly(yield* ended(node), data, "the file system is read-only; mount it writable, or use another directory")
    }))
})

describe.skipIf(!canLimit)("a limit on the size of files", () => {
  for (const kilobytes of [300]) {
    it.scopedLive(`of ${kilobytes} kB ends an import with a message; without it the next start goes on`, () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const data = join(directory, "data")
        // Uncompressed, so that the unpacked file is not the one that is too large.
        const plain = join(directory, "plain.dat")
        writeFileSync(
          plain,
          Buffer.concat(blocks.flatMap(({ bytes }) => {
            const frame = Buffer.from("fabfb5da00000000", "hex")
            frame.writeUInt32LE(bytes.length, 4)
            return [frame, bytes]
          }))
        )
        const node = yield* startNodeUnder(withFileLimit(kilobytes), data, "-loadblock", plain)
        endsPlainly(yield* ended(node), data, /failed: .*(EFBIG|SQLITE_IOERR|SQLITE_FULL)/)
        yield* isWhole(yield* startNode(data, "-loadblock", FILE))
      }))
  }

  it.scopedLive("of 300 kB ends an import of a packed file with the name of what cannot be written", () =>
    Effect.gen(function*() {
      const data = join(yield* temporaryDirectory, "data")
      // The file of a wallet has more than that.
      const node = yield* startNodeUnder(withFileLimit(300), data, "-disablewallet", "-loadblock", FILE)
      endsPlainly(yield* ended(node), join(data, "unpacked-0-"), /EFBIG/)
    }))
})

describe.skipIf(asOrdinaryUser === undefined)("a file that may not be written", () => {
  it.scopedLive("is named, and nothing else is touched", () =>
    Effect.gen(function*() {
      const data = join(yield* temporaryDirectory, "data")
      cpSync(yield* wholeDirectory, data, { recursive: true })
      handOver(join(data, ".."))
      for (const name of ["blocks/blk00000.dat", "blocks/undo00000.dat", "chainstate/chainstate.db", "names.db"]) {
        chmodSync(join(data, name), 0o400)
        const node = yield* startNodeUnder(asOrdinaryUser ?? [], data)
        endsPlainly(yield* ended(node), join(data, name), /EACCES|permission|readonly/)
        chmodSync(join(data, name), 0o600)
      }
      yield* isWhole(yield* startNodeUnder(asOrdinaryUser ?? [], data))
    }))
})

describe("a damaged database", () => {
  it.scopedLive("is removed with a line in the log, and made again from the blocks", () =>
    Effect.gen(function*() {
      const copyOf = yield* copies
      // Garbage in the place of names.db: NamesFile.test.ts.
      for (
        const [name, kind] of [
          ["names.db", "truncated"],
          ["chainstate/chainstate.db", "garbage"],
          ["chainstate/chainstate.db", "truncated"]
        ] as const
      ) {
        const data = copyOf(`${name.replace("/", "-")}-${kind}`)
        const file = join(data, name)
        const bytes = readFileSync(file)
        writeFileSync(file, kind === "garbage" ? Buffer.alloc(20_000, 0x5a) : bytes.subarray(0, 5_000))
        const node = yield* startNode(data)
        yield* isWhole(node)
        const { stdout } = yield* node.running.end()
        assert.match(stdout, /error .*rebuil(t|ding)/)
      }
    }))

  it.scopedLive("in pages that no start reads is found before the node answers", () =>
    Effect.gen(function*() {
      const copyOf = yield* copies
      const data = copyOf("damaged")
      const file = join(data, "chainstate", "chainstate.db")
      const database = new SQLite(file)
      const leaves = database.prepare<[], { readonly pageno: number }>(
        "SELECT pageno FROM dbstat WHERE name = 'coins' AND pagetype = 'leaf' ORDER BY pageno"
      ).all()
      const pageSize = Number(database.pragma("page_size", { simple: true }))
      database.close()
      assert.isAbove(leaves.length, 3)
      const bytes = readFileSync(file)
      for (const { pageno } of leaves) bytes.fill(0xff, (pageno - 1) * pageSize, (pageno - 1) * pageSize + 200)
      writeFileSync(file, bytes)
      const node = yield* startNode(data)
      yield* isWhole(node)
      assert.strictEqual(yield* node.call("getblockcount"), 600)
    }))
})
