import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { takeLock } from "../../../src/config/DirectoryLock.ts"
import { withoutChecksum } from "../../support/walletText.ts"
import { done, inPlace, NO_TERMINAL, PHRASE, refused, typing, WIF } from "./walletTool.ts"

describe("the secrets of svcd-wallet", () => {
  it.effect("makes another seed with a passphrase for the words", () =>
    inPlace(({ call }) =>
      Effect.gen(function*() {
        done(yield* call("recover", "--mnemonic", PHRASE, "--passphrase", "TREZOR"))
        assert.notStrictEqual(done(yield* call("address")).stdout, "mkpZhYtJu2r87Js3pDiWJDmPte2NRZ8bJV\n")
        const { stderr, stdout } = done(yield* call("export", "--phrase", "--yes"))
        assert.strictEqual(stdout, `${PHRASE}\n`)
        assert.match(stderr, /only together with the passphrase/)
      })
    ))

  it.effect("prints only words that belong to the wallet", () =>
    inPlace(({ call, file }) =>
      Effect.gen(function*() {
        done(yield* call("create", "--words", "12"))
        const text = withoutChecksum(readFileSync(file, "utf8"))
        const [, words = ""] = /"plain": "([a-z ]+)"/.exec(text) ?? []
        writeFileSync(file, text.replace(words, PHRASE))
        refused(yield* call("export", "--phrase", "--yes"), 1, /the words \(seed\.mnemonic\) do not give the seed/)
        // A file of 0.1.0 does not record whether a passphrase belongs to the words.
        writeFileSync(file, text.replace(words, PHRASE).replace(/,\s*"mnemonicPassphrase": false/, ""))
        const { stderr } = done(yield* call("export", "--phrase", "--yes"))
        assert.match(stderr, /If none was set, the words in the file are damaged/)
      })
    ))

  it.effect("prints the words of a new wallet once, and again only on demand", () =>
    inPlace(({ at, call }) =>
      Effect.gen(function*() {
        const { stderr, stdout } = done(yield* call("create", "--words", "12"))
        assert.strictEqual(stdout.trim().split(" ").length, 12)
        assert.match(stderr, /Write these words down/)
        // At a terminal the question has them. Here the user leaves it.
        for (const hasResults of [true, false]) {
          const terminal = { ...NO_TERMINAL, terminal: { hasResults } }
          const left = done(yield* at(terminal, "create", "-wallet", `left-${hasResults}`))
          assert.match(left.stderr, /You have not verified your seed phrase/)
          assert.strictEqual(left.stdout === "", hasResults)
        }
        const read = done(
          yield* at({ ...NO_TERMINAL, terminal: { hasResults: true } }, "create", "--yes", "-wallet", "read")
        )
        assert.match(read.stdout, /^ 1 [a-z]+ +2 [a-z]+ [^]*\n21 [a-z]+ +22 [a-z]+ +23 [a-z]+ +24 [a-z]+\n$/)
        refused(yield* call("export", "--phrase"), 2, /--yes/)
        refused(yield* at(typing("no"), "export", "--phrase"), 2, /--yes/)
        assert.strictEqual(done(yield* at(typing("yes"), "export", "--phrase")).stdout, stdout)
        assert.deepStrictEqual(yield* call("export", "--phrase", "--yes"), { code: 0, stdout, stderr: "" })
        const shown = done(yield* call("export")).stdout
        assert.strictEqual(shown.trim().split("\n").length, 8)
        assert.notInclude(shown, "tprv")
        assert.include(done(yield* call("export", "--private", "--yes")).stdout, "tprv")
      })
    ))

  it.live(
    "encrypts the wallet, and then requires the passphrase",
    () =>
      inPlace(({ at, call, file }) =>
        Effect.gen(function*() {
          done(yield* call("recover", "--mnemonic", PHRASE))
          done(yield* call("import-key", WIF))
          refused(yield* call("encrypt"), 2, /--password is missing/)
          refused(yield* call("encrypt", "--password", ""), 2, /empty/)
          refused(yield* at(typing("one", "two"), "encrypt"), 2, /--password is missing/)
          refused(yield* at(typing("1", "2", "3", "4", "5", "6"), "encrypt"), 2, /passphrases differ/)
          // A slip costs nothing.
          done(yield* at(typing("one", "two", "", "one", "one"), "encrypt"))
          const text = readFileSync(file, "utf8")
          for (const secret of ["abandon", WIF, "\"plain\""]) assert.notInclude(text, secret)
          refused(yield* call("encrypt", "--password", "two"), 1, /already encrypted/)
          refused(yield* call("import-key", WIF), 2, /--password is missing/)
          refused(yield* call("import-key", WIF, "--password", "two"), 1, /the passphrase is wrong/)
          assert.strictEqual(readFileSync(file, "utf8"), text)
          done(yield* call("address"))
          done(yield* call("import-key", WIF, "--password", "one"))
          assert.notInclude(readFileSync(file, "utf8"), WIF)
          assert.strictEqual(done(yield* at(typing("two", "one"), "export", "--phrase", "--yes")).stdout, `${PHRASE}\n`)
        })
      ),
    60_000
  )

  it.live(
    "writes no unencrypted secret if a passphrase is set from the start",
    () =>
      inPlace(({ call, dataDir }) =>
        Effect.gen(function*() {
          done(yield* call("recover", "-wallet", "other one", "--mnemonic", PHRASE, "--password", "x"))
          const text = readFileSync(join(dataDir, "wallets", "other one.json"), "utf8")
          assert.notInclude(text, "\"plain\"")
          assert.isFalse(existsSync(join(dataDir, "wallet.json")))
        })
      ),
    60_000
  )

  it.live(
    "keeps every character of a passphrase",
    () =>
      inPlace(({ call }) =>
        Effect.gen(function*() {
          done(yield* call("create", "--password= two spaces "))
          const { stderr } = yield* call("export", "--phrase", "--yes", "--password=two spaces")
          assert.match(stderr, /the passphrase is wrong/)
          done(yield* call("export", "--phrase", "--yes", "--password", " two spaces "))
          // A value may look like a flag of the program behind an equals sign.
          refused(yield* call("export", "--phrase", "--yes", "--password=--yes"), 1, /the passphrase is wrong/)
        })
      ),
    60_000
  )

  it.effect("shows the words beside a running node, whose file it does not write", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        const { stdout } = done(yield* call("create", "--words", "12"))
        writeFileSync(file, withoutChecksum(readFileSync(file, "utf8")).replace(/,\s*"phraseKept": true/, ""))
        const before = readFileSync(file, "utf8")
        const held = takeLock(join(dataDir, "LOCK"))
        const beside = done(yield* call("export", "--phrase", "--yes"))
        assert.strictEqual(beside.stdout, stdout)
        assert.include(beside.stderr, "svcd-cli seed check")
        assert.strictEqual(done(yield* call("export")).stdout.trim().split("\n").length, 8)
        if (held._tag === "Held") held.release()
        assert.strictEqual(readFileSync(file, "utf8"), before)
        assert.deepStrictEqual(yield* call("export", "--phrase", "--yes"), { code: 0, stdout, stderr: "" })
        assert.isTrue(JSON.parse(readFileSync(file, "utf8")).phraseKept)
      })
    ))
})
