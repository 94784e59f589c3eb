import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { emptyDocument, encodeDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { create, isThere, open } from "../../../src/wallet/keys/WalletFile.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"
import { withoutChecksum } from "../../support/walletText.ts"

const empty = emptyDocument({ network: "regtest", createdAt: 1_700_000_000 })

const ADDRESS = "ncrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq8w7hxl"

const inDirectory = <A, E>(work: (path: string, directory: string) => Effect.Effect<A, E>) =>
  Effect.promise(() =>
    withDirectoryAsync((directory) => Effect.runPromise(work(join(directory, "wallet.json"), directory)))
  )

const labelled = (label: string) => (document: WalletDocument): WalletDocument => ({
  ...document,
  labels: [...document.labels, { address: ADDRESS, label, purpose: "receive" }]
})

const labels = (document: WalletDocument) => document.labels.map(({ label }) => label)

describe("WalletFile", () => {
  it.effect("writes for its owner only, and reads what it wrote", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        assert.deepStrictEqual(file.document, empty)
        assert.deepStrictEqual(labels(yield* file.update(labelled("one"))), ["one"])
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        assert.deepStrictEqual((yield* open(path, "regtest")).document, file.document)
        assert.deepStrictEqual(labels(file.document), ["one"])
        assert.deepStrictEqual(readdirSync(directory), ["wallet.json"])
      })
    ))

  it.effect("does not replace an existing file", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        writeFileSync(path, "mine")
        const refused = yield* Effect.flip(create(path, empty))
        assert.strictEqual(refused._tag, "InvalidWalletRequest")
        assert.strictEqual(readFileSync(path, "utf8"), "mine")
      })
    ))

  it.effect("leaves an unreadable file unchanged", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const whole = withoutChecksum(encodeDocument(empty))
        const broken = whole.replace(
          "\"accounts\": []",
          `"accounts": [{"purpose":44,"xpub":"x","receive":0,"change":0}]`
        )
        for (
          const [text, found] of [
            ["", /empty/],
            [whole.slice(0, whole.length / 2), /not whole/],
            [whole.replace("\"version\": 1", "\"version\": 7"), /newer svcd/],
            [whole.replace("regtest", "mainnet"), /of mainnet, not of regtest/],
            [broken, /the key of account 44h is invalid/]
          ] as const
        ) {
          writeFileSync(path, text)
          const failure = yield* Effect.flip(open(path, "regtest"))
          assert.strictEqual(failure._tag, "WalletDamaged")
          assert.match(failure.message, found)
          assert.include(failure.message, path)
          assert.strictEqual(readFileSync(path, "utf8"), text)
        }
      })
    ))

  it.effect("reports a missing file", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(open(path, "regtest")))._tag, "StorageUnavailable")
      })
    ))

  it.effect("applies simultaneous changes one after the other, in few writes", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const names = Array.from({ length: 100 }, (_, at) => `label ${at}`)
        yield* Effect.forEach(
          names,
          (name) =>
            Effect.map(file.update(labelled(name)), () => {
              // The change is on disk when its caller is notified.
              assert.include(readFileSync(path, "utf8"), `"${name}"`)
            }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(labels((yield* open(path, "regtest")).document), names)
      })
    ))

  it.effect("a change that throws, or makes no valid document, does not affect other changes", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const exits = yield* Effect.all(
          [
            file.update(labelled("one")),
            file.update(() => {
              throw new TypeError("no")
            }),
            file.update((document) => ({ ...document, createdAt: -1 })),
            file.update(labelled("two"))
          ].map(Effect.exit),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ["Success", "Failure", "Failure", "Success"])
        assert.deepStrictEqual(labels((yield* open(path, "regtest")).document), ["one", "two"])
      })
    ))

  it.effect("keeps the previous document when a write fails", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        renameSync(directory, `${directory}.away`)
        const failure = yield* Effect.flip(file.update(labelled("lost")))
        assert.strictEqual(failure._tag, "StorageUnavailable")
        assert.deepStrictEqual(file.document, empty)
        renameSync(`${directory}.away`, directory)
        assert.deepStrictEqual((yield* open(path, "regtest")).document, empty)
        yield* file.update(labelled("kept"))
        assert.deepStrictEqual(labels((yield* open(path, "regtest")).document), ["kept"])
      })
    ))

  it.effect("survives an interrupted write", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        yield* create(path, empty)
        const others = [`${path}.new`, `${path}.${"0".repeat(31)}.new`, join(directory, `x${"0".repeat(32)}.new`)]
        for (const other of others) writeFileSync(other, "of another program")
        writeFileSync(`${path}.${"0".repeat(32)}.new`, "{\"version\":", { mode: 0o644 })
        const file = yield* open(path, "regtest")
        assert.deepStrictEqual(file.document, empty)
        yield* file.update(labelled("x"))
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        assert.deepStrictEqual(
          readdirSync(directory).map((name) => join(directory, name)).sort(),
          [path, ...others].sort()
        )
      })
    ))

  it.effect("writes nothing for a change that changes nothing", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const before = statSync(path).ino
        yield* file.update((document) => document)
        assert.strictEqual(statSync(path).ino, before)
        yield* file.update(labelled("x"))
        assert.notStrictEqual(statSync(path).ino, before)
      })
    ))

  it.effect("follows a link to the file", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        const elsewhere = join(directory, "elsewhere.json")
        yield* create(elsewhere, empty)
        symlinkSync(elsewhere, path)
        yield* (yield* open(path, "regtest")).update(labelled("x"))
        assert.include(readFileSync(elsewhere, "utf8"), "\"x\"")
        assert.strictEqual(readFileSync(path, "utf8"), readFileSync(elsewhere, "utf8"))
        assert.deepStrictEqual(readdirSync(directory).sort(), ["elsewhere.json", "wallet.json"])
      })
    ))

  it.effect("does not take a broken link for an absent file", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        symlinkSync(join(directory, "away", "elsewhere.json"), path)
        assert.deepInclude(yield* Effect.flip(create(path, empty)), { code: "exists" })
        assert.deepInclude(yield* Effect.flip(open(path, "regtest")), {
          _tag: "StorageUnavailable",
          reason: "it is a link to a file that is not there"
        })
        assert.isTrue(lstatSync(path).isSymbolicLink())
        // A file that cannot be inspected is not absent either.
        const file = join(directory, "file")
        writeFileSync(file, "")
        assert.deepInclude(yield* Effect.flip(isThere(join(file, "x"))), {
          reason: "a part of the path is not a directory"
        })
        assert.isFalse(yield* isThere(join(directory, "x")))
      })
    ))

  it.effect("writes the changes requested before it is closed, and none after", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        let started = false
        const one = (document: WalletDocument): WalletDocument => {
          started = true
          return labelled("one")(document)
        }
        const updates = yield* Effect.forEach([one, labelled("two")], (change) => Effect.fork(file.update(change)))
        while (!started) yield* Effect.yieldNow()
        yield* file.close()
        yield* Effect.forEach(updates, Fiber.join)
        const text = readFileSync(path, "utf8")
        assert.deepInclude(yield* Effect.flip(file.update(labelled("three"))), {
          _tag: "StorageUnavailable",
          reason: "the wallet is no longer loaded"
        })
        assert.strictEqual(readFileSync(path, "utf8"), text)
        assert.deepStrictEqual(labels(file.document), ["one", "two"])
        yield* file.close()
      })
    ))

  it.effect("reports where a document that cannot be written is wrong, without quoting its content", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const secret = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"
        const failure = yield* Effect.flip(file.update(labelled(secret.repeat(20))))
        assert.strictEqual(failure._tag, "StorageUnavailable")
        assert.include(failure.message, "labels.0.label is invalid")
        assert.notInclude(JSON.stringify(failure), "cMahea")
        assert.deepStrictEqual(file.document, empty)
      })
    ))

  it.effect("keeps a file of an older format beside the new one", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const old = withoutChecksum(encodeDocument(empty)).replace("\"version\": 1", "\"version\": 0")
        const upgrades = new Map([[0, (document: object) => ({ ...document, version: 1 })]])
        writeFileSync(path, old)
        writeFileSync(`${path}.version0.bak`, "of an earlier time")
        assert.deepStrictEqual((yield* open(path, "regtest", upgrades)).document, empty)
        assert.strictEqual(readFileSync(`${path}.version0.1.bak`, "utf8"), old)
        assert.strictEqual(statSync(`${path}.version0.1.bak`).mode & 0o777, 0o600)
        assert.strictEqual(readFileSync(path, "utf8"), encodeDocument(empty))
        yield* open(path, "regtest", upgrades)
        assert.isFalse(existsSync(`${path}.version0.2.bak`))
      })
    ))

  it.effect("copies itself to a free path", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const copy = join(directory, "copy.json")
        yield* file.backup(copy)
        assert.strictEqual(readFileSync(copy, "utf8"), readFileSync(path, "utf8"))
        assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
        assert.strictEqual((yield* Effect.flip(file.backup(copy)))._tag, "InvalidWalletRequest")
        const lost = yield* Effect.flip(file.backup(join(directory, "no", "x")))
        assert.deepInclude(lost, { code: "missing", reason: `there is no directory ${join(directory, "no")}` })
        // Nothing was begun there that a later backup would look for.
        assert.deepStrictEqual(readdirSync(directory).filter((each) => each.endsWith(".copy")), [])
        const folder = join(directory, "folder")
        mkdirSync(folder)
        yield* file.backup(folder)
        assert.strictEqual(readFileSync(join(folder, "wallet.json"), "utf8"), readFileSync(path, "utf8"))
        assert.deepInclude(yield* Effect.flip(file.backup(folder)), { code: "exists" })
        const [link, unrelated] = [join(folder, "link"), join(folder, "free.new")]
        symlinkSync(join(directory, "nowhere"), link)
        assert.deepInclude(yield* Effect.flip(file.backup(link)), { code: "exists" })
        writeFileSync(unrelated, "mine")
        yield* file.backup(join(folder, "free"))
        assert.strictEqual(readFileSync(unrelated, "utf8"), "mine")
        assert.deepStrictEqual(readdirSync(folder).sort(), ["free", "free.new", "link", "wallet.json"])
      })
    ))
})
