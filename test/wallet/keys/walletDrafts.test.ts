import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { newDocument } from "../../../src/wallet/keys/makeDocument.ts"
import { create, open } from "../../../src/wallet/keys/WalletFile.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { TsProcess } from "../../support/tsProcess.ts"

const CHILD = new URL("backupAndHang.ts", import.meta.url)

const isDraft = (name: string): boolean => name.endsWith(".new")

/** A wallet with keys, and a folder for its copies. */
const wallet = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const [path, folder] = [join(directory, "wallet.json"), join(directory, "stick")]
  mkdirSync(folder)
  const document = yield* newDocument({ network: "regtest", now: 0, privateKeys: true, blank: false })
  return { directory, path, folder, file: yield* create(path, document) }
})

/** Kills a process during a copy; its draft contains keys. */
const killedCopy = (path: string, folder: string) =>
  Effect.promise(async () => {
    const child = new TsProcess(CHILD, [path, join(folder, "copy.json")])
    await child.says("the draft is written")
    child.child.kill("SIGKILL")
    assert.strictEqual(await child.ended, "SIGKILL")
    const [draft, ...more] = readdirSync(folder)
    if (draft === undefined || more.length > 0) return assert.fail("there is not one draft")
    assert.isTrue(isDraft(draft))
    assert.include(readFileSync(join(folder, draft), "utf8"), "\"mnemonic\"")
  })

const quiet = Logger.remove(Logger.defaultLogger)

describe("drafts of a wallet's file", () => {
  it.scopedLive("from a killed backup are deleted when the wallet is opened again", () =>
    Effect.gen(function*() {
      const { directory, folder, path } = yield* wallet
      yield* killedCopy(path, folder)
      yield* open(path, "regtest")
      assert.deepStrictEqual(readdirSync(folder), [])
      assert.deepStrictEqual(readdirSync(directory).sort(), ["stick", "wallet.json"])
    }), 60_000)

  it.scopedLive(
    "in an unreachable folder are deleted by the first backup that reaches it again",
    () =>
      Effect.gen(function*() {
        const { directory, folder, path } = yield* wallet
        yield* killedCopy(path, folder)
        renameSync(folder, `${folder}.away`)
        const messages: Array<unknown> = []
        const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void messages.push(message)))
        const file = yield* Effect.provide(open(path, "regtest"), logger)
        assert.include(JSON.stringify(messages), "wallet backup interrupted: its draft may hold keys")
        assert.include(JSON.stringify(messages), join(folder, "copy.json."))
        renameSync(`${folder}.away`, folder)
        yield* file.backup(join(directory, "other.json"))
        assert.deepStrictEqual(readdirSync(folder), [])
        assert.deepStrictEqual(readdirSync(directory).sort(), ["other.json", "stick", "wallet.json"])
      }),
    60_000
  )

  it.scopedLive("are deleted only if the note names a draft", () =>
    Effect.gen(function*() {
      const { directory, folder, path } = yield* wallet
      const [mine, id] = [join(folder, "mine.new"), "0".repeat(32)]
      writeFileSync(mine, "mine")
      writeFileSync(`${path}.${id}.copy`, `${mine}\n`)
      yield* open(path, "regtest")
      assert.isTrue(existsSync(mine))
      assert.deepStrictEqual(readdirSync(directory).sort(), ["stick", "wallet.json"])
    }))

  it.scopedLive("of an unfinished wallet, or of a kept older format, are deleted", () =>
    Effect.gen(function*() {
      const { directory, path } = yield* wallet
      const id = "ab".repeat(16)
      for (const end of [`.${id}.new`, `.version0.bak.${id}.new`, `.version0.12.bak.${id}.new`, `.${id}.copy.new`]) {
        writeFileSync(`${path}${end}`, "{\"mnemonic\"")
      }
      yield* open(path, "regtest")
      assert.deepStrictEqual(readdirSync(directory).sort(), ["stick", "wallet.json"])
      const other = join(directory, "other.json")
      writeFileSync(`${other}.${id}.new`, "{\"mnemonic\"")
      yield* create(other, yield* newDocument({ network: "regtest", now: 0, privateKeys: true, blank: false }))
      assert.deepStrictEqual(readdirSync(directory).sort(), ["other.json", "stick", "wallet.json"])
    }).pipe(Effect.provide(quiet)))

  it.scopedLive("from a failed copy are deleted at once with its note", () =>
    Effect.gen(function*() {
      const { directory, file, folder } = yield* wallet
      // The draft's name exceeds the maximum length of a file name.
      const failure = yield* Effect.flip(file.backup(join(folder, "x".repeat(240))))
      assert.strictEqual(failure._tag, "StorageUnavailable")
      assert.deepStrictEqual(readdirSync(folder), [])
      assert.deepStrictEqual(readdirSync(directory).sort(), ["stick", "wallet.json"])
    }))
})
