import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope } from "effect"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as DataDirectory from "../../src/config/DataDirectory.ts"
import type { NetworkName } from "../../src/protocol/networks.ts"
import { TsProcess } from "../support/tsProcess.ts"

let root = ""
let count = 0
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), "svcd-datadir-"))))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A path under the tests' directory that nothing uses yet. */
const unused = (): string => join(root, `${++count}`)

const existing = (mode = 0o700): string => {
  const path = unused()
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

const take = (path: string, network: NetworkName = "regtest") => DataDirectory.make({ path, network })

/** Opens the directory and closes it. */
const visit = (path: string, network?: NetworkName) => Effect.scoped(take(path, network))

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const HOLDER = new URL("holdDirectory.ts", import.meta.url)

/** Another process on the directory; killed at the end of the scope if it still runs. */
const otherProcess = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new TsProcess(HOLDER, [path])),
    (other) =>
      Effect.promise(() => {
        other.child.kill("SIGKILL")
        return other.ended
      })
  )

const isRoot = process.getuid?.() === 0

describe("DataDirectory", () => {
  it.effect("is made with its parents, for its owner alone (spec 1, data directory)", () =>
    Effect.gen(function*() {
      const path = join(unused(), "deep", "er")
      const directory = yield* visit(path)
      assert.deepStrictEqual(directory.blocks, join(path, "blocks"))
      assert.strictEqual(directory.file("names.db"), join(path, "names.db"))
      for (const made of [join(path, ".."), path, directory.blocks, directory.chainstate]) {
        assert.strictEqual(modeOf(made), "700")
      }
      assert.sameMembers(readdirSync(path), ["LOCK", "NETWORK", "blocks", "chainstate"])
      assert.strictEqual(readFileSync(join(path, "NETWORK"), "utf8"), "regtest\n")
    }))

  it.effect("opens again, and keeps what is in it", () =>
    Effect.gen(function*() {
      const path = unused()
      const { blocks } = yield* visit(path)
      writeFileSync(join(blocks, "blk00000.dat"), "x")
      yield* visit(path)
      assert.strictEqual(readFileSync(join(blocks, "blk00000.dat"), "utf8"), "x")
    }))

  it.effect("makes deleted blocks/ and chainstate/ again, or follows links to other disks", () =>
    Effect.gen(function*() {
      const path = unused()
      yield* visit(path)
      rmSync(join(path, "blocks"), { recursive: true })
      rmSync(join(path, "chainstate"), { recursive: true })
      const elsewhere = existing()
      symlinkSync(elsewhere, join(path, "blocks"))
      yield* visit(path)
      assert.isTrue(statSync(join(path, "blocks")).isDirectory() && existsSync(join(path, "chainstate")))
    }))

  it.effect("is of one network: another one is refused, naming both, and nothing changes", () =>
    Effect.gen(function*() {
      const path = existing()
      yield* visit(path, "testnet")
      rmSync(join(path, "blocks"), { recursive: true })
      const error = yield* Effect.flip(visit(path, "mainnet"))
      assert.strictEqual(error._tag, "WrongNetwork")
      for (const word of [path, "testnet", "mainnet"]) assert.include(error.message, word)
      assert.isFalse(existsSync(join(path, "blocks")))
      yield* visit(path, "testnet")
    }))

  it.effect("is refused where its network mark is unreadable", () =>
    Effect.gen(function*() {
      for (const mark of ["", "\n", "x".repeat(65)]) {
        const path = existing()
        writeFileSync(join(path, "NETWORK"), mark)
        const error = yield* Effect.flip(visit(path))
        assert.strictEqual(error._tag, "DataDirectoryUnusable")
        assert.include(error.message, "NETWORK is damaged")
      }
      const path = existing()
      writeFileSync(join(path, "NETWORK"), "moon\u001b[31m\n")
      const error = yield* Effect.flip(visit(path))
      assert.include(error.message, "moon\\u001b[31m")
    }))

  it.effect("closes wallets that others could read, and reports an open configuration in an open directory", () =>
    Effect.gen(function*() {
      const path = unused()
      yield* visit(path)
      mkdirSync(join(path, "wallets"))
      const wallets = ["wallet.json", "wallets/shop.json"].map((name) => join(path, name))
      const others = ["svcd.conf", "wallets/notes.txt"].map((name) => join(path, name))
      for (const file of [...wallets, ...others]) {
        writeFileSync(file, "")
        chmodSync(file, 0o644)
      }
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => void logged.push(message))
      const seen = Effect.provide(visit(path), Logger.replace(Logger.defaultLogger, logger))
      yield* seen
      assert.deepStrictEqual(logged, wallets.map((file) => ["wallet closed to other users", { file, mode: "644" }]))
      assert.deepStrictEqual([...wallets, ...others].map(modeOf), ["600", "600", "644", "644"])
      logged.length = 0
      yield* seen
      assert.deepStrictEqual(logged, [])
    }))

  it.effect("loses the rights of other users where all files in it are svcd's", () =>
    Effect.gen(function*() {
      const fresh = existing(0o755)
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => void logged.push(message))
      yield* Effect.provide(visit(fresh), Logger.replace(Logger.defaultLogger, logger))
      assert.strictEqual(modeOf(fresh), "700")
      assert.deepStrictEqual(logged, [["data directory closed to other users", { path: fresh, mode: "755" }]])

      const configured = existing(0o777)
      writeFileSync(join(configured, "svcd.conf"), "")
      yield* visit(configured)
      assert.strictEqual(modeOf(configured), "700")

      const opened = unused()
      yield* visit(opened)
      chmodSync(opened, 0o750)
      yield* visit(opened)
      assert.strictEqual(modeOf(opened), "700")
    }))

  it.effect("keeps its rights where it has files of other programs", () =>
    Effect.gen(function*() {
      const shared = existing(0o755)
      writeFileSync(join(shared, "notes.txt"), "")
      yield* visit(shared)
      assert.strictEqual(modeOf(shared), "755")
    }))

  it.effect.skipIf(isRoot)("is refused where it cannot be written, and stays as it is", () =>
    Effect.gen(function*() {
      const path = existing(0o500)
      const error = yield* Effect.flip(visit(path))
      assert.strictEqual(error.message, `data directory ${path}: cannot be used: permission denied`)
      assert.strictEqual(modeOf(path), "500")
    }))

  it.effect("is refused where it cannot be made, naming path and reason", () =>
    Effect.gen(function*() {
      const file = unused()
      writeFileSync(file, "")
      const below = yield* Effect.flip(visit(join(file, "data")))
      assert.strictEqual(
        below.message,
        `data directory ${join(file, "data")}: cannot be made: a part of the path is not a directory`
      )
      const itself = yield* Effect.flip(visit(file))
      assert.strictEqual(
        itself.message,
        `data directory ${file}: cannot be made: there is something that is not a directory`
      )
    }))

  it.effect("is refused where blocks/ is a file", () =>
    Effect.gen(function*() {
      const path = existing()
      writeFileSync(join(path, "blocks"), "")
      assert.include((yield* Effect.flip(visit(path))).message, "blocks/ or chainstate/ cannot be made")
    }))

  it.effect.each(["chainstate/CURRENT", "blocks/index/CURRENT", "wallet.dat"])(
    "is refused where it has %s, which is Namecoin Core's",
    (name) =>
      Effect.gen(function*() {
        const path = existing(0o755)
        mkdirSync(join(path, name, ".."), { recursive: true })
        writeFileSync(join(path, name), "")
        const before = readdirSync(path)
        const error = yield* Effect.flip(visit(path))
        assert.strictEqual(error._tag, "DataDirectoryUnusable")
        assert.include(error.message, "-loadblock")
        assert.deepStrictEqual([readdirSync(path), modeOf(path)], [before, "755"])
      })
  )

  it.effect("of another path is free meanwhile", () => Effect.scoped(Effect.zipRight(take(unused()), take(unused()))))

  it.effect("is not opened twice in one process, and is free when its scope closes", () =>
    Effect.gen(function*() {
      const path = unused()
      const scope = yield* Scope.make()
      yield* Scope.extend(take(path), scope)
      // Twice: the failed attempt must not release the lock.
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = yield* Effect.flip(visit(path))
        assert.strictEqual(error._tag, "DataDirectoryInUse")
        assert.include(error.message, `${path} is in use by process ${process.pid}`)
      }
      yield* Scope.close(scope, Exit.void)
      yield* visit(path)
    }))

  it.effect("is free again where taking it failed halfway", () =>
    Effect.gen(function*() {
      const path = existing()
      writeFileSync(join(path, "blocks"), "")
      yield* Effect.flip(visit(path))
      rmSync(join(path, "blocks"))
      yield* visit(path)
    }))

  it.effect("is refused where LOCK is not svcd's", () =>
    Effect.gen(function*() {
      const path = existing()
      writeFileSync(join(path, "LOCK"), "x".repeat(5_000))
      const error = yield* Effect.flip(visit(path))
      assert.include(error.message, "LOCK is damaged; if no other process uses the directory, delete that file")
      rmSync(join(path, "LOCK"))
      mkdirSync(join(path, "LOCK"))
      assert.include((yield* Effect.flip(visit(path))).message, "LOCK cannot be written")
    }))

  it.effect("takes an empty LOCK, as a power cut can leave it", () =>
    Effect.gen(function*() {
      const path = existing()
      writeFileSync(join(path, "LOCK"), "")
      yield* visit(path)
    }))

  it.scopedLive("is kept from a second process, and kill -9 leaves no lock behind", () =>
    Effect.gen(function*() {
      const path = unused()
      const holder = yield* otherProcess(path)
      yield* Effect.promise(() => holder.says("held"))
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = yield* Effect.flip(visit(path))
        assert.strictEqual(error._tag, "DataDirectoryInUse")
        assert.include(error.message, `process ${holder.child.pid}`)
      }
      const second = yield* otherProcess(path)
      yield* Effect.promise(() => second.says("DataDirectoryInUse"))

      holder.child.kill("SIGKILL")
      yield* Effect.promise(() => holder.ended)
      yield* visit(path)
    }))

  it.scopedLive("is kept by this process after it turned others down, its own attempts included", () =>
    Effect.gen(function*() {
      const path = unused()
      yield* take(path)
      yield* Effect.flip(visit(path))
      const other = yield* otherProcess(path)
      yield* Effect.promise(() =>
        other.says(`DataDirectoryInUse: data directory ${path} is in use by process ${process.pid}`)
      )
    }))

  it.scopedLive("goes to exactly one of several that want it at once", () =>
    Effect.gen(function*() {
      const path = unused()
      const all = yield* Effect.all([1, 2, 3, 4].map(() => otherProcess(path)))
      yield* Effect.promise(() =>
        Promise.all(all.map((other) => Promise.race([other.says("held"), other.says("InUse")])))
      )
      assert.strictEqual(all.filter((other) => other.stdout.includes("held")).length, 1)
    }))
})
