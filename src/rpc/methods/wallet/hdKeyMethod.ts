import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../../chain/Chain.ts"
import { encodeExtendedKey, parseExtendedKey } from "../../../protocol/extendedKey.ts"
import type { Network } from "../../../protocol/networks.ts"
import { derivePath, HARDENED, neutered } from "../../../wallet/keys/hd.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { Method } from "../../method/methodTable.ts"
import { boolean, namedOptions, orEmpty, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { ensureUnlocked, walletMethod } from "./walletContext.ts"

/** The extended keys of a wallet (reference/rpc.md 3.9). */

/** An extended key in a descriptor, and the fixed derivation steps after it. */
const EXTENDED_KEY = /([xt]p(?:ub|rv)[1-9A-HJ-NP-Za-km-z]+)((?:\/\d+[h']?)*)/g

const keysIn = (descriptor: string) =>
  [...descriptor.matchAll(EXTENDED_KEY)].map(([, key = "", path = ""]) => ({ key, path }))

const stepsOf = (path: string): ReadonlyArray<number> =>
  path.split("/").slice(1).map((step) => /^\d+$/.test(step) ? Number(step) : HARDENED + Number(step.slice(0, -1)))

/** The private key of an extended public key, derived from an ancestor; `undefined` if they are not related. */
const privateKeyOf = (
  network: Network,
  xpub: string,
  ancestor: { readonly key: string; readonly path: string }
): string | undefined => {
  const shown = parseExtendedKey(network, xpub)
  const held = parseExtendedKey(network, ancestor.key)
  if ("error" in shown || "error" in held || held.extendedKey.kind !== "private") return undefined
  const steps = shown.extendedKey.depth - held.extendedKey.depth
  if (steps < 0) return undefined
  const derived = derivePath(held.extendedKey, stepsOf(ancestor.path).slice(0, steps))
  return encodeExtendedKey(network, neutered(derived)) === xpub ? encodeExtendedKey(network, derived) : undefined
}

interface Found {
  readonly descriptors: Array<{ readonly desc: string; readonly active: boolean }>
  xprv: string | undefined
}

type Listed = ReadonlyArray<{ readonly descriptor: string; readonly active: boolean }>

/** The extended keys of descriptors. `open` are the same descriptors with private keys, if the wallet is not locked. */
const extendedKeys = (network: Network, shown: Listed, open: Listed): ReadonlyMap<string, Found> => {
  const keys = new Map<string, Found>()
  for (const [at, { active, descriptor }] of shown.entries()) {
    const secrets = keysIn(open[at]?.descriptor ?? "")
    for (const [n, { key: xpub }] of keysIn(descriptor).entries()) {
      const found = keys.get(xpub) ?? { descriptors: [], xprv: undefined }
      const secret = secrets[n]
      if (secret !== undefined) found.xprv ??= privateKeyOf(network, xpub, secret)
      found.descriptors.push({ desc: descriptor, active })
      keys.set(xpub, found)
    }
  }
  return keys
}

export const hdKeyMethod: Effect.Effect<Method, never, Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  return make({
    name: "gethdkeys",
    summary: "Lists the extended keys of the wallet, each with the descriptors that contain it.",
    params: {
      options: orEmpty(namedOptions({
        active_only: withDefault(boolean("Only keys of active descriptors."), false),
        private: withDefault(boolean("Whether to include private keys."), false)
      }, "Options."))
    },
    results: [{
      schema: Schema.Array(Schema.Struct({
        xpub: Result.string("The extended public key"),
        has_private: Result.boolean("Whether the wallet has its private key"),
        xprv: Schema.optional(Result.string("The extended private key, if requested")),
        descriptors: Schema.Array(
          Schema.Struct({
            desc: Result.string("The descriptor"),
            active: Result.boolean("Whether the wallet derives new addresses from it")
          })
        ).annotations({ description: "The descriptors" })
      }))
    }],
    examples: [[]],
    handler: ({ options: { active_only, private: secret } }, wallet) =>
      Effect.gen(function*() {
        if (secret) yield* ensureUnlocked(wallet)
        const open = wallet.keys.hasPrivateKeys && wallet.vault.encryption() !== "locked"
        const wanted = (listed: Listed): Listed => listed.filter(({ active }) => active || !active_only)
        const shown = wanted(yield* wallet.keys.descriptors(false))
        const keys = extendedKeys(network, shown, open ? wanted(yield* wallet.keys.descriptors(true)) : [])
        return [...keys].map(([xpub, { descriptors, xprv }]) => ({
          xpub,
          // While the wallet is locked, its private keys are unreadable. A wallet with private keys is assumed to have
          // them all.
          has_private: open ? xprv !== undefined : wallet.keys.hasPrivateKeys,
          xprv: secret ? xprv : undefined,
          descriptors
        }))
      })
  })
})
