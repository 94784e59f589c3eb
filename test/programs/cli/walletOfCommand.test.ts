import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { answering, runWith } from "./commandRun.ts"
import { inTurn } from "./fakeDaemon.ts"
import { FREE, OWNED } from "./someNames.ts"

/** The wallet that a command uses: which one of several, and how it is unlocked for the command. */

describe("several wallets", () => {
  const several = new RpcFailure({ code: -19, message: "Multiple wallets are loaded." })

  it.effect("are listed as -rpcwallet names them", () =>
    Effect.gen(function*() {
      const { run } = runWith({ name_list: several, listwallets: ["", "w2"] })
      const { code, stderr } = yield* run("names")
      const expected = "error: Several wallets are loaded: \"\" (wallet.json), \"w2\"; " +
        "add -rpcwallet NAME, or -rpcwallet '' for wallet.json.\n"
      assert.deepStrictEqual([code, stderr], [19, expected])
    }))

  it.effect("leave wallet.json to commands that spend nothing, which say so", () =>
    Effect.gen(function*() {
      const answers = { getnewaddress: inTurn(several, "\"N1new\""), listwallets: ["", "w2"] }
      const { notes, run } = runWith(answers)
      assert.strictEqual((yield* run("receive")).stdout, "N1new\n")
      assert.deepStrictEqual(notes, [
        "svcd-cli: of wallet.json; others are loaded, and -rpcwallet NAME chooses one: \"w2\""
      ])
      const none = runWith({ ...answers, getnewaddress: several, listwallets: ["w1", "w2"] })
      assert.match((yield* none.run("receive")).stderr, /Several wallets are loaded: "w1", "w2"; add -rpcwallet NAME/)
      assert.deepStrictEqual(none.notes, [])
    }))

  it.effect("leave no wallet to a command that spends", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...OWNED, name_update: several, listwallets: ["", "w2"] })
      assert.match((yield* run("update", "d/example", "-ip", "192.0.2.9", "-yes")).stderr, /add -rpcwallet NAME/)
      assert.lengthOf(sent("name_update"), 1)
    }))
})

describe("a locked wallet", () => {
  const LOCKED = { ...FREE, getwalletinfo: { unlocked_until: 0 }, walletpassphrase: "null", walletlock: "null" }

  it.effect("is unlocked with the passphrase for the command alone", () =>
    Effect.gen(function*() {
      const { daemon, run } = runWith(LOCKED, { prompt: answering("y", "geheim") })
      assert.strictEqual((yield* run("register", "d/example")).code, 0)
      const calls = daemon.calls.filter(({ method }) => /^wallet|autoregister/.test(method))
      assert.deepStrictEqual(
        calls.map(({ method, params }) => [method, method === "walletpassphrase" ? params : undefined]),
        [["walletpassphrase", ["geheim", 60]], ["name_autoregister", undefined], ["walletlock", undefined]]
      )
    }))

  it.effect("renews names again afterwards if it did before", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const wallet = { unlocked_until: 5_000, renewals_only: true }
      const { run, sent } = runWith({ ...LOCKED, getwalletinfo: wallet }, { prompt: answering("y", "geheim") })
      yield* run("register", "d/example")
      assert.deepStrictEqual(sent("walletpassphrase"), [["geheim", 60], ["geheim", 4_000, true]])
      assert.lengthOf(sent("walletlock"), 0)
    }))

  it.effect("asks again after a slip, three times at most, and loses nothing", () =>
    Effect.gen(function*() {
      const wrong = new RpcFailure({ code: -14, message: "incorrect" })
      const prompt = answering("y", "falsch", "geheim")
      const slip = runWith({ ...LOCKED, walletpassphrase: inTurn(wrong, "null") }, { prompt })
      assert.strictEqual((yield* slip.run("register", "d/example")).code, 0)
      assert.deepStrictEqual(prompt.secrets, [
        "Passphrase of the wallet: ",
        "The passphrase is wrong. Passphrase of the wallet: "
      ])
      const never = runWith({ ...LOCKED, walletpassphrase: wrong }, { prompt: answering("y", "a", "b", "c", "d") })
      assert.strictEqual(
        (yield* never.run("register", "d/example")).stderr,
        "error: the passphrase is wrong; nothing was done\n"
      )
      assert.lengthOf(never.sent("walletpassphrase"), 3)
      const left = runWith(LOCKED, { prompt: answering("y") })
      assert.match(
        (yield* left.run("register", "d/example")).stderr,
        /^error: no passphrase was given; nothing was done/
      )
      assert.lengthOf([...never.sent("name_autoregister"), ...left.sent("name_autoregister")], 0)
    }))

  it.effect("takes the passphrase of -stdin without a terminal, and otherwise names the flag", () =>
    Effect.gen(function*() {
      const none = runWith(LOCKED)
      assert.match(
        (yield* none.run("register", "d/example", "-yes")).stderr,
        /^error: the passphrase of the wallet is needed.*\n-stdin reads it from standard input\n$/
      )
      assert.lengthOf(none.sent("name_autoregister"), 0)
      const piped = runWith(LOCKED, { passphrases: ["geheim"] })
      assert.strictEqual((yield* piped.run("register", "d/example", "-yes")).code, 0)
      assert.deepStrictEqual(piped.sent("walletpassphrase"), [["geheim", 60]])
      assert.lengthOf(piped.sent("walletlock"), 1)
    }))
})
