import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type ColdWallets, coldWallets, registered, signedAndSent } from "../../../support/coldWallets.ts"
import { layer } from "../../../support/layer.ts"
import { MethodNode, methodNode } from "../../../support/methodNode.ts"

/** Name operations of a wallet without private keys, which another wallet signs. */

const node = () => methodNode({ blocks: false, wallets: true })

const decoded = ({ watch }: ColdWallets, psbt: string) =>
  Effect.map(watch.call("decodepsbt", psbt), ({ value }) => Object(value))

layer(node())("a wallet without private keys", (it) => {
  it.effect("takes a name through its life with PSBTs that another wallet signs, and never sends by itself", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const wallets = yield* coldWallets()
      const { mine, watch } = wallets
      const show = Effect.map(call("name_show", "d/cold"), ({ value }) => Object(value))
      const asked = (method: string, ...params: ReadonlyArray<unknown>) =>
        Effect.gen(function*() {
          const { value } = yield* watch.call(method, ...params)
          assert.deepStrictEqual((yield* call("getrawmempool")).value, [])
          const { fee, psbt, ...rest } = Object(value)
          assert.approximately(fee, 0.0004, 0.0003, method)
          const { fee: inside, inputs, outputs } = yield* decoded(wallets, psbt)
          assert.strictEqual(inside, fee)
          // What a machine without a chain needs: the coins' transactions, and the keys.
          for (const input of inputs) {
            assert.isDefined(input.non_witness_utxo)
            assert.lengthOf(input.bip32_derivs, 1)
          }
          assert.isTrue(
            outputs.some((output: { readonly bip32_derivs?: unknown }) => output.bip32_derivs !== undefined)
          )
          return { psbt: String(psbt), rest }
        })

      const first = yield* asked("name_new", "d/cold")
      assert.match(first.rest.rand, /^[0-9a-f]{40}$/)
      yield* signedAndSent(wallets, first.psbt)
      yield* mine(12)
      // The salt is in the wallet: nobody has to keep it.
      const second = yield* asked("name_firstupdate", "d/cold", undefined, undefined, "{}")
      yield* signedAndSent(wallets, second.psbt)
      yield* mine(1)
      const made = yield* show
      const third = yield* asked("name_update", "d/cold", "{\"ip\":\"192.0.2.1\"}", { warnings: true })
      assert.deepStrictEqual(third.rest.warnings, [])
      const txid = yield* signedAndSent(wallets, third.psbt)
      yield* mine(1)
      assert.deepInclude(yield* show, { txid, value: "{\"ip\":\"192.0.2.1\"}" })
      // As a wallet with keys does, it moves the name to a new address of its own.
      assert.notStrictEqual((yield* show).address, made.address)
      const names = (yield* watch.call("name_list", "d/cold")).value
      assert.isTrue(Object(names)[0].ismine)
    }))
})

layer(node())("name methods with psbt", (it) => {
  it.effect("draft with private keys as well, locked or not, and send only without the option", () =>
    Effect.gen(function*() {
      const wallets = yield* coldWallets(1)
      const { cold, foreign, watch } = wallets
      yield* registered(wallets, "d/both", "{}")
      yield* cold.call("encryptwallet", "a long passphrase")
      assert.strictEqual((yield* cold.refusal("name_update", "d/both")).code, -13)
      const { psbt } = Object((yield* cold.call("name_update", "d/both", "x", { psbt: true })).value)
      const { inputs, tx } = yield* decoded(wallets, psbt)
      assert.isTrue(inputs.every((input: object) => !("partial_signatures" in input)))
      assert.lengthOf(tx.vin, 2)
      // The choice of the caller decides, and the old answer is not far.
      const refused = yield* watch.refusal("name_update", "d/both", "x", { psbt: false })
      assert.deepStrictEqual(refused, { code: -4, message: "Error: Private keys are disabled for this wallet" })
      const given = Object((yield* watch.call("name_update", "d/both", "x", { destAddress: foreign })).value)
      const { tx: gift } = yield* decoded(wallets, given.psbt)
      const [owner] = gift.vout.flatMap((output: { readonly scriptPubKey: { readonly nameOp?: unknown } }) =>
        output.scriptPubKey.nameOp === undefined ? [] : [output.scriptPubKey]
      )
      assert.strictEqual(owner.address, foreign)
    }))

  it.effect("refuse what the methods refuse otherwise, with the same words", () =>
    Effect.gen(function*() {
      const { on } = yield* MethodNode
      const { refusal } = on("watch")
      assert.deepStrictEqual(yield* refusal("name_update", "d/none"), {
        code: -25,
        message: "this name can not be updated"
      })
      assert.deepStrictEqual(yield* refusal("name_new", "d/both"), { code: -25, message: "this name exists already" })
      assert.deepStrictEqual(yield* refusal("name_firstupdate", "d/new"), {
        code: -25,
        message: "scan for previous txid failed"
      })
    }))

  it.effect("send a PSBT only when every input has its signatures", () =>
    Effect.gen(function*() {
      const { on } = yield* MethodNode
      const watch = on("watch")
      const { psbt } = Object((yield* watch.call("name_update", "d/both", "x")).value)
      assert.deepStrictEqual(yield* watch.refusal("sendpsbt", psbt), {
        code: -25,
        message: "the PSBT lacks signatures: input 0 is not complete"
      })
    }))
})

layer(node())("reviewpsbt", (it) => {
  it.effect("says in words what a PSBT does to the wallet, and whether it can be sent", () =>
    Effect.gen(function*() {
      const wallets = yield* coldWallets(1)
      const { cold, foreign, other, watch } = wallets
      yield* registered(wallets, "d/words", "{}")
      const review = (psbt: string, by = watch) => Effect.map(by.call("reviewpsbt", psbt), ({ value }) => Object(value))
      const draft = (options: object) =>
        Effect.map(
          watch.call("name_update", "d/words", "\u202e\n<b>", { ...options, valueEncoding: "utf8" }),
          ({ value }) => String(Object(value).psbt)
        )

      const change = yield* draft({})
      const own = yield* review(change)
      assert.strictEqual(own.lines[0], "Changes d/words")
      assert.include(own.lines.join(""), "<b>")
      assert.notMatch(own.lines.join(""), /[\u202e\n]/)
      assert.deepStrictEqual([own.warnings, own.complete], [[], false])
      const { value } = yield* cold.call("walletprocesspsbt", change, true, "ALL", true, false)
      assert.isTrue((yield* review(Object(value).psbt)).complete)

      // The same transaction is a stranger's in another wallet.
      assert.strictEqual((yield* review(change, other)).lines[0], "GIVES AWAY d/words")
      const gift = yield* review(yield* draft({ destAddress: foreign }))
      assert.strictEqual(gift.lines[0], "GIVES AWAY d/words")
      assert.include(gift.warnings.join(), "gives the name to another owner")

      assert.strictEqual((yield* watch.refusal("reviewpsbt", "A".repeat(60_001))).code, -8)
      assert.strictEqual((yield* watch.refusal("reviewpsbt", "A")).code, -22)
    }))
})
