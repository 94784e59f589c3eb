import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { regtest } from "../../../../src/protocol/networks.ts"
import { StorageUnavailable } from "../../../../src/storage/errors.ts"
import { InvalidWalletRequest, WalletDamaged, WrongPassphrase } from "../../../../src/wallet/errors.ts"
import { fakeWallet, fakeWallets } from "../../../support/fakeWallet.ts"
import { walletNode } from "../../../support/walletNode.ts"

type Node = Effect.Effect.Success<ReturnType<typeof walletNode>>

const run = <A, E>(wallets: ReturnType<typeof fakeWallets>, use: (node: Node) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(walletNode(wallets), use))

const refuse = (code: InvalidWalletRequest["code"]) => () => new InvalidWalletRequest({ code, reason: `it is ${code}` })

describe("wallets as a whole", () => {
  it.effect("are created, listed, loaded and unloaded", () =>
    run(fakeWallets([fakeWallet().wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { call } = on()
        assert.strictEqual((yield* call("createwallet", "second")).text, `{"name":"second"}`)
        assert.deepStrictEqual((yield* call("listwallets")).value, ["", "second"])
        assert.strictEqual(
          (yield* call("listwalletdir")).text,
          `{"wallets":[{"name":"","warnings":[]},{"name":"second","warnings":[]}]}`
        )
        assert.strictEqual((yield* call("unloadwallet", "second")).text, "{}")
        assert.strictEqual((yield* call("loadwallet", "second")).text, `{"name":"second"}`)
        assert.strictEqual((yield* on("second").call("unloadwallet")).text, "{}")
        assert.strictEqual((yield* call("restorewallet", "third", "/backup")).text, `{"name":"third"}`)
        assert.deepStrictEqual((yield* call("listwallets")).value, ["", "third"])
        // The wallets of this test call this one a copy of two others.
        const { text } = yield* call("restorewallet", "twin", "/backup")
        assert.match(
          text,
          /^{"name":"twin","warnings":\["Wallets with the same keys are loaded: \\"first\\", \\"\\"\. /
        )
      })))

  it.effect("are created with the requested options", () => {
    const made: Array<unknown> = []
    const wallets = fakeWallets([], {
      create: (request) => {
        const { passphrase } = request
        made.push({ ...request, passphrase: passphrase === undefined ? undefined : Redacted.value(passphrase) })
        return Effect.succeed(fakeWallet({ name: request.name }).wallet)
      }
    })
    return run(wallets, ({ on }) =>
      Effect.gen(function*() {
        const { call } = on()
        yield* call("createwallet", "a", true, true, null, false, true, true)
        yield* call("createwallet", "b", false, false, "secret", true, true, false)
        assert.strictEqual(
          (yield* call("createwallet", "c", false, false, "")).text,
          `{"name":"c","warnings":["Empty string given as passphrase, wallet will not be encrypted."]}`
        )
        assert.deepStrictEqual(made, [
          { name: "a", privateKeys: false, blank: true, avoidReuse: false, passphrase: undefined, loadOnStart: true },
          { name: "b", privateKeys: true, blank: false, avoidReuse: true, passphrase: "secret", loadOnStart: false },
          {
            name: "c",
            privateKeys: true,
            blank: false,
            avoidReuse: false,
            passphrase: undefined,
            loadOnStart: undefined
          }
        ])
      }))
  })

  it.effect("are refused with the reference node's codes", () => {
    const wallets = fakeWallets([fakeWallet({ name: "w1" }).wallet], {
      create: ({ name }) => name === "/" ? refuse("missing")() : refuse("exists")(),
      load: refuse("missing"),
      restore: ({ name }) =>
        name === "w1" ? refuse("exists")() : name === "lost"
          ? new InvalidWalletRequest({ code: "missing", reason: "Backup file does not exist" }) :
          new WalletDamaged({
            file: "/backup",
            found: "half of it"
          })
    })
    return run(wallets, ({ on }) =>
      Effect.gen(function*() {
        const { refusal } = on()
        const code = (...params: readonly [string, ...ReadonlyArray<unknown>]) =>
          Effect.map(refusal(...params), ({ code }) => code)
        assert.deepStrictEqual(yield* refusal("createwallet", "w1"), {
          code: -4,
          message: "Wallet file verification failed. Failed to create database path 'w1'. Database already exists."
        })
        assert.deepStrictEqual(yield* refusal("createwallet", "/"), { code: -8, message: "it is missing" })
        assert.deepStrictEqual(yield* refusal("createwallet", ""), { code: -8, message: "Wallet name cannot be empty" })
        assert.deepStrictEqual(yield* refusal("createwallet", "x", false, false, "", false, false), {
          code: -4,
          message: "descriptors argument must be set to \"true\"; it is no longer possible to create a legacy wallet."
        })
        assert.match((yield* refusal("createwallet", "x", true, false, "p")).message, /^Passphrase provided but/)
        assert.strictEqual(yield* code("createwallet", "x", false, false, "", true), -4)
        assert.strictEqual(yield* code("createwallet", "x", false, false, "", false, true, true, true), -4)
        assert.deepStrictEqual(yield* refusal("loadwallet", "w1"), {
          code: -35,
          message: "Wallet \"w1\" is already loaded."
        })
        assert.strictEqual(yield* code("loadwallet", "lost"), -18)
        assert.strictEqual(yield* code("restorewallet", "w1", "/backup"), -36)
        assert.deepStrictEqual(yield* refusal("restorewallet", "lost", "/backup"), {
          code: -8,
          message: "Backup file does not exist"
        })
        assert.strictEqual(yield* code("restorewallet", "x", "/backup"), -18)
        for (
          const [path, why] of [
            [`/${"a".repeat(256)}`, "has a part that is longer than 255 bytes"],
            [`/${"ä".repeat(128)}/x`, "has a part that is longer than 255 bytes"],
            ["/a".repeat(2_100), "is longer than 4095 bytes"],
            ["/a\0b", "holds a zero byte"]
          ] as const
        ) {
          assert.deepStrictEqual(yield* refusal("restorewallet", "x", path), {
            code: -8,
            message: `backup_file ${why}; give the path of a file on the node's machine`
          })
        }
        assert.strictEqual(yield* code("restorewallet", "x", `/${"a".repeat(255)}`), -18)
        assert.strictEqual(yield* code("unloadwallet"), -8)
        assert.strictEqual(yield* code("unloadwallet", "x"), -18)
        assert.strictEqual((yield* on("w1").refusal("unloadwallet", "x")).code, -8)
      }))
  })

  it.effect("have no methods without wallets (reference/rpc.md 9.4)", () =>
    run(fakeWallets([], { enabled: false }), ({ methods }) => Effect.sync(() => assert.deepStrictEqual(methods, []))))
})

describe("one wallet", () => {
  it.effect("describes itself", () => {
    const { wallet } = fakeWallet({
      name: "w1",
      encryption: () => "locked",
      hasPrivateKeys: false,
      keypool: () => ({ receive: 7, change: 8 }),
      scanning: () => ({ duration: 3.7, progress: 0.5 }),
      lastBlock: () => ({ height: 3, hash: regtest.genesisHash })
    })
    return run(fakeWallets([wallet]), ({ on }) =>
      Effect.gen(function*() {
        assert.deepInclude((yield* on().call("getwalletinfo")).value, {
          walletname: "w1",
          format: "json",
          txcount: 0,
          keypoolsize: 7,
          keypoolsize_hd_internal: 8,
          unlocked_until: 0,
          private_keys_enabled: false,
          scanning: { duration: 3, progress: 0.5 },
          birthtime: 1_500_000_000,
          flags: ["last_hardened_xpub_cached", "disable_private_keys", "descriptor_wallet"]
        })
      }))
  })

  it.effect("reports that it does not scan, and omits missing members", () =>
    run(fakeWallets([fakeWallet({ birthtime: () => 0 }).wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { value } = yield* on().call("getwalletinfo")
        assert.deepInclude(value, { scanning: false, flags: ["last_hardened_xpub_cached", "descriptor_wallet"] })
        assert.notProperty(value, "unlocked_until")
        assert.notProperty(value, "birthtime")
      })))

  it.effect("has flags, of which avoid_reuse can change", () => {
    let avoids = false
    const { wallet } = fakeWallet({
      avoidsReuse: () => avoids,
      setAvoidReuse: (on) => Effect.sync(() => void (avoids = on)),
      isBlank: () => true,
      hasPrivateKeys: false
    })
    return run(fakeWallets([wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on()
        assert.deepStrictEqual((yield* call("setwalletflag", "avoid_reuse")).value, {
          flag_name: "avoid_reuse",
          flag_state: true
        })
        assert.deepInclude((yield* call("getwalletinfo")).value, {
          avoid_reuse: true,
          blank: true,
          flags: ["last_hardened_xpub_cached", "disable_private_keys", "blank", "descriptor_wallet", "avoid_reuse"]
        })
        const refused = (...given: ReadonlyArray<string | boolean>) =>
          Effect.map(refusal("setwalletflag", ...given), ({ code, message }) => [code, message])
        assert.deepStrictEqual(yield* refused("avoid_reuse"), [
          -8,
          "Wallet flag is already set to true: avoid_reuse"
        ])
        assert.deepStrictEqual(yield* refused("blank", false), [-8, "Wallet flag is immutable: blank"])
        assert.deepStrictEqual(yield* refused("abc"), [-8, "Unknown wallet flag: abc"])
        yield* call("setwalletflag", "avoid_reuse", false)
        assert.isFalse(avoids)
      }))
  })

  it.effect("of the old kind and of external signers do not exist", () =>
    run(fakeWallets([fakeWallet().wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { refusal } = on()
        const refused = (name: string, ...given: ReadonlyArray<string>) =>
          Effect.map(refusal(name, ...given), ({ code, message }) => [code, message])
        assert.deepStrictEqual(yield* refused("migratewallet", "old"), [
          -4,
          "Error: This wallet is already a descriptor wallet"
        ])
        assert.deepStrictEqual(yield* refused("enumeratesigners"), [
          -1,
          "Compiled without external signing support (required for external signing)"
        ])
        assert.deepStrictEqual(yield* refused("walletdisplayaddress", "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"), [
          -1,
          "There is no ScriptPubKeyManager for this address"
        ])
        assert.deepStrictEqual(yield* refused("walletdisplayaddress", "x"), [-5, "Invalid address"])
      })))

  it.effect("is copied, and reports only the failure of a copy", () => {
    const fake = fakeWallet({ name: "good" })
    const bad = fakeWallet({
      name: "bad",
      backup: () => new StorageUnavailable({ file: "/x", doing: "writing", reason: "no space" })
    })
    return run(fakeWallets([fake.wallet, bad.wallet]), ({ on }) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* on("good").call("backupwallet", "/backup")).text, "null")
        assert.deepStrictEqual(fake.calls, [["backup", "/backup"]])
        assert.deepStrictEqual(yield* on("bad").refusal("backupwallet", "/x"), {
          code: -4,
          message: "Error: Wallet backup failed! writing /x failed: no space"
        })
      }))
  })

  it.effect("compares recovery words, and repeats none of them in an answer", () => {
    const given: Array<ReadonlyArray<unknown>> = []
    const fake = fakeWallet({
      isPhraseKept: () => true,
      phraseChecked: () => given.length === 0 ? undefined : 1_700_000_000,
      checkWords: (words) =>
        Effect.sync(() => {
          given.push([...words].map(([place, word]) => [place, Redacted.value(word)]))
          return given.length > 1
        })
    })
    return run(fakeWallets([fake.wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on("")
        assert.notInclude((yield* call("getwalletinfo")).text, "phrase_checked")
        const words = { 3: "zebra", 11: "ability", 24: "able" }
        assert.deepInclude((yield* call("checkrecoverywords", words)).value, { correct: false })
        assert.strictEqual(
          (yield* call("checkrecoverywords", words)).text,
          `{"correct":true,"phrase_checked":1700000000}`
        )
        assert.deepStrictEqual(given[0], [[3, "zebra"], [11, "ability"], [24, "able"]])
        assert.deepInclude((yield* call("getwalletinfo")).value, { phrase_kept: true, phrase_checked: 1_700_000_000 })
        const places = { code: -8, message: "the places of words are numbers from 1 to 24, each given once" }
        for (const key of ["0", "25", "03", "zebra", "-1", ""]) {
          assert.deepStrictEqual(yield* refusal("checkrecoverywords", { [key]: "zebra" }), places)
        }
        assert.deepStrictEqual(yield* refusal("checkrecoverywords", { 3: ["zebra"] }), {
          code: -8,
          message: "each word is a text"
        })
        assert.lengthOf(given, 2)
      }))
  })

  it.effect("scans blocks again", () => {
    const last = () => ({ height: 10, hash: regtest.genesisHash })
    const fake = fakeWallet({ lastBlock: last })
    const busy = fakeWallet({ name: "busy", scanning: () => ({ duration: 1, progress: 0 }) })
    return run(fakeWallets([fake.wallet, busy.wallet]), ({ on }) =>
      Effect.gen(function*() {
        const { call, refusal } = on("")
        assert.strictEqual((yield* call("rescanblockchain", 2, 5)).text, `{"start_height":2,"stop_height":5}`)
        yield* call("rescanblockchain")
        assert.deepStrictEqual(fake.calls, [["rescan", 2, 5], ["rescan", 0, undefined]])
        const message = (...params: ReadonlyArray<unknown>) =>
          Effect.map(refusal("rescanblockchain", ...params), ({ code, message }) => [code, message])
        assert.deepStrictEqual(yield* message(11), [-8, "Invalid start_height"])
        assert.deepStrictEqual(yield* message(-1), [-8, "Invalid start_height"])
        assert.deepStrictEqual(yield* message(0, 11), [-8, "Invalid stop_height"])
        assert.deepStrictEqual(yield* message(5, 4), [-8, "stop_height must be greater than start_height"])
        const scanning = { code: -4, message: "Wallet is currently rescanning. Abort existing rescan or wait." }
        assert.deepStrictEqual(yield* on("busy").refusal("rescanblockchain"), scanning)
        assert.deepStrictEqual(yield* on("busy").refusal("unloadwallet"), scanning)
      }))
  })
})

