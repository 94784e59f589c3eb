import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { hash160, ripemd160 } from "../../protocol/hash.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import { type Network, networks } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../errors.ts"
import {
  NO_PROVIDER,
  type SigningKey,
  type SigningProvider,
  type TaprootSpendData
} from "../signing/SigningProvider.ts"
import type { AddressType, OwnScript } from "../Wallet.ts"
import { descriptorText } from "./descriptors.ts"
import { documentChains, importChain } from "./documentChains.ts"
import type { KeyChain } from "./KeyChain.ts"
import type { DerivedKey } from "./keyExpression.ts"
import type { Secrets } from "./Secrets.ts"
import type { Import, WalletDocument } from "./WalletDocument.ts"
import { WatchedScript } from "./WatchedScript.ts"

/**
 * How many scripts of each chain are watched behind the last that was given out or used. BIP 44 asks for 20; the
 * reference node derives 1000, most of which nobody ever sees.
 */
export const LOOKAHEAD = 100

/** Indexes that are derived at a stretch before others get their turn: some milliseconds. */
const SLICE = 25

/** A change of the document. */
export type DocumentChange = (document: WalletDocument) => WalletDocument

/** A key of a watched script, and where its private part is found. */
interface KnownKey {
  readonly chain: KeyChain
  readonly index: number
  readonly key: DerivedKey
}

/** The private key of a place, where the secrets have it; nothing of secrets that were wiped meanwhile. */
const privateKey = (secrets: Secrets, { chain, index, key }: KnownKey): SigningKey | undefined => {
  if (secrets.isWiped || !chain.privateKeys.has(key.position)) return undefined
  const { source } = chain
  return source.kind === "account"
    ? secrets.accountKey(source.purpose, source.change, index)
    : secrets.importedKey(source.text, key.position, index)
}

/** A descriptor of the wallet, as `listdescriptors` shows it. */
export interface ListedDescriptor {
  readonly descriptor: string
  readonly timestamp: number
  readonly active: boolean
  /** Only for active ones. */
  readonly internal: boolean | undefined
  /** First and last index that are watched; only where it has a range. */
  readonly range: readonly [number, number] | undefined
  readonly next: number | undefined
}

/**
 * The scripts that a wallet watches: those of its seed's accounts and those that were imported, by their bytes. Made
 * of a document, and never changes it: `save` writes down which addresses are given out or used.
 */
export class KeyRing {
  readonly network: Network
  private readonly lookahead: number
  private readonly chains: Array<KeyChain>
  private readonly scripts = new Map<string, WatchedScript>()
  /** By the HASH160 of the public key. */
  private readonly keys = new Map<string, KnownKey>()
  /** Redeem and witness scripts by their HASH160. */
  private readonly inner = new Map<string, Bytes>()
  /** By the x of the output key. */
  private readonly taproot = new Map<string, TaprootSpendData>()

  private constructor(document: WalletDocument, lookahead: number) {
    this.network = networks[document.network]
    this.lookahead = lookahead
    this.chains = [...documentChains(document, lookahead)]
  }

  /**
   * Derives what a document says is to be watched, in slices, so that nobody waits for long. The document is one that
   * `WalletFile` has read or that was made here.
   */
  static make(document: WalletDocument, lookahead = LOOKAHEAD): Effect.Effect<KeyRing> {
    return Effect.gen(function*() {
      const ring = new KeyRing(document, lookahead)
      for (const chain of ring.chains) while (ring.extend(chain, SLICE)) yield* turnOfEventLoop
      return ring
    })
  }

  /** What the wallet knows of a scriptPubKey, with or without a name prefix. */
  own(script: Bytes): OwnScript | undefined {
    return this.find(script)
  }

  private find(script: Bytes): WatchedScript | undefined {
    const whole = this.scripts.get(binaryString(script))
    if (whole !== undefined) return whole
    const address = addressScript(script)
    return address === script ? undefined : this.scripts.get(binaryString(address))
  }

