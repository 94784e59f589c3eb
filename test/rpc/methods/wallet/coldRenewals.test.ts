import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { coldWallets, registered, signedAndSent } from "../../../support/coldWallets.ts"
import { eventually } from "../../../support/eventually.ts"
import { layer } from "../../../support/layer.ts"
import { MethodNode, methodNode } from "../../../support/methodNode.ts"

/** Renewals of a wallet without private keys: it makes them in time, and another machine signs. On regtest, a name lives
 * for 30 blocks, and is due 3 blocks before its end. */

interface ShownRenewal {
  readonly name: string
  readonly state: string
  readonly psbt?: string
  readonly note?: string
}

layer(methodNode({ blocks: false, wallets: true }))("a wallet that watches", (it) => {
  it.effect("makes the renewals of its names in time, keeps them, and sees them come back", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const wallets = yield* coldWallets()
      const { mine, watch } = wallets
      yield* registered(wallets, "d/one", "1")
      yield* registered(wallets, "d/two", "2")
      yield* watch.call("name_autorenew", "d/one", true)
      const renewals = Effect.map(
        watch.call("name_renewals"),
        ({ value }): ReadonlyArray<ShownRenewal> => Array.isArray(value) ? value : []
      )
      const outlook = (name: string) =>
        Effect.map(watch.call("name_list", name), ({ value }) => Object(Object(value)[0]).outlook)
      assert.deepInclude(yield* outlook("d/one"), { state: "unsigned", urgency: "ok" })
      assert.deepStrictEqual(yield* renewals, [])
      // Requested by the owner, long before it is due.
      const [asked] = Object((yield* watch.call("name_renew", ["d/two"])).value)
      assert.strictEqual(asked.note, "waits for a signature: sign its PSBT, and send it with sendpsbt")
      assert.isString(asked.psbt)
      const { expires_in } = Object((yield* call("name_show", "d/one")).value)
      yield* mine(expires_in - 3)
      yield* eventually(
        "the renewal of d/one",
        Effect.map(renewals, (all) => all.length === 2 && all.every(({ psbt }) => psbt !== undefined))
      )
      const made = yield* renewals
      assert.deepInclude(yield* outlook("d/one"), { state: "unsigned", urgency: "warning" })
      assert.deepStrictEqual((yield* call("getrawmempool")).value, [])
      // Each has coins of its own, so that both can be signed; later blocks leave them as they are.
      const spent = yield* Effect.forEach(
        made,
        ({ psbt }) =>
          Effect.map(
            watch.call("decodepsbt", psbt),
            ({ value }) =>
              Object(value).tx.vin.map(({ txid, vout }: { readonly txid: string; readonly vout: number }) =>
                `${txid}:${vout}`
              )
          )
      )
      assert.lengthOf(new Set(spent.flat()), 4)
      yield* mine(1)
      assert.deepStrictEqual((yield* renewals).map(({ psbt }) => psbt), made.map(({ psbt }) => psbt))

      for (const { psbt = "" } of made) yield* signedAndSent(wallets, psbt)
      yield* mine(1)
      yield* eventually(
        "the end of both",
        Effect.map(renewals, (all) => all.every(({ psbt, state }) => state === "done" && psbt === undefined))
      )
      for (const [name, value] of [["d/one", "1"], ["d/two", "2"]] as const) {
        assert.deepInclude((yield* call("name_show", name)).value, { value, expires_in: 30, expired: false })
      }
      assert.deepInclude(yield* outlook("d/one"), { state: "unsigned", urgency: "ok" })
    }))

  it.effect("makes a renewal again when one of its coins is spent, and none after the setting is off", () =>
    Effect.gen(function*() {
      const { call, on } = yield* MethodNode
      const [watch, cold] = [on("watch"), on("cold")]
      const only = Effect.map(
        watch.call("name_renewals"),
        ({ value }) => Array.isArray(value) ? value.find(({ state }) => state === "waiting") : undefined
      )
      yield* watch.call("name_renew", ["d/two"])
      const before = (yield* only).psbt
      // The owner pays with all other coins.
      yield* cold.call("sendall", [String((yield* cold.call("getnewaddress")).value)])
      yield* call("generatetoaddress", 1, String((yield* on("other").call("getnewaddress")).value))
      yield* eventually("another PSBT", Effect.map(only, (now) => now?.psbt !== undefined && now.psbt !== before))
      yield* watch.call("name_autorenew", "d/two", false)
      assert.isUndefined(yield* only)
    }))
})
