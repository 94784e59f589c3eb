import * as Effect from "effect/Effect"
import type { WalletParts } from "../WalletParts.ts"
import { makeAddresses } from "./addresses.ts"
import { makeImport } from "./imports.ts"
import type { WalletKeys } from "./WalletKeys.ts"

/** Makes the `keys` door of a wallet. */
export const makeKeys = (parts: WalletParts): WalletKeys => {
  const { file, ring, vault } = parts
  return {
    ...makeAddresses(parts),
    own: (script) => ring.own(script),
    hasPrivateKeys: file.document.privateKeys,
    isBlank: () => file.document.blank,
    keypool: () => ring.keypool(),
    birthday: file.document.birthday,
    importDescriptor: makeImport(parts),
    descriptors: (secret) =>
      secret
        ? Effect.map(vault.secrets, (secrets) => ring.descriptors(secrets))
        : Effect.sync(() => ring.descriptors()),
    signer: Effect.map(vault.secrets, (secrets) => ring.signer(secrets))
  }
}
