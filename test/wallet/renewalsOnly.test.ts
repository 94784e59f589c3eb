import { assert } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { layer } from "../support/layer.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"

/**
 * A wallet that is unlocked for renewals only, attacked through every method that uses keys. The rule is in the vault: so
 * the methods are called on a whole node, and not their parts.
 */

const PASSPHRASE = "a long passphrase"

const NAME = "d/example"
const VALUE = "{\"ip\":\"192.0.2.1\"}"

/** An address of another wallet. */
const FOREIGN = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"

const REFUSED = -13

layer(methodNode({ blocks: false, wallets: true }))("a wallet that is unlocked for renewals only", (it) => {
  const answered = (method: string, ...params: ReadonlyArray<unknown>) =>
    Effect.flatMap(MethodNode, ({ call }) => Effect.map(call(method, ...params), ({ value }) => value))

  const text = (method: string, ...params: ReadonlyArray<unknown>) => Effect.map(answered(method, ...params), String)

  const mine = (count: number) => answered("generatetoaddress", count, FOREIGN)

  const begin = Effect.gen(function*() {
    const own = yield* text("getnewaddress", "", "legacy")
    yield* answered("generatetoaddress", 3, own)
    yield* mine(100)
    yield* answered("name_new", NAME)
    yield* mine(12)
    yield* answered("name_firstupdate", NAME, undefined, undefined, VALUE)
    yield* mine(1)
    const xprv = yield* text("listdescriptors", true)
    yield* answered("encryptwallet", PASSPHRASE)
    return { own, xprv }
  })

  it.effect("signs renewals, and nothing else that any method asks for", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const { own } = yield* begin
      const locked = yield* refusal("name_update", NAME)
      assert.deepInclude(locked, { code: REFUSED })
      assert.include(locked.message, "Please enter the wallet passphrase")
      yield* answered("walletpassphrase", PASSPHRASE, 1_000, true)
      const info = JSON.stringify(yield* answered("getwalletinfo"))
      assert.include(info, "\"renewals_only\":true")

      const refused = (method: string, ...params: ReadonlyArray<unknown>) =>
        Effect.map(refusal(method, ...params), ({ code, message }) => {
          assert.strictEqual(code, REFUSED, `${method}: ${message}`)
          assert.include(message, "renewals only", method)
          assert.include(message, "walletpassphrase", method)
        })

      // Payments.
      yield* refused("sendtoaddress", FOREIGN, 1)
      yield* refused("sendtoaddress", own, 1)
      yield* refused("sendmany", "", { [FOREIGN]: 1 })
      yield* refused("sendtoname", NAME, 1)
      yield* refused("sendall", [FOREIGN])
      yield* refused("send", { [FOREIGN]: 1 })
      // Signatures over what the caller gives.
      const coins = yield* answered("listunspent")
      const [coin] = Array.isArray(coins) ? coins : []
      const input = { txid: coin.txid, vout: coin.vout }
      const raw = yield* text("createrawtransaction", [input], { [FOREIGN]: 1 })
      yield* refused("signrawtransactionwithwallet", raw)
      yield* refused("signmessage", own, "hello")
      const psbt = yield* text("createpsbt", [input], { [FOREIGN]: 1 })
      yield* refused("walletprocesspsbt", psbt)
      // Keys.
      yield* refused("listdescriptors", true)
      yield* refused("gethdkeys", { private: true })
      yield* refused("createwalletdescriptor", "bech32m")
      // Other operations on names.
      yield* refused("name_new", "d/other")
      yield* refused("name_autoregister", "d/other", "{}")
      yield* refused("name_update", NAME, "{\"ip\":\"203.0.113.1\"}")
      yield* refused("name_update", NAME, "")
      yield* refused("name_update", NAME, VALUE, { destAddress: FOREIGN })
      yield* refused("name_update", NAME, undefined, { sendCoins: { [FOREIGN]: 1 } })
      assert.deepStrictEqual(yield* answered("getrawmempool"), [])
      assert.include(JSON.stringify(yield* answered("getwalletinfo")), "\"renewals_only\":true")
    }))

  it.effect("renews, keeps the value, and is locked again afterwards", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const plan = JSON.stringify(yield* answered("name_renew", "all", { dryrun: true }))
      assert.include(plan, "\"transactions\":1")
      const started = JSON.stringify(yield* answered("name_renew", "all"))
      assert.include(started, "\"state\":\"sent\"")
      const bumped = yield* refusal("bumpfee", JSON.parse(started)[0].txid)
      assert.strictEqual(bumped.code, REFUSED)
      yield* mine(1)
      const shown = JSON.stringify(yield* answered("name_show", NAME))
      assert.include(shown, JSON.stringify(VALUE))
      assert.include(shown, "\"ismine\":true")
      assert.include(shown, "\"expires_in\":30")
      // Without a value and an address, as Core: a new address of the wallet.
      yield* answered("name_update", NAME)
      yield* mine(1)
      assert.include(JSON.stringify(yield* answered("name_show", NAME)), "\"ismine\":true")
      yield* answered("walletlock")
      assert.include((yield* refusal("name_update", NAME)).message, "Please enter the wallet passphrase")
      yield* answered("walletpassphrase", PASSPHRASE, 1_000)
      const { renewals_only: none, renewals_until: over } = Object(yield* answered("getwalletinfo"))
      assert.deepStrictEqual([none, over], [undefined, undefined])
      yield* answered("sendtoaddress", FOREIGN, 1)
      // A later call limits the wallet again.
      yield* answered("walletpassphrase", PASSPHRASE, 1_000, true)
      assert.strictEqual((yield* refusal("sendtoaddress", FOREIGN, 1)).code, REFUSED)
      // And one for a payment ends with the wallet as it was.
      const { renewals_until: until } = Object(yield* answered("getwalletinfo"))
      yield* answered("walletpassphrase", PASSPHRASE, 10)
      yield* answered("sendtoaddress", FOREIGN, 1)
      assert.deepInclude(yield* answered("getwalletinfo"), { renewals_until: until })
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* answered("getwalletinfo"), { renewals_only: true, unlocked_until: until })
      assert.include(JSON.stringify(yield* answered("name_renew", "all")), "\"state\":\"sent\"")
    }))
})
