import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { takeLock } from "../../../src/config/DirectoryLock.ts"
import type { ProgramOutcome } from "../../../src/programs/tool/outcome.ts"
import type { Prompt } from "../../../src/programs/tool/prompt.ts"
import { run } from "../../../src/programs/wallet/program.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { IndexStore } from "../../../src/wallet/ledger/IndexStore.ts"
import { inputOf } from "../../config/input.ts"
import { makeCoinbase } from "../../support/regtest.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"
import { withoutChecksum } from "../../support/walletText.ts"
import { about, taken } from "../../wallet/keys/rings.ts"

const PHRASE = `${"abandon ".repeat(11)}about`
const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"

/** An environment without a terminal. */
const NO_TERMINAL: Prompt = { secret: () => Effect.succeed(undefined), line: () => Effect.succeed(undefined) }

/** A terminal at which the user types these answers. */
const typing = (...answers: Array<string>): Prompt => {
  const next = () => Effect.sync(() => answers.shift())
  return { secret: next, line: next }
}

const tool = (argv: ReadonlyArray<string>, prompt = NO_TERMINAL, env: Readonly<Record<string, string>> = {}) =>
  run({ ...inputOf(argv, { env }), version: "9.9.9", prompt, stdin: () => Readable.from([]) })

interface Place {
  readonly file: string
  readonly dataDir: string
  readonly call: (...argv: ReadonlyArray<string>) => Effect.Effect<ProgramOutcome>
  readonly at: (prompt: Prompt, ...argv: ReadonlyArray<string>) => Effect.Effect<ProgramOutcome>
}

const inPlace = <E>(work: (place: Place) => Effect.Effect<void, E>) =>
  Effect.promise(() =>
    withDirectoryAsync((directory) => {
      const dataDir = join(directory, "node")
      const env = { SVCD_NETWORK: "regtest", SVCD_DATA_DIR: dataDir }
      return Effect.runPromise(work({
        dataDir,
        file: join(dataDir, "wallet.json"),
        call: (...argv) => tool(argv, NO_TERMINAL, env),
        at: (prompt, ...argv) => tool(argv, prompt, env)
      }))
    })
  )

const done = (outcome: ProgramOutcome): ProgramOutcome => {
  assert.strictEqual(outcome.code, 0, outcome.stderr)
  return outcome
}

const refused = ({ code, stderr, stdout }: ProgramOutcome, expected: number, words: RegExp): void => {
  assert.strictEqual(code, expected, stderr)
  assert.match(stderr, words)
  assert.strictEqual(stdout, "")
  for (const line of stderr.trimEnd().split("\n")) assert.match(line, /^svcd-wallet: /)
}

