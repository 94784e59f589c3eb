import { xchacha20poly1305 } from "@noble/ciphers/chacha.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { scrypt, type ScryptOptions, scryptSync } from "node:crypto"
import { promisify } from "node:util"
import { doAside } from "../../base/disk.ts"
import { randomBytes } from "../../base/entropy.ts"
import { type Bytes, concat, fromHex, toHex } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import { InvalidWalletRequest, WrongPassphrase } from "../errors.ts"
import type { Encryption, Secret } from "./WalletDocument.ts"

/**
 * scrypt (RFC 7914) derives a key from the passphrase; that key opens the random master key, which opens each secret.
 * Both use XChaCha20-Poly1305 with the secret's field as additional data, so that no secret can replace another. A new
 * passphrase only reseals the master key.
 */

const KEY_BYTES = 32
const NONCE_BYTES = 24
const SALT_BYTES = 32

/** 128 MiB, and less than a second on the measured machines. */
export const SCRYPT = { logN: 17, r: 8, p: 1 } as const

/** For a new encryption; an existing one keeps its own cost. Tests lower it. */
export class ScryptCost extends Context.Reference<ScryptCost>()("svcd/ScryptCost", {
  defaultValue: (): Pick<Encryption, "logN" | "r" | "p"> => SCRYPT
}) {}

const MASTER_KEY_FIELD = "master key"

const additionalData = (field: string): Uint8Array => new TextEncoder().encode(`svcd wallet 1: ${field}`)

const sealBytes = (key: Bytes, field: string, plain: Bytes): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES)
  return concat(nonce, xchacha20poly1305(key, nonce, additionalData(field)).encrypt(plain))
}

/** Throws unless key, field and bytes match the sealing. */
const openBytes = (key: Bytes, field: string, sealed: Bytes): Uint8Array =>
  xchacha20poly1305(key, sealed.subarray(0, NONCE_BYTES), additionalData(field)).decrypt(sealed.subarray(NONCE_BYTES))

/** Returns hexadecimal. */
export const sealSecret = (
  masterKey: Bytes,
  { field, text }: { readonly field: string; readonly text: string }
): string => {
  const plain = new TextEncoder().encode(text)
  try {
    return toHex(sealBytes(masterKey, field, plain))
  } finally {
    plain.fill(0)
  }
}

/** Throws if sealed with another key or for another field. */
export const openSecret = (
  masterKey: Bytes,
  { field, sealed }: { readonly field: string; readonly sealed: string }
): string => {
  const bytes = fromHex(sealed)
  if (bytes === undefined) throw new TypeError("a sealed secret is not hexadecimal")
  const plain = openBytes(masterKey, field, bytes)
  try {
    return new TextDecoder().decode(plain)
  } finally {
    plain.fill(0)
  }
}

/** Sealed with a key; plain in an unencrypted wallet. */
export const makeSecret = (
  masterKey: Bytes | undefined,
  { field, text }: { readonly field: string; readonly text: string }
): Secret => masterKey === undefined ? { plain: text } : { sealed: sealSecret(masterKey, { field, text }) }

/** HMAC ignores zero bytes at the end of a short key (RFC 2104), so a passphrase with such an end is hashed first. */
const passwordOf = (passphrase: Redacted.Redacted<string>): Uint8Array => {
  const text = new TextEncoder().encode(Redacted.value(passphrase).normalize("NFKD"))
  return text.at(-1) === 0 ? sha256(concat(new TextEncoder().encode("svcd passphrase"), text)) : text
}

const scryptLater = promisify<Uint8Array, Bytes, number, ScryptOptions, Buffer>(scrypt)

/** Runs in the thread pool. */
export const passphraseKey = (
  passphrase: Redacted.Redacted<string>,
  { logN, p, r, salt }: Omit<Encryption, "kdf" | "masterKey">
): Effect.Effect<Uint8Array> =>
  Effect.promise(() => {
    const password = passwordOf(passphrase)
    const N = 2 ** logN
    // The memory of scrypt (RFC 7914), with room for the library's own.
    const cost = { N, r, p, maxmem: 128 * r * (N + p + 2) + 1024 * 1024 }
    const key = doAside({
      name: "scrypt",
      now: () => scryptSync(password, salt, KEY_BYTES, cost),
      later: () => scryptLater(password, salt, KEY_BYTES, cost)
    })
    return key.then((bytes) => new Uint8Array(bytes)).finally(() => password.fill(0))
  })

const sealMasterKey = (
  masterKey: Bytes,
  passphrase: Redacted.Redacted<string>
): Effect.Effect<Encryption, InvalidWalletRequest> =>
  Effect.gen(function*() {
    if (Redacted.value(passphrase) === "") {
      return yield* new InvalidWalletRequest({ code: "empty-passphrase", reason: "the passphrase is empty" })
    }
    const cost = { ...(yield* ScryptCost), salt: randomBytes(SALT_BYTES) }
    const key = yield* passphraseKey(passphrase, cost)
    const sealed = sealBytes(key, MASTER_KEY_FIELD, masterKey)
    key.fill(0)
    return { kdf: "scrypt", ...cost, masterKey: sealed } as const
  })

/** The caller wipes the key after use. */
export const makeEncryption = (
  passphrase: Redacted.Redacted<string>
): Effect.Effect<{ readonly encryption: Encryption; readonly masterKey: Uint8Array }, InvalidWalletRequest> => {
  const masterKey = randomBytes(KEY_BYTES)
  return Effect.map(sealMasterKey(masterKey, passphrase), (encryption) => ({ encryption, masterKey }))
}

/** A wrong passphrase costs the full work of scrypt. */
export const openMasterKey = (
  encryption: Encryption,
  passphrase: Redacted.Redacted<string>
): Effect.Effect<Uint8Array, WrongPassphrase> =>
  Effect.flatMap(passphraseKey(passphrase, encryption), (key) =>
    Effect.try({
      try: () => openBytes(key, MASTER_KEY_FIELD, encryption.masterKey),
      catch: () => new WrongPassphrase()
    }).pipe(Effect.ensuring(Effect.sync(() => key.fill(0)))))

export const changePassphrase = (
  encryption: Encryption,
  old: Redacted.Redacted<string>,
  next: Redacted.Redacted<string>
): Effect.Effect<Encryption, WrongPassphrase | InvalidWalletRequest> =>
  Effect.flatMap(
    openMasterKey(encryption, old),
    (masterKey) => Effect.ensuring(sealMasterKey(masterKey, next), Effect.sync(() => masterKey.fill(0)))
  )