describe("passphrases", () => {
  const secretsOf = (calls: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]>) =>
    calls.map(([member, ...given]) => [
      member,
      ...given.map((each) => Redacted.isRedacted(each) ? Redacted.value(each) : each)
    ])

  it.effect("lock and unlock the wallet", () => {
    const plain = fakeWallet({ name: "plain" })
    const sealed = fakeWallet({ name: "sealed", encryption: () => "locked" })
    return run(fakeWallets([plain.wallet, sealed.wallet]), ({ on }) =>
      Effect.gen(function*() {
        assert.match(String((yield* on("plain").call("encryptwallet", "secret")).value), /^wallet encrypted;/)
        assert.deepStrictEqual(secretsOf(plain.calls), [["encrypt", "secret"]])
        const { call } = on("sealed")
        yield* call("walletpassphrase", "secret", 60)
        yield* call("walletpassphrase", "secret", 100_000_001)
        yield* call("walletlock")
        yield* call("walletpassphrasechange", "secret", "other")
        assert.deepStrictEqual(secretsOf(sealed.calls), [
          ["unlock", "secret", 60],
          ["unlock", "secret", 100_000_000],
          ["lock"],
          ["changePassphrase", "secret", "other"]
        ])
      }))
  })

  it.effect("are refused in the reference node's words", () => {
    const plain = fakeWallet({ name: "plain" })
    const watch = fakeWallet({ name: "watch", hasPrivateKeys: false })
    const sealed = fakeWallet({
      name: "sealed",
      encryption: () => "locked",
      unlock: () => new WrongPassphrase(),
      changePassphrase: () => new WrongPassphrase()
    })
    return run(fakeWallets([plain.wallet, watch.wallet, sealed.wallet]), ({ on }) =>
      Effect.gen(function*() {
        const refused = (wallet: string, ...params: readonly [string, ...ReadonlyArray<unknown>]) =>
          Effect.map(on(wallet).refusal(...params), ({ code, message }) => [code, message])
        const unencrypted = (
          called: string
        ) => [-15, `Error: running with an unencrypted wallet, but ${called} was called.`]
        const wrong = [-14, "Error: The wallet passphrase entered was incorrect."]
        const empty = [-8, "passphrase cannot be empty"]
        assert.deepStrictEqual(yield* refused("plain", "walletpassphrase", "x", 1), unencrypted("walletpassphrase"))
        assert.deepStrictEqual(yield* refused("plain", "walletlock"), unencrypted("walletlock"))
        assert.deepStrictEqual(
          yield* refused("plain", "walletpassphrasechange", "x", "y"),
          unencrypted("walletpassphrasechange")
        )
        assert.deepStrictEqual(yield* refused("plain", "encryptwallet", ""), empty)
        assert.deepStrictEqual(yield* refused("sealed", "encryptwallet", "x"), [
          -15,
          "Error: running with an encrypted wallet, but encryptwallet was called."
        ])
        assert.strictEqual((yield* refused("watch", "encryptwallet", "x"))[0], -16)
        assert.deepStrictEqual(yield* refused("sealed", "walletpassphrase", "x", 1), wrong)
        assert.deepStrictEqual(yield* refused("sealed", "walletpassphrase", "", 1), empty)
        assert.deepStrictEqual(yield* refused("sealed", "walletpassphrase", "x", -1), [
          -8,
          "Timeout cannot be negative."
        ])
        assert.deepStrictEqual(yield* refused("sealed", "walletpassphrasechange", "x", "y"), wrong)
        assert.deepStrictEqual(yield* refused("sealed", "walletpassphrasechange", "x", ""), empty)
      }))
  })
})
