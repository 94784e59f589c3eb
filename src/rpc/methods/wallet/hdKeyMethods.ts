import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Chain } from "../../../chain/Chain.ts"
import { encodeExtendedKey, parseExtendedKey } from "../../../protocol/extendedKey.ts"
import type { Network } from "../../../protocol/networks.ts"
import type { InvalidWalletRequest } from "../../../wallet/errors.ts"
import { descriptorText, publicDescriptor, withChecksum } from "../../../wallet/keys/descriptors.ts"
import { accountPath, neutered, pathText, PURPOSE_OF } from "../../../wallet/keys/hd.ts"
import { parseDescriptor } from "../../../wallet/keys/parseDescriptor.ts"
import type { AddressType } from "../../../wallet/keys/WalletKeys.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import {
  AMBIGUOUS,
  CREATEWALLETDESCRIPTOR,
  DESCRIPTOR_EXISTS,
  GETHDKEYS,
  NO_XPUB
} from "../../contract/wallet/descriptor.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { ensureUnlocked, walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.9. */

const EXTENDED_KEY = /[xt]p(?:ub|rv)[1-9A-HJ-NP-Za-km-z]+/g

interface HdKey {
  readonly xpub: string
  /** If the text has it. */
  readonly xprv: string | undefined
}

const keysIn = (network: Network, descriptor: string): ReadonlyArray<HdKey> =>
  [...descriptor.matchAll(EXTENDED_KEY)].flatMap(([text]): ReadonlyArray<HdKey> => {
    const parsed = parseExtendedKey(network, text)
    if ("error" in parsed) return []
    const { extendedKey } = parsed
    if (extendedKey.kind === "public") return [{ xpub: text, xprv: undefined }]
    return [{ xpub: encodeExtendedKey(network, neutered(extendedKey)), xprv: text }]
  })

interface Found {
  readonly descriptors: Array<{ readonly desc: string; readonly active: boolean }>
  xprv: string | undefined
}

type Listed = ReadonlyArray<{ readonly descriptor: string; readonly active: boolean }>

/**
 * `open` are the same descriptors with private keys, whose keys are at the top of their paths. While the wallet is
 * locked, the keys are those of its accounts.
 */
const extendedKeys = (network: Network, shown: Listed, open: Listed): ReadonlyMap<string, Found> => {
  const keys = new Map<string, Found>()
  for (const [at, { active, descriptor }] of shown.entries()) {
    for (const { xprv, xpub } of keysIn(network, open[at]?.descriptor ?? descriptor)) {
      const found = keys.get(xpub) ?? { descriptors: [], xprv: undefined }
      found.xprv ??= xprv
      found.descriptors.push({ desc: descriptor, active })
      keys.set(xpub, found)
    }
  }
  return keys
}

/** Without its checksum. Upstream `GenerateWalletDescriptor`. */
const descriptorOf = (
  network: Network,
  { internal, type, xprv }: { readonly type: AddressType; readonly xprv: string; readonly internal: boolean }
): string => {
  const key = `${xprv}${pathText(accountPath(network, PURPOSE_OF[type]))}/${internal ? 1 : 0}/*`
  switch (type) {
    case "legacy":
      return `pkh(${key})`
    case "p2sh-segwit":
      return `sh(wpkh(${key}))`
    case "bech32":
      return `wpkh(${key})`
    case "bech32m":
      return `tr(${key})`
  }
}

/** With a checksum. */
const publicTextOf = (network: Network, text: string): Either.Either<string, InvalidWalletRequest> =>
  Either.map(
    parseDescriptor(network, withChecksum(text)),
    (descriptor) => descriptorText(network, publicDescriptor(descriptor))
  )

export const hdKeyMethods: Methods<Wallets | Chain> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const make = walletMethod(yield* Wallets)

  const gethdkeys = make(GETHDKEYS, ({ options: { active_only, private: secret } }, wallet) =>
    Effect.gen(function*() {
      if (secret) yield* ensureUnlocked(wallet)
      const open = wallet.keys.hasPrivateKeys && wallet.vault.encryption() !== "locked"
      const wanted = (listed: Listed): Listed => listed.filter(({ active }) => active || !active_only)
      const shown = wanted(yield* wallet.keys.descriptors(false))
      const keys = extendedKeys(network, shown, open ? wanted(yield* wallet.keys.descriptors(true)) : [])
      return [...keys].map(([xpub, { descriptors, xprv }]) => ({
        xpub,
        // Private keys of a locked wallet are unreadable. A wallet with private keys is assumed to have all of them.
        has_private: open ? xprv !== undefined : wallet.keys.hasPrivateKeys,
        xprv: secret ? xprv : undefined,
        descriptors
      }))
    }))

  const createwalletdescriptor = make(
    CREATEWALLETDESCRIPTOR,
    ({ options: { hdkey, internal }, type }, wallet) =>
      Effect.gen(function*() {
        yield* ensureUnlocked(wallet)
        const given = hdkey === undefined ? undefined : parseExtendedKey(network, hdkey)
        if (given !== undefined && ("error" in given || given.extendedKey.kind === "private")) {
          return yield* RpcError.invalidAddressOrKey(NO_XPUB)
        }
        const listed = wallet.keys.hasPrivateKeys ? yield* wallet.keys.descriptors(true) : []
        const keys = listed.flatMap(({ active, descriptor }) =>
          keysIn(network, descriptor).map((key) => ({ ...key, active }))
        )
        const [only, ...others] = new Set(keys.flatMap(({ active, xpub }) => active ? xpub : []))
        if (hdkey === undefined && (only === undefined || others.length > 0)) {
          return yield* RpcError.invalidAddressOrKey(AMBIGUOUS)
        }
        const wanted = hdkey ?? only ?? ""
        const xprv = keys.find((key) => key.xpub === wanted && key.xprv !== undefined)?.xprv
        if (xprv === undefined) return yield* RpcError.invalidAddressOrKey(`Private key for ${wanted} is not known`)
        const descs: Array<string> = []
        for (const each of internal === undefined ? [false, true] : [internal]) {
          const before = new Set((yield* wallet.keys.descriptors(false)).map(({ descriptor }) => descriptor))
          const text = descriptorOf(network, { type, xprv, internal: each })
          const shown = yield* publicTextOf(network, text)
          if (before.has(shown)) continue
          yield* wallet.keys.importDescriptor({
            descriptor: withChecksum(text),
            label: "",
            timestamp: undefined,
            active: true,
            internal: each,
            range: undefined,
            nextIndex: undefined
          })
          descs.push(shown)
        }
        return descs.length === 0 ? yield* RpcError.wallet(DESCRIPTOR_EXISTS) : { descs }
      })
  )

  return [gethdkeys, createwalletdescriptor]
})