  /** All scripts that are watched. */
  all(): Iterable<OwnScript> {
    return this.scripts.values()
  }

  /** How many scripts are watched. */
  get size(): number {
    return this.scripts.size
  }

  /** Whether there are chains that addresses can be taken from. */
  get canGiveOut(): boolean {
    return this.chains.some((chain) => this.givesOut(chain))
  }

  /** Whether addresses of its kind are taken from this chain. */
  private givesOut(chain: KeyChain): boolean {
    return chain.type !== undefined && this.chainFor(chain.type, chain.change) === chain
  }

  /** An active import comes before the account, a later one before an earlier one. */
  private chainFor(type: AddressType, change: boolean): KeyChain | undefined {
    return this.chains.findLast((chain) =>
      chain.active && chain.ranged && chain.type === type && chain.change === change
    )
  }

  /**
   * Takes the next address of a kind. It is taken at once, so that nobody else gets it; `change` writes that down, and
   * has to be on disk before the address is told.
   */
  next(
    type: AddressType,
    change: boolean
  ): Either.Either<{ readonly own: OwnScript; readonly change: DocumentChange }, InvalidWalletRequest> {
    const chain = this.chainFor(type, change)
    const own = chain === undefined ? undefined : this.take(chain)
    return own === undefined
      ? Either.left(new InvalidWalletRequest({ code: "no-keys", reason: "This wallet has no available keys" }))
      : Either.right({ own, change: this.save })
  }

  private take(chain: KeyChain): OwnScript | undefined {
    const index = chain.next
    chain.next = index + 1
    this.extend(chain)
    return chain.at(index)
  }

  /**
   * Notes that a script was paid or spent. Returns whether more scripts are watched since: blocks that were looked at
   * before they were have to be looked at again where they may have been used there, and `save` has to be written.
   */
  markUsed(script: Bytes): boolean {
    const watched = this.find(script)
    if (watched === undefined || !watched.chain.ranged || watched.index < watched.chain.next) return false
    watched.chain.next = watched.index + 1
    return this.extend(watched.chain)
  }

  /** Writes into a document which addresses are given out or used. Never takes any back. */
  readonly save: DocumentChange = (document) => {
    const accounts = new Map<string, number>()
    const imports = new Map<string, number>()
    for (const { next, source } of this.chains) {
      if (source.kind === "import") imports.set(source.text, next)
      else accounts.set(`${source.purpose}/${source.change ? 1 : 0}`, next)
    }
    return {
      ...document,
      accounts: document.accounts.map((account) => ({
        ...account,
        receive: Math.max(account.receive, accounts.get(`${account.purpose}/0`) ?? 0),
        change: Math.max(account.change, accounts.get(`${account.purpose}/1`) ?? 0)
      })),
      imports: document.imports.map((entry) => {
        const next = Math.max(entry.next, imports.get(entry.descriptor) ?? 0)
        return next === entry.next ? entry : { ...entry, next }
      })
    }
  }

