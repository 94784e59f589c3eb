import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope, TestClock } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkText } from "../../../src/base/checksum.ts"
import * as AddressStore from "../../../src/network/addresses/AddressStore.ts"
import { asleepFor } from "../../support/eventually.ts"
import { endpoint, known, NOW, seeded } from "./support.ts"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "svcd-peers-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const open = (path: string) => AddressStore.make({ path, random: seeded(5) })

/** One run of a store: `work` changes it, then its scope closes. */
const life = <A>(path: string, work: (store: AddressStore.AddressStore) => A) =>
  Effect.scoped(Effect.map(open(path), work))

describe("AddressStore", () => {
  it.scoped("the store is empty without a file, and writes a private file when it closes", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      yield* life(path, ({ anchors, book }) => {
        assert.strictEqual(book.size, 0)
        assert.deepStrictEqual(anchors, [])
        assert.isFalse(existsSync(path))
      })
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(join(path, "..")), ["peers.json"])
    }))

  it.scoped("the store keeps addresses, bans and anchors; drops discouraged addresses; keeps anchors for one run only", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(NOW * 1000)
      const path = join(yield* directory, "peers.json")
      const anchors = [endpoint("92.1.2.3:8334"), endpoint("[2a02:1::1]:8334")]
      const before = yield* life(path, (store) => {
        store.book.add([known("90.1.2.3:8334")], { seed: "seed." }, { now: NOW })
        store.bans.ban("91.0.0.0/8", { until: NOW + 100, now: NOW })
        store.bans.ban("94.0.0.0/8", { until: NOW, now: NOW - 1 })
        store.bans.discourage(endpoint("95.1.2.3:1").address)
        store.setAnchors([...anchors, endpoint("93.1.2.3:8334")])
        return store.book.toJSON()
      })
      yield* life(path, (store) => {
        assert.deepStrictEqual(store.book.toJSON(), before)
        assert.deepStrictEqual(store.bans.list(NOW), [{ subnet: "91.0.0.0/8", created: NOW, until: NOW + 100 }])
        assert.isFalse(store.bans.isDiscouraged(endpoint("95.1.2.3:1").address))
        assert.deepStrictEqual(store.anchors, anchors)
      })
      yield* life(path, (store) => assert.deepStrictEqual(store.anchors, []))
    }))

  it.scoped("the store writes every 15 minutes, not sooner, and on request", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const path = join(yield* directory, "peers.json")
      const store = yield* open(path)
      yield* asleepFor("15 minutes")
      yield* TestClock.adjust("14 minutes")
      assert.isFalse(existsSync(path))
      yield* TestClock.adjust("1 minute")
      yield* asleepFor("15 minutes")
      assert.notInclude(readFileSync(path, "utf8"), "90.1.2.3")
      store.book.add([known("90.1.2.3:8334", { time: 0 })], { seed: "seed." }, { now: 0 })
      yield* TestClock.adjust("15 minutes")
      yield* asleepFor("15 minutes")
      assert.include(readFileSync(path, "utf8"), "90.1.2.3")
      store.bans.ban("91.0.0.0/8", { until: NOW, now: 0 })
      yield* store.save
      assert.include(readFileSync(path, "utf8"), "91.0.0.0/8")
    }))

  it.scoped("the store handles two writes at once", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      const store = yield* open(path)
      yield* Effect.all([store.save, store.save, store.save], { concurrency: "unbounded" })
      assert.doesNotThrow(() => void JSON.parse(readFileSync(path, "utf8")))
    }))

  it.scoped.each(["no peers", "{\"version\":1,\"key\":\"00\"", "{\"version\":2}", ""])(
    "the store renames a damaged file and starts empty: %j",
    (text) =>
      Effect.gen(function*() {
        const path = join(yield* directory, "peers.json")
        writeFileSync(path, text)
        yield* life(path, ({ book }) => {
          assert.strictEqual(book.size, 0)
          assert.strictEqual(readFileSync(`${path}.damaged`, "utf8"), text)
          assert.isFalse(existsSync(path))
        })
        assert.isTrue(existsSync(path))
      })
  )

  it.scoped("the store renames a valid file with a wrong checksum", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      yield* life(path, ({ book }) => book.add([known("90.1.2.3:8334")], { seed: "seed." }, { now: NOW }))
      const whole = readFileSync(path, "utf8")
      yield* life(path, ({ book }) => assert.strictEqual(book.size, 1))
      assert.strictEqual(readFileSync(path, "utf8"), whole)
      writeFileSync(path, whole.replace("90.1.2.3", "90.1.2.2"))
      yield* life(path, ({ book }) => assert.strictEqual(book.size, 0))
      assert.include(readFileSync(`${path}.damaged`, "utf8"), "90.1.2.2")
      // A file of version 0.1.0 has no checksum.
      writeFileSync(path, checkText(whole).text)
      yield* life(path, ({ book }) => assert.strictEqual(book.size, 1))
    }))

  it.scoped("the store refuses a file that is too large", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      writeFileSync(path, Buffer.alloc(64 * 1024 * 1024 + 1, 32))
      yield* life(path, ({ book }) => assert.strictEqual(book.size, 0))
      assert.isTrue(existsSync(`${path}.damaged`))
    }))

  it.scoped("the store ignores a temporary file of a crash, and its permissions", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      writeFileSync(`${path}.new`, "half", { mode: 0o644 })
      chmodSync(`${path}.new`, 0o644)
      yield* life(path, () => {})
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${path}.new`))
    }))

  it.scoped("the store continues if the file can be neither read nor written", () =>
    Effect.gen(function*() {
      const path = join(yield* directory, "peers.json")
      mkdirSync(path)
      const scope = yield* Scope.make()
      const store = yield* open(path).pipe(Scope.extend(scope))
      assert.strictEqual(store.book.size, 0)
      yield* store.save
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(statSync(path).isDirectory())
    }))
})
