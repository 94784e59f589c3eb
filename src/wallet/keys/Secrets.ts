import * as Either from "effect/Either"
import { type Bytes, fromHex } from "../../protocol/bytes.ts"
import type { ExtendedKey } from "../../protocol/extendedKey.ts"
import { networks } from "../../protocol/networks.ts"
import { KeysLocked } from "../errors.ts"
import type { SigningKey } from "../signing/SigningProvider.ts"
import { type Descriptor, keysOf, mapKeys } from "./descriptors.ts"
import { accountPath, childPrivateKey, derivePath, masterKey, publicKeyOfExtended } from "./hd.ts"
import type { KeyChain } from "./KeyChain.ts"
import { privateKeyAt } from "./keyExpression.ts"
import { parseDescriptor } from "./parseDescriptor.ts"
import { openSecret } from "./seal.ts"
import type { Import, Purpose, Secret, WalletDocument } from "./WalletDocument.ts"

interface AccountChain {
  readonly key: ExtendedKey
  readonly publicKey: Bytes
}

/** A sealed secret opens only for its own field. */
export const SEED_FIELD = "seed"
export const MNEMONIC_FIELD = "mnemonic"
export const importField = (descriptor: string): string => `import ${descriptor}`

export const wipeKey = ({ chainCode, key }: ExtendedKey): void => {
  key.fill(0)
  chainCode.fill(0)
}

export const wipeDescriptor = (descriptor: Descriptor): void => {
  for (const key of keysOf(descriptor)) {
    if (key.kind === "single") key.privateKey?.privateKey.fill(0)
    else if (key.key.kind === "private") wipeKey(key.key)
  }
}

/** Opened at first use. `wipe` overwrites bytes; strings are left to the garbage collector. */
export class Secrets {
  private readonly documentNow: () => WalletDocument
  private readonly masterKeyBytes: Uint8Array | undefined
  private readonly chains = new Map<string, AccountChain>()
  private readonly imports = new Map<string, Descriptor>()
  private wiped = false

  /** `masterKey` opens the sealed secrets; `undefined` for an unencrypted document. `wipe` overwrites it, too. */
  constructor(document: () => WalletDocument, masterKey: Uint8Array | undefined) {
    this.documentNow = document
    this.masterKeyBytes = masterKey
  }

  private get document(): WalletDocument {
    return this.documentNow()
  }

  /** `undefined` for an unencrypted document. */
  get sealingKey(): Bytes | undefined {
    return this.masterKeyBytes
  }

  get isWiped(): boolean {
    return this.wiped
  }

  private open(field: string, secret: Secret): string {
    if (this.wiped) throw new KeysLocked({})
    if ("plain" in secret) return secret.plain
    if (this.masterKeyBytes === undefined) throw new TypeError("a sealed secret in a wallet without encryption")
    return openSecret(this.masterKeyBytes, { field, sealed: secret.sealed })
  }

  get mnemonic(): string | undefined {
    const secret = this.document.seed?.mnemonic
    return secret === undefined ? undefined : this.open(MNEMONIC_FIELD, secret)
  }

  get seed(): string | undefined {
    const secret = this.document.seed?.seed
    return secret === undefined ? undefined : this.open(SEED_FIELD, secret)
  }

  /** The caller wipes it after use. */
  get master(): ExtendedKey | undefined {
    const { seed } = this
    if (seed === undefined) return undefined
    const bytes = fromHex(seed)
    if (bytes === undefined) throw new TypeError("the seed is not hexadecimal")
    try {
      return masterKey(networks[this.document.network], bytes)
    } finally {
      bytes.fill(0)
    }
  }

  /** The caller wipes it after use. */
  account(purpose: Purpose): ExtendedKey | undefined {
    const { master } = this
    if (master === undefined) return undefined
    const account = derivePath(master, accountPath(networks[this.document.network], purpose))
    wipeKey(master)
    return account
  }

  private chain(purpose: Purpose, change: boolean): AccountChain | undefined {
    const name = `${purpose}/${change ? 1 : 0}`
    const known = this.chains.get(name)
    if (known !== undefined) return known
    const account = this.account(purpose)
    if (account === undefined) return undefined
    const key = derivePath(account, [change ? 1 : 0])
    wipeKey(account)
    const chain = { key, publicKey: publicKeyOfExtended(key) }
    this.chains.set(name, chain)
    return chain
  }

  accountKey(purpose: Purpose, change: boolean, index: number): SigningKey | undefined {
    const chain = this.chain(purpose, change)
    return chain === undefined
      ? undefined
      : { privateKey: childPrivateKey(chain.key, chain.publicKey, index), compressed: true }
  }

  /** With the master key, in upstream's form: `xprv/44h/7h/0h/0`. */
  accountDescriptor({ descriptor, source }: KeyChain): Descriptor | undefined {
    const { master } = this
    if (master === undefined || source.kind !== "account") return undefined
    const path = accountPath(networks[this.document.network], source.purpose)
    return mapKeys(
      descriptor,
      (key) => key.kind === "extended" ? { ...key, origin: undefined, key: master, path: [...path, ...key.path] } : key
    )
  }

  importText({ descriptor, secret }: Import): string | undefined {
    return secret === undefined ? undefined : this.open(importField(descriptor), secret)
  }

  /** With private keys, by its public text. */
  imported(text: string): Descriptor | undefined {
    const known = this.imports.get(text)
    if (known !== undefined) return known
    const entry = this.document.imports.find(({ descriptor }) => descriptor === text)
    const secret = entry === undefined ? undefined : this.importText(entry)
    if (secret === undefined) return undefined
    const parsed = parseDescriptor(networks[this.document.network], secret)
    const descriptor = Either.getOrUndefined(parsed)
    if (descriptor !== undefined) this.imports.set(text, descriptor)
    return descriptor
  }

  importedKey(
    text: string,
    { index, position }: { readonly position: number; readonly index: number }
  ): SigningKey | undefined {
    const descriptor = this.imported(text)
    const key = descriptor === undefined ? undefined : keysOf(descriptor)[position]
    return key === undefined ? undefined : privateKeyAt(key, index)
  }

  /** Afterwards, every access to a secret throws `KeysLocked`. */
  wipe(): void {
    this.wiped = true
    this.masterKeyBytes?.fill(0)
    for (const { key } of this.chains.values()) wipeKey(key)
    for (const descriptor of this.imports.values()) wipeDescriptor(descriptor)
    this.chains.clear()
    this.imports.clear()
  }
}
