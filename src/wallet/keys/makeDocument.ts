import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { encodeExtendedKey } from "../../protocol/extendedKey.ts"
import { type NetworkName, networks } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { accountPath, derivePath, fingerprintOf, masterKey, neutered, publicKeyOfExtended } from "./hd.ts"
import { createMnemonic, seedOf } from "./mnemonic.ts"
import { makeEncryption, makeSecret } from "./seal.ts"
import { importField, MNEMONIC_FIELD, SEED_FIELD } from "./Secrets.ts"
import { emptyDocument, PURPOSES, type Secret, type WalletDocument } from "./WalletDocument.ts"

export interface SeededOptions {
  readonly network: NetworkName
  readonly mnemonic: Redacted.Redacted<string>
  /** The BIP 39 passphrase, part of the seed; unrelated to encryption. */
  readonly passphrase?: Redacted.Redacted<string>
  /** Seconds since 1970. */
  readonly createdAt: number
  /** 0 for a mnemonic that may have been used before. */
  readonly birthday: number
}

export const seededDocument = (options: SeededOptions): Effect.Effect<WalletDocument> =>
  Effect.gen(function*() {
    const { birthday, createdAt, mnemonic, network: name, passphrase } = options
    const network = networks[name]
    const seed = yield* seedOf(mnemonic, passphrase)
    const master = masterKey(network, seed)
    const document: WalletDocument = {
      ...emptyDocument({ network: name, createdAt, birthday }),
      blank: false,
      seed: {
        mnemonic: makeSecret(undefined, { field: MNEMONIC_FIELD, text: Redacted.value(mnemonic) }),
        seed: makeSecret(undefined, { field: SEED_FIELD, text: toHex(seed) }),
        fingerprint: fingerprintOf(publicKeyOfExtended(master)),
        mnemonicPassphrase: passphrase !== undefined && Redacted.value(passphrase) !== ""
      },
      accounts: PURPOSES.map((purpose) => ({
        purpose,
        xpub: encodeExtendedKey(network, neutered(derivePath(master, accountPath(network, purpose)))),
        receive: 0,
        change: 0
      }))
    }
    seed.fill(0)
    master.key.fill(0)
    master.chainCode.fill(0)
    return document
  })

/** With a mnemonic of 24 words, without keys (`blank`), or watch-only, which is blank on request only. */
export const newDocument = (options: {
  readonly network: NetworkName
  readonly now: number
  readonly privateKeys: boolean
  readonly blank: boolean
}): Effect.Effect<WalletDocument> => {
  const { blank, network, now, privateKeys } = options
  return blank || !privateKeys
    ? Effect.sync(() => ({ ...emptyDocument({ network, createdAt: now, privateKeys }), blank }))
    : Effect.suspend(() => seededDocument({ network, mnemonic: createMnemonic(24), createdAt: now, birthday: now }))
}

const sealed = (masterKey: Bytes, field: string, secret: Secret): Secret =>
  "plain" in secret ? makeSecret(masterKey, { field, text: secret.plain }) : secret

const sealAll = (document: WalletDocument, masterKey: Bytes): WalletDocument => {
  const { imports, seed } = document
  return {
    ...document,
    ...seed === undefined ? {} : {
      seed: {
        ...seed,
        ...seed.mnemonic === undefined ? {} : { mnemonic: sealed(masterKey, MNEMONIC_FIELD, seed.mnemonic) },
        seed: sealed(masterKey, SEED_FIELD, seed.seed)
      }
    },
    imports: imports.map((entry) =>
      entry.secret === undefined
        ? entry
        : { ...entry, secret: sealed(masterKey, importField(entry.descriptor), entry.secret) }
    )
  }
}

/**
 * The slow part runs now, so that no other change waits. The change seals the secrets present when it runs, any number
 * of times until the scope ends and wipes the key.
 */
export const encryption = (
  document: WalletDocument,
  passphrase: Redacted.Redacted<string>
): Effect.Effect<(document: WalletDocument) => WalletDocument, InvalidWalletRequest, Scope.Scope> =>
  Effect.gen(function*() {
    if (document.encryption !== undefined) {
      return yield* new InvalidWalletRequest({ code: "already-encrypted", reason: "the wallet is encrypted already" })
    }
    if (!document.privateKeys) {
      return yield* new InvalidWalletRequest({ code: "no-keys", reason: "the wallet has no private keys to encrypt" })
    }
    const { encryption, masterKey } = yield* Effect.acquireRelease(
      makeEncryption(passphrase),
      (made) => Effect.sync(() => made.masterKey.fill(0))
    )
    // A concurrent encryption has sealed the secrets with another key.
    return (now) => now.encryption === undefined ? { ...sealAll(now, masterKey), encryption } : now
  })
