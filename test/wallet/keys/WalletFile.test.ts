import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { emptyDocument, encodeDocument, type WalletDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { create, open } from "../../../src/wallet/keys/WalletFile.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"

const empty = emptyDocument({ network: "regtest", createdAt: 1_700_000_000 })

const inDirectory = <A, E>(work: (path: string, directory: string) => Effect.Effect<A, E>) =>
  Effect.promise(() =>
    withDirectoryAsync((directory) => Effect.runPromise(work(join(directory, "wallet.json"), directory)))
  )

const labelled = (label: string) => (document: WalletDocument): WalletDocument => ({
  ...document,
  labels: [...document.labels, { address: "a", label, purpose: "receive" }]
})

const labels = (document: WalletDocument) => document.labels.map(({ label }) => label)

describe("WalletFile", () => {
  it.effect("writes for its owner alone, and reads what it wrote", () =>
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

  it.effect("replaces no file that is there", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        writeFileSync(path, "mine")
        const refused = yield* Effect.flip(create(path, empty))
        assert.strictEqual(refused._tag, "InvalidWalletRequest")
        assert.strictEqual(readFileSync(path, "utf8"), "mine")
      })
    ))

  it.effect("leaves alone what does not read", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const whole = encodeDocument(empty)
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
            [broken, /the key of account 44h is none/]
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

  it.effect("says that a file is not there", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(open(path, "regtest")))._tag, "StorageUnavailable")
      })
    ))

  it.effect("takes changes of many at once, each after the other, in few writes", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const names = Array.from({ length: 100 }, (_, at) => `label ${at}`)
        yield* Effect.forEach(
          names,
          (name) =>
            Effect.map(file.update(labelled(name)), () => {
              // Whoever is told has it on disk.
              assert.include(readFileSync(path, "utf8"), `"${name}"`)
            }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(labels((yield* open(path, "regtest")).document), names)
      })
    ))

  it.effect("a change that throws, or makes no document, harms nobody else", () =>
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

  it.effect("keeps the document of before where a write fails", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        // Stands where the new file is to be written.
        mkdirSync(`${path}.new`)
        const failure = yield* Effect.flip(file.update(labelled("lost")))
        assert.strictEqual(failure._tag, "StorageUnavailable")
        assert.deepStrictEqual(file.document, empty)
        assert.deepStrictEqual((yield* open(path, "regtest")).document, empty)
        rmdirSync(`${path}.new`)
        yield* file.update(labelled("kept"))
        assert.deepStrictEqual(labels((yield* open(path, "regtest")).document), ["kept"])
      })
    ))

  it.effect("takes no harm from a write that was cut off", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        yield* create(path, empty)
        writeFileSync(`${path}.new`, "{\"version\":", { mode: 0o644 })
        const file = yield* open(path, "regtest")
        assert.deepStrictEqual(file.document, empty)
        yield* file.update(labelled("x"))
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        assert.deepStrictEqual(readdirSync(directory), ["wallet.json"])
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

  it.effect("follows a link to where the file is", () =>
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

  it.effect("keeps an older format beside the new one", () =>
    inDirectory((path) =>
      Effect.gen(function*() {
        const old = encodeDocument(empty).replace("\"version\": 1", "\"version\": 0")
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

  it.effect("copies itself to a place that is free", () =>
    inDirectory((path, directory) =>
      Effect.gen(function*() {
        const file = yield* create(path, empty)
        const copy = join(directory, "copy.json")
        yield* file.backup(copy)
        assert.strictEqual(readFileSync(copy, "utf8"), readFileSync(path, "utf8"))
        assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
        assert.strictEqual((yield* Effect.flip(file.backup(copy)))._tag, "InvalidWalletRequest")
        assert.strictEqual((yield* Effect.flip(file.backup(join(directory, "no", "x"))))._tag, "StorageUnavailable")
      })
    ))
})