describe("the arguments of svcd-wallet", () => {
  it.effect.each([["--help"], ["-h"], ["nonsense", "--help"], ["--frob", "-help"]])(
    "help for %s %s",
    (argv) =>
      Effect.map(tool(argv), (outcome) => {
        const { stdout } = done(outcome)
        assert.match(stdout, /^Usage: svcd-wallet <sub-command> \[flags\]\n/)
        assert.strictEqual(outcome.stderr, "")
        for (const word of ["create", "recover", "import-key", "encrypt", "address", "balance", "export"]) {
          assert.match(stdout, new RegExp(`^  ${word} `, "m"))
        }
        for (const part of stdout.split("\n")) assert.isAtMost(part.length, 120, part)
      })
  )

  it.effect("have a help for each sub-command", () =>
    Effect.map(tool(["-network", "regtest", "recover", "-help"]), (outcome) => {
      const { stdout } = done(outcome)
      assert.match(stdout, /^Usage: svcd-wallet recover \[flags\]\n/)
      for (const flag of ["--mnemonic PHRASE", "--password PASSPHRASE", "--network mainnet|testnet|regtest"]) {
        assert.include(stdout, `\n  ${flag}`)
      }
      assert.notInclude(stdout, "--words")
    }))

  it.effect("prints its version", () =>
    Effect.map(tool(["-version"]), (outcome) => {
      assert.deepStrictEqual(outcome, { code: 0, stdout: "svcd-wallet 9.9.9\n", stderr: "" })
    }))

  it.effect("are refused if they are invalid, without printing a possible secret", () =>
    inPlace(({ call, dataDir }) =>
      Effect.gen(function*() {
        for (
          const [argv, words] of [
            [[], /missing command/],
            [["recovr"], /did you mean recover\?/],
            [[WIF], /that is not a command/],
            [["recover"], /--mnemonic is missing/],
            [["recover", PHRASE], /too many arguments/],
            [["recover", "--mnemonic"], /needs a value/],
            [["encrypt"], /there is no .*wallet\.json/],
            [["import-key"], /the private key is missing/],
            [["import-key", WIF, WIF], /too many arguments/],
            [["address", "--mnemonic", PHRASE], /--mnemonic: is not a flag of address/],
            [["create", "--words", "15"], /--words: "15" is not one of 12, 24/],
            [["create", "--frob"], /--frob: unknown flag/],
            [["create", `-${WIF}`], /\(not shown: it may be a private key\): unknown flag/],
            [["create", "-network", PHRASE], /-network: "\(not shown: these may be recovery words\)/],
            [["create", "-network", ...PHRASE.split(" ")], /too many arguments/],
            [["create", "-network", "moonnet"], /moonnet/],
            [["create", "-wallet", "../x"], /is not the name of a wallet/]
          ] as const
        ) {
          const outcome = yield* call(...argv)
          refused(outcome, argv[0] === "encrypt" ? 1 : 2, words)
          assert.notInclude(outcome.stderr, "abandon")
          assert.notInclude(outcome.stderr, WIF)
        }
        assert.isFalse(existsSync(dataDir))
      })
    ))
})

describe("svcd-wallet", () => {
  it.effect("recovers the wallet of a phrase, but only once", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        refused(yield* call("recover", "--mnemonic", PHRASE.replace("about", "aboutx")), 2, /word 12 "aboutx"/)
        assert.isFalse(existsSync(dataDir))
        // Flags of the connection may follow the command.
        const { stdout } = done(yield* tool(["recover", "--mnemonic", PHRASE, "-datadir", dataDir, "-network=regtest"]))
        assert.include(stdout, file)
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        const before = readFileSync(file, "utf8")
        assert.strictEqual(JSON.parse(before).rescanFrom, 0)
        // Its owner has the words.
        assert.isTrue(JSON.parse(before).phraseKept)
        assert.isNumber(JSON.parse(before).phraseChecked)
        refused(yield* call("recover", "--mnemonic", PHRASE), 1, /already/)
        refused(yield* call("create"), 1, /already/)
        assert.strictEqual(readFileSync(file, "utf8"), before)
        assert.strictEqual(done(yield* call("address")).stdout, "mkpZhYtJu2r87Js3pDiWJDmPte2NRZ8bJV\n")
        assert.strictEqual(
          done(yield* call("address", "--type", "p2sh-segwit")).stdout,
          "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2\n"
        )
        assert.notStrictEqual(done(yield* call("address")).stdout, "mkpZhYtJu2r87Js3pDiWJDmPte2NRZ8bJV\n")
        refused(yield* call("address", "--type", "bech33"), 2, /--type: "bech33" is not one of legacy, p2sh-segwit/)
        assert.match(done(yield* call("address", "--type", "bech32m")).stdout, /^ncrt1p/)
        const long = "x".repeat(1_000)
        done(yield* call("address", "--label", long))
        done(yield* call("address", "--label", ""))
        refused(yield* call("address", "--label", `${long}x`), 2, /--label: it is longer than 1000/)
        refused(yield* call("import-key", WIF, "--label", `${long}x`), 2, /--label: it is longer than 1000/)
      })
    ))

  it.effect("shows no address whose coins a third party could spend", () =>
    inPlace(({ dataDir }) =>
      Effect.gen(function*() {
        for (const network of ["mainnet", "testnet"]) {
          const flags = ["-datadir", `${dataDir}-${network}`, `-network=${network}`]
          done(yield* tool(["create", "-wallet", network, ...flags]))
          refused(
            yield* tool(["address", "--type", "bech32m", "-wallet", network, ...flags]),
            1,
            /bech32m addresses are not safe on this network/
          )
          done(yield* tool(["address", "--type", "bech32", "-wallet", network, ...flags]))
        }
      })
    ))

  it.effect("gives out no address that the words do not find, as the node, and says what to do", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        done(yield* call("recover", "--mnemonic", PHRASE))
        const beyond = withoutChecksum(readFileSync(file, "utf8")).replaceAll(/"receive": 0/g, "\"receive\": 1000")
        writeFileSync(file, beyond)
        refused(yield* call("address"), 1, /the last 1000 legacy addresses were not paid.* Reuse an issued one/)
        assert.include(readFileSync(file, "utf8"), "\"receive\": 1000", "nothing is taken")
        // The index of the node knows of a payment to an early address.
        const chainstate = join(dataDir, "chainstate")
        assert.isTrue(existsSync(chainstate))
        const ring = yield* KeyRing.make(yield* about, 2)
        const { script } = taken(ring, "legacy").own
        const { bytes, txid } = makeCoinbase(1, [{ value: 1, script }])
        const store = new IndexStore(join(chainstate, "wallet.db"), 4096)
        store.write({
          rows: [{ txid, bytes, height: 1, hash: txid, position: 0, blockTime: 1, time: 1, order: 0 }],
          conflicts: []
        })
        store.close()
        assert.match(done(yield* call("address")).stdout, /^[mn]/)
        refused(yield* call("address", "--type", "bech32"), 1, /the last 1000 bech32 addresses were not paid/)
      })
    ))

  it.effect("says why the blocks could not be searched after a recovery", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        const chainstate = join(dataDir, "chainstate")
        mkdirSync(chainstate, { recursive: true })
        writeFileSync(join(chainstate, "chainstate.db"), "no database at all".repeat(500))
        const { stderr, stdout } = done(yield* call("recover", "--mnemonic", PHRASE))
        assert.include(stdout, `The wallet was recovered: ${file}`)
        assert.include(stderr, "The wallet is not encrypted, even if it was before")
        assert.include(stderr, "does not say which names renew automatically")
        assert.match(stderr, /The local blocks could not be searched: .*chainstate\.db/)
        assert.include(stderr, "The wallet itself is complete.")
      })
    ))

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

  it.effect("imports a key, and creates a wallet if there is none", () =>
    inPlace(({ at, call, file }) =>
      Effect.gen(function*() {
        refused(yield* call("import-key", "not-a-key"), 2, /not a private key/)
        refused(
          yield* call("import-key", "TdNVv3rvWfukQ9PGYe3kJL2foDARGKorJX8TimN3P8f7h5uGyJzz"),
          2,
          /another network, not for regtest/
        )
        assert.isFalse(existsSync(file))
        const { stderr, stdout } = done(yield* call("import-key", WIF, "--label", "old"))
        assert.match(stdout, /mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r/)
        assert.match(stderr, /A new wallet was created/)
        const { birthday, imports, labels, rescanFrom } = JSON.parse(readFileSync(file, "utf8"))
        assert.deepStrictEqual([imports.length, labels.length, birthday, rescanFrom], [1, 3, 0, 0])
        assert.match(done(yield* at(typing(WIF), "import-key")).stdout, /already had this key/)
        assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).imports.length, 1)
      })
    ))

  it.effect("treats a link to a missing file as a wallet", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        mkdirSync(dataDir)
        symlinkSync(join(dataDir, "away.json"), file)
        for (const argv of [["create"], ["recover", "--mnemonic", PHRASE], ["import-key", WIF]]) {
          refused(yield* call(...argv), 1, /there is already a wallet/)
        }
        refused(yield* call("address"), 1, /a link to a file that is not there/)
        assert.isTrue(lstatSync(file).isSymbolicLink())
        assert.isFalse(existsSync(join(dataDir, "away.json")))
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

  it.effect("refuses the directory of a running node, and of another network", () =>
    inPlace(({ call, dataDir, file }) =>
      Effect.gen(function*() {
        done(yield* call("recover", "--mnemonic", PHRASE))
        const before = readFileSync(file, "utf8")
        refused(yield* call("address", "-network", "testnet"), 1, /is for "regtest", not for "testnet"/)
        const held = takeLock(join(dataDir, "LOCK"))
        refused(yield* call("address"), 1, /is in use/)
        if (held._tag === "Held") held.release()
        assert.strictEqual(readFileSync(file, "utf8"), before)
      })
    ))

  it.effect("has no balance before a node has stored a chain", () =>
    inPlace(({ call, dataDir }) =>
      Effect.gen(function*() {
        refused(yield* call("balance"), 1, /there is no .*wallet\.json/)
        done(yield* call("create"))
        refused(yield* call("balance"), 1, /run svcd there first/)
        assert.isFalse(existsSync(join(dataDir, "chainstate", "chainstate.db")))
      })
    ))
})
