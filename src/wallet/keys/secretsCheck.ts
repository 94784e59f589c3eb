import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { turnOfEventLoop } from "../../base/turns.ts"
import { equal, fromHex } from "../../protocol/bytes.ts"
import { encodeExtendedKey, type ExtendedKey } from "../../protocol/extendedKey.ts"
import { networks } from "../../protocol/networks.ts"
import { type Descriptor, descriptorText, faultless, privatePositions, publicDescriptor } from "./descriptors.ts"
import { deriveHardened, storedEnd } from "./hardenedKeys.ts"
import { accountPath, derivePath, fingerprintOf, neutered, publicKeyOfExtended } from "./hd.ts"
import { parseMnemonic, seedOf } from "./mnemonic.ts"
import { parseDescriptor } from "./parseDescriptor.ts"
import { type Secrets, wipeDescriptor, wipeKey } from "./Secrets.ts"
import type { Import, WalletDocument } from "./WalletDocument.ts"

/**
 * Checks secrets against each other and the document: mnemonic and seed, seed and fingerprint and account keys,
 * imported private keys and descriptors. A wrong seed or wrong words lose coins.
 */

const WORDS_DAMAGED = "the words (seed.mnemonic) are damaged"
const SEED_DAMAGED = "the seed is damaged"

/** `undefined` if a seal is broken or the value is invalid. */
const opened = <A>(open: () => A): { readonly value: A } | undefined => {
  try {
    return { value: open() }
  } catch {
    return undefined
  }
}

const givesSeed = (words: string, seed: Uint8Array): Effect.Effect<boolean | undefined> =>
  Effect.gen(function*() {
    const phrase = parseMnemonic(words)
    if (Either.isLeft(phrase) || Redacted.value(phrase.right) !== words) return undefined
    const whole = yield* seedOf(phrase.right)
    const same = equal(whole, seed)
    whole.fill(0)
    return same
  })

const masterProblem = (document: WalletDocument, master: ExtendedKey): string | undefined => {
  const network = networks[document.network]
  if (document.seed !== undefined && !equal(fingerprintOf(publicKeyOfExtended(master)), document.seed.fingerprint)) {
    return "the seed does not belong to seed.fingerprint"
  }
  for (const { purpose, xpub } of document.accounts) {
    const account = derivePath(master, accountPath(network, purpose))
    const same = encodeExtendedKey(network, neutered(account)) === xpub
    wipeKey(account)
    if (!same) return `the seed does not give the xpub of account ${purpose}h`
  }
  return undefined
}

interface SeedFinding {
  readonly problem: string | undefined
  readonly wordsSuffice: boolean | undefined
}

const checkSeed = (document: WalletDocument, secrets: Secrets): Effect.Effect<SeedFinding> =>
  Effect.gen(function*() {
    const found = (problem: string | undefined, wordsSuffice?: boolean): SeedFinding => ({ problem, wordsSuffice })
    const { seed } = document
    if (seed === undefined) return found(undefined)
    const master = opened(() => secrets.master)?.value
    const bytes = fromHex(opened(() => secrets.seed)?.value ?? "?")
    if (master === undefined || bytes === undefined) return found(SEED_DAMAGED)
    const words = opened(() => secrets.mnemonic)
    if (words === undefined) return found(WORDS_DAMAGED)
    const wordsSuffice = words.value === undefined ? false : yield* givesSeed(words.value, bytes)
    bytes.fill(0)
    const problem = masterProblem(document, master)
    wipeKey(master)
    if (problem !== undefined || words.value === undefined) return found(problem)
    if (wordsSuffice === undefined) return found(WORDS_DAMAGED)
    // Without the passphrase, either the mnemonic or the seed may be damaged.
    return seed.mnemonicPassphrase === false && !wordsSuffice
      ? found("the words (seed.mnemonic) do not give the seed")
      : found(undefined, wordsSuffice)
  })

/** Checks the last stored key of each hardened range. */
const lastHardened = (descriptor: Descriptor, entry: Import): boolean => {
  const end = storedEnd(entry)
  const derived = deriveHardened(descriptor, [end - 1, end])
  return derived.every(({ keys, position }) =>
    entry.hardened?.find((stored) => stored.position === position)?.keys.endsWith(keys)
  )
}

const importProblem = ({ network: name }: WalletDocument, entry: Import, secrets: Secrets): string | undefined => {
  const text = opened(() => secrets.importText(entry))?.value
  if (text === undefined) return "its private keys do not open"
  const network = networks[name]
  const parsed = parseDescriptor(network, text)
  if (Either.isLeft(parsed)) return "its private keys are damaged"
  const descriptor = parsed.right
  const shown = faultless(() => descriptorText(network, publicDescriptor(descriptor)))
  const hardened = faultless(() => lastHardened(descriptor, entry))
  const positions = privatePositions(descriptor)
  wipeDescriptor(descriptor)
  const same = Either.isRight(shown) && shown.right === entry.descriptor &&
    positions.length === entry.privateKeys.length && positions.every((each) => entry.privateKeys.includes(each))
  if (!same) return "its private keys are not those of its descriptor"
  return Either.isRight(hardened) && hardened.right
    ? undefined
    : "the public keys of its hardened range are not those of its private keys"
}

/** Imports checked per turn of the event loop: some milliseconds. */
const SLICE = 10

export interface SecretsFinding {
  /** Without any of the content. */
  readonly problem: string | undefined
  readonly wordsSuffice: boolean | undefined
}

/** Checked at each start: half a millisecond each. */
const FEW_IMPORTS = 100

/** `everything` lifts `FEW_IMPORTS`, for a document that neither a checksum nor a seal proves intact. */
export const checkSecrets = (
  document: WalletDocument,
  secrets: Secrets,
  everything = false
): Effect.Effect<SecretsFinding> =>
  Effect.gen(function*() {
    const found = yield* checkSeed(document, secrets)
    if (found.problem !== undefined) return found
    if (!everything && document.imports.length > FEW_IMPORTS) return found
    for (const [at, entry] of document.imports.entries()) {
      if (entry.secret === undefined) continue
      const problem = importProblem(document, entry, secrets)
      if (problem !== undefined) return { ...found, problem: `imports.${at}: ${problem}` }
      if (at % SLICE === SLICE - 1) yield* turnOfEventLoop
    }
    return found
  })
