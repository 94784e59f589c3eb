import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { takeLock } from "../../../src/config/DirectoryLock.ts"
import { KeyRing } from "../../../src/wallet/keys/KeyRing.ts"
import { IndexStore } from "../../../src/wallet/ledger/IndexStore.ts"
import { makeCoinbase } from "../../support/regtest.ts"
import { withoutChecksum } from "../../support/walletText.ts"
import { about, taken } from "../../wallet/keys/rings.ts"
import { done, inPlace, PHRASE, refused, tool, typing, WIF } from "./walletTool.ts"

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