  /**
   * Watches an import that is on disk (`prepareImport`); one that is watched already is replaced, and its scripts stay.
   * Where it is active, those of its kind before it are no more.
   */
  add(entry: Import): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const chain = importChain(this.network, entry, this.lookahead)
      const at = this.chains.findIndex(({ source }) => source.kind === "import" && source.text === entry.descriptor)
      const before = this.chains[at]
      if (before !== undefined) {
        chain.next = Math.max(chain.next, before.next)
        this.chains.splice(at, 1)
      }
      if (chain.active) {
        for (const other of this.chains) {
          const same = other.type === chain.type && other.change === chain.change
          if (same && other.source.kind === "import") other.active = false
        }
      }
      this.chains.push(chain)
      while (this.extend(chain, SLICE)) yield* turnOfEventLoop
    })
  }

  /** Derives what is to be watched, at most so many indexes. Returns whether there was any. */
  private extend(chain: KeyChain, most = Number.POSITIVE_INFINITY): boolean {
    const { target } = chain
    let count = 0
    for (; count < most && chain.derived < target; count++) {
      const { index, scripts } = chain.derive()
      for (const described of scripts) this.watch(new WatchedScript(this.network, chain, index, described))
    }
    return count > 0
  }

  private watch(watched: WatchedScript): void {
    const { chain, described, index } = watched
    const key = binaryString(watched.script)
    // Of two chains with the same script the one that can sign is worth more.
    const before = this.scripts.get(key)
    if (before === undefined || before.chain.text === chain.text || !before.spendable) this.scripts.set(key, watched)
    chain.keep(index, watched)
    for (const each of described.keys) {
      const keyHash = binaryString(hash160(each.publicKey))
      const known = this.keys.get(keyHash)
      const signs = chain.privateKeys.has(each.position)
      if (known === undefined || signs) this.keys.set(keyHash, { chain, index, key: each })
    }
    for (const script of [described.redeemScript, described.witnessScript]) {
      if (script !== undefined) this.inner.set(binaryString(hash160(script)), script)
    }
    if (described.taproot?.internalKey !== undefined) {
      const { internalKey, outputKey } = described.taproot
      this.taproot.set(binaryString(outputKey), { internalKey, merkleRoot: undefined, leaves: new Map() })
    }
  }

  /** What the wallet signs with; without secrets it knows scripts and public keys alone. */
  signer(secrets: Secrets | undefined): SigningProvider {
    const known = (keyHash: Bytes): KnownKey | undefined => this.keys.get(binaryString(keyHash))
    return {
      key: secrets === undefined ? NO_PROVIDER.key : (keyHash) => {
        const found = known(keyHash)
        return found === undefined ? undefined : privateKey(secrets, found)
      },
      pubkey: (keyHash) => known(keyHash)?.key.publicKey,
      redeemScript: (scriptHash) => this.inner.get(binaryString(scriptHash)),
      // HASH160 is RIPEMD-160 of SHA-256.
      witnessScript: (scriptHash) => this.inner.get(binaryString(ripemd160(scriptHash))),
      taproot: (outputKey) => this.taproot.get(binaryString(outputKey)),
      origin: (keyHash) => known(keyHash)?.key.origin
    }
  }

  /** The private key behind a script of a single key of the wallet. */
  privateKeyFor(script: Bytes, secrets: Secrets): SigningKey | undefined {
    const watched = this.find(script)
    const [key, ...more] = watched?.described.keys ?? []
    if (watched === undefined || key === undefined || more.length > 0) return undefined
    return privateKey(secrets, { chain: watched.chain, index: watched.index, key })
  }

  /** Unused scripts that are watched in chains that addresses are taken from. */
  keypool(): { readonly receive: number; readonly change: number } {
    const count = (change: boolean): number =>
      this.chains
        .filter((chain) => chain.change === change && this.givesOut(chain))
        .reduce((sum, { derived, next }) => sum + Math.max(0, derived - next), 0)
    return { receive: count(false), change: count(true) }
  }

  /** The descriptors of the wallet; with their private keys where secrets are given. */
  descriptors(secrets?: Secrets): ReadonlyArray<ListedDescriptor> {
    return this.chains.map((chain) => {
      const active = this.givesOut(chain)
      return {
        descriptor: (secrets === undefined ? undefined : this.privateText(chain, secrets)) ?? chain.text,
        timestamp: chain.timestamp,
        active,
        internal: active ? chain.change : undefined,
        range: chain.ranged ? [chain.start, chain.derived - 1] as const : undefined,
        next: chain.ranged ? chain.next : undefined
      }
    })
  }

  private privateText(chain: KeyChain, secrets: Secrets): string | undefined {
    const descriptor = chain.source.kind === "import"
      ? secrets.imported(chain.source.text)
      : secrets.accountDescriptor(chain)
    return descriptor === undefined ? undefined : descriptorText(this.network, descriptor)
  }
}
