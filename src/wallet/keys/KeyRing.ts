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
import { makeTaproot } from "../signing/taprootTree.ts"
import { descriptorText } from "./descriptors.ts"
import { documentChains, importChain } from "./documentChains.ts"
import { deriveHardened, storedEnd } from "./hardenedKeys.ts"
import type { KeyChain } from "./KeyChain.ts"
import type { DerivedKey } from "./keyExpression.ts"
import type { Secrets } from "./Secrets.ts"
import type { Import, WalletDocument } from "./WalletDocument.ts"
import type { AddressType, OwnScript } from "./WalletKeys.ts"
import { WatchedScript } from "./WatchedScript.ts"

/**
 * The gap: the number of scripts of each chain that the wallet watches after the last one given out or used. BIP 44
 * asks for 20. The reference node derives 1000, most of which are never used.
 */
export const LOOKAHEAD = 100

/** Keys derived before the event loop gets its turn: some milliseconds of work. */
const SLICE = 25

/** The indexes of a slice. */
const sliceOf = ({ keyCount }: KeyChain): number => Math.max(1, Math.floor(SLICE / keyCount))

export type DocumentChange = (document: WalletDocument) => WalletDocument

/** A key of a watched script, and the place of its private key. */
interface KnownKey {
  readonly chain: KeyChain
  readonly index: number
  readonly key: DerivedKey
}

/** The private key of a place, if the secrets hold it; `undefined` once the secrets are wiped. */
const privateKey = (secrets: Secrets, { chain, index, key }: KnownKey): SigningKey | undefined => {
  if (secrets.isWiped || !chain.privateKeys.has(key.position)) return undefined
  const { source } = chain
  return source.kind === "account"
    ? secrets.accountKey(source.purpose, source.change, index)
    : secrets.importedKey(source.text, { position: key.position, index })
}

/** An import with what its chain has given out and derived since. */
const withProgress = (entry: Import, { hardened, next: taken }: KeyChain): Import => {
  const next = Math.max(entry.next, taken)
  const more = hardened === undefined || hardened.end <= storedEnd(entry) ? {} : { hardened: hardened.keys() }
  return next === entry.next && !("hardened" in more) ? entry : { ...entry, next, ...more }
}

/** A descriptor of the wallet, for `listdescriptors`. */
export interface ListedDescriptor {
  readonly descriptor: string
  readonly timestamp: number
  readonly active: boolean
  /** Only for active ones. */
  readonly internal: boolean | undefined
  /** First and last watched index; only for a ranged descriptor. */
  readonly range: readonly [number, number] | undefined
  readonly next: number | undefined
}

/**
 * The scripts that a wallet watches, by their bytes: those of the seed's accounts and those of imports. It is made from
 * a document and never changes that document: `save` writes into a document which addresses are given out or used.
 */
export class KeyRing {
  readonly network: Network
  /** Gap: the number of unused indexes that each chain watches. */
  readonly lookahead: number
  private readonly chains: Array<KeyChain>
  private readonly scripts = new Map<string, WatchedScript>()
  /** By the HASH160 of the public key. */
  private readonly keys = new Map<string, KnownKey>()
  /** Redeem and witness scripts, by their HASH160. */
  private readonly inner = new Map<string, Bytes>()
  /** By the x coordinate of the output key. */
  private readonly taproot = new Map<string, TaprootSpendData>()
  private secrets: () => Secrets | undefined = () => undefined
  /** Receiving addresses up to one that was paid without being given out here: they need a place in the address book. */
  private readonly unlisted = new Set<string>()

  private constructor(document: WalletDocument, lookahead: number) {
    this.network = networks[document.network]
    this.lookahead = lookahead
    this.chains = [...documentChains(document, lookahead)]
  }

  /**
   * Derives the watched scripts of a document, in slices that do not block the event loop. The document has to come
   * from `WalletFile` or from this program.
   */
  static make(document: WalletDocument, lookahead = LOOKAHEAD): Effect.Effect<KeyRing> {
    return Effect.gen(function*() {
      const ring = new KeyRing(document, lookahead)
      for (const chain of ring.chains) while (ring.extend(chain, sliceOf(chain))) yield* turnOfEventLoop
      return ring
    })
  }

  /** Sets where the ring finds private keys, if the wallet has them now: for more keys of hardened ranges. */
  deriveWith(secrets: () => Secrets | undefined): void {
    this.secrets = secrets
  }

  /** The wallet's record of a scriptPubKey, with or without a name prefix. */
  own(script: Bytes): OwnScript | undefined {
    return this.find(script)
  }

  private find(script: Bytes): WatchedScript | undefined {
    const whole = this.scripts.get(binaryString(script))
    if (whole !== undefined) return whole
    const address = addressScript(script)
    return address === script ? undefined : this.scripts.get(binaryString(address))
  }

  all(): Iterable<OwnScript> {
    return this.scripts.values()
  }

  get size(): number {
    return this.scripts.size
  }

  /** Whether the ring has a chain that gives out addresses. */
  get canGiveOut(): boolean {
    return this.chains.some((chain) => this.givesOut(chain))
  }

  /** Whether the ring has a chain for receiving or change addresses of a type. */
  gives(type: AddressType, change: boolean): boolean {
    return this.chainFor(type, change) !== undefined
  }

  /** Whether this chain gives out the addresses of its type. */
  private givesOut(chain: KeyChain): boolean {
    return chain.type !== undefined && this.chainFor(chain.type, chain.change) === chain
  }

  /** An active import takes precedence over the account, and a later import over an earlier one. */
  private chainFor(type: AddressType, change: boolean): KeyChain | undefined {
    return this.chains.findLast((chain) =>
      chain.active && chain.ranged && chain.type === type && chain.change === change
    )
  }

  /**
   * Takes the next address of a type. The address is reserved at once, so that no other caller gets it. The caller has
   * to apply `change` to the document, and may use the address only once that is on disk.
   */
  next(
    type: AddressType,
    change: boolean
  ): Either.Either<{ readonly own: OwnScript; readonly change: DocumentChange }, InvalidWalletRequest> {
    const chain = this.chainFor(type, change)
    if (chain === undefined) {
      return Either.left(new InvalidWalletRequest({ code: "no-keys", reason: "This wallet has no available keys" }))
    }
    const own = this.take(chain)
    return own === undefined
      ? Either.left(new InvalidWalletRequest({ code: "used-up", reason: "a locked wallet has no more hardened keys" }))
      : Either.right({ own, change: this.save })
  }

  /** Takes the next script. A locked wallet may have given out all scripts of a hardened range. */
  private take(chain: KeyChain): OwnScript | undefined {
    const index = chain.next
    if (chain.at(index) === undefined) this.extend(chain)
    const own = chain.at(index)
    if (own === undefined) return undefined
    chain.next = index + 1
    this.extend(chain)
    return own
  }

  /**
   * Derives what the chains lack of hardened ranges, and up to `size` unused addresses of each chain that gives them out,
   * in slices that do not block the event loop. Returns whether it derived any, and the caller has to write `save`.
   */
  refill(size = 0): Effect.Effect<boolean> {
    return Effect.gen(this, function*() {
      let grew = false
      for (const chain of this.chains) {
        if (this.givesOut(chain)) chain.wants(size)
        for (; this.extend(chain, sliceOf(chain)); grew = true) yield* turnOfEventLoop
      }
      return grew
    })
  }

  /**
   * Marks a script as paid or spent. Returns whether the ring watches more scripts since. Then the caller has to check
   * again the blocks that may use these scripts, and to write `save`.
   */
  markUsed(script: Bytes): boolean {
    const watched = this.find(script)
    if (watched === undefined || !watched.chain.ranged || watched.index < watched.chain.next) return false
    const { chain, index } = watched
    // Another copy of the wallet gave them out (upstream `CWallet::AddToWalletIfInvolvingMe`).
    if (!chain.change && this.givesOut(chain)) {
      for (let at = chain.next; at <= index; at++) {
        const address = chain.at(at)?.address
        if (address !== undefined) this.unlisted.add(address)
      }
    }
    chain.next = index + 1
    return this.extend(chain)
  }

  /** The labels of a document, with empty ones for addresses that were paid without being given out. */
  private listed(labels: WalletDocument["labels"]): WalletDocument["labels"] {
    if (this.unlisted.size === 0) return labels
    const known = new Set(labels.map(({ address }) => address))
    const missing = [...this.unlisted].filter((address) => !known.has(address))
    if (missing.length > 0) {
      return [...labels, ...missing.map((address) => ({ address, label: "", purpose: "receive" as const }))]
    }
    this.unlisted.clear()
    return labels
  }

  /** Writes into a document which addresses are given out or used. It never makes an address unused again. */
  readonly save: DocumentChange = (document) => {
    const accounts = new Map<string, number>()
    const imports = new Map<string, KeyChain>()
    for (const chain of this.chains) {
      const { next, source } = chain
      if (source.kind === "import") imports.set(source.text, chain)
      else accounts.set(`${source.purpose}/${source.change ? 1 : 0}`, next)
    }
    return {
      ...document,
      labels: this.listed(document.labels),
      accounts: document.accounts.map((account) => ({
        ...account,
        receive: Math.max(account.receive, accounts.get(`${account.purpose}/0`) ?? 0),
        change: Math.max(account.change, accounts.get(`${account.purpose}/1`) ?? 0)
      })),
      imports: document.imports.map((entry) => {
        const chain = imports.get(entry.descriptor)
        return chain === undefined ? entry : withProgress(entry, chain)
      })
    }
  }

  /**
   * Watches an import that is on disk (`prepareImport`). It replaces an import with the same text, whose scripts stay
   * watched. An active import deactivates earlier imports of its type.
   */
  add(entry: Import): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const chain = importChain(this.network, entry, this.lookahead)
      const at = this.chains.findIndex(({ source }) => source.kind === "import" && source.text === entry.descriptor)
      const before = this.chains[at]
      if (before !== undefined) {
        if (before.next > before.start) chain.next = Math.max(chain.next, before.next)
        this.chains.splice(at, 1)
      }
      if (chain.active) {
        for (const other of this.chains) {
          const same = other.type === chain.type && other.change === chain.change
          if (same && other.source.kind === "import") other.active = false
        }
      }
      this.chains.push(chain)
      while (this.extend(chain, sliceOf(chain))) yield* turnOfEventLoop
    })
  }

  /** Derives the keys of hardened ranges that are lacking, if the private key is at hand. */
  private learn(chain: KeyChain): void {
    const { lacking, source } = chain
    if (lacking === undefined || source.kind !== "import") return
    const descriptor = this.secrets()?.imported(source.text)
    if (descriptor !== undefined) chain.learn(deriveHardened(descriptor, lacking))
  }

  /** Derives up to the target, at most `most` indexes. Returns whether it derived any. */
  private extend(chain: KeyChain, most = Number.POSITIVE_INFINITY): boolean {
    this.learn(chain)
    const { target } = chain
    let count = 0
    for (; count < most && chain.derived < target; count++) {
      const { index, scripts } = chain.derive()
      for (const described of scripts) this.watch(new WatchedScript(this.network, { chain, index, described }))
    }
    return count > 0
  }

  private watch(watched: WatchedScript): void {
    const { chain, described, index } = watched
    const key = binaryString(watched.script)
    // If two chains have the same script, the one that can sign takes precedence.
    const before = this.scripts.get(key)
    if (before === undefined || before.chain.text === chain.text || !before.spendable) this.scripts.set(key, watched)
    chain.keep(index, watched)
    const hasLeaves = (described.taproot?.leaves.length ?? 0) > 0
    for (const each of described.keys) {
      const keyHash = binaryString(hash160(each.publicKey))
      const known = this.keys.get(keyHash)
      const signs = chain.privateKeys.has(each.position)
      if (known === undefined || signs) this.keys.set(keyHash, { chain, index, key: each })
      // A miniscript in a script tree may have the hash of a key's x coordinate.
      if (hasLeaves) this.keys.set(binaryString(hash160(each.publicKey.subarray(-32))), { chain, index, key: each })
    }
    for (const script of [described.redeemScript, described.witnessScript]) {
      if (script !== undefined) this.inner.set(binaryString(hash160(script)), script)
    }
    if (described.taproot?.internalKey !== undefined) {
      const { internalKey, leaves, outputKey } = described.taproot
      const spend = leaves.length === 0
        ? { internalKey, merkleRoot: undefined, leaves: new Map(), tree: [] }
        : makeTaproot(internalKey, leaves).spend
      this.taproot.set(binaryString(outputKey), spend)
    }
  }

  /** The keys and scripts for signing; without secrets, only scripts and public keys. */
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

  /** The private key of a script with a single key of the wallet. */
  privateKeyFor(script: Bytes, secrets: Secrets): SigningKey | undefined {
    const watched = this.find(script)
    const [key, ...more] = watched?.described.keys ?? []
    if (watched === undefined || key === undefined || more.length > 0) return undefined
    return privateKey(secrets, { chain: watched.chain, index: watched.index, key })
  }

  /** The keypool: unused watched scripts in the chains that give out addresses. */
  keypool(): { readonly receive: number; readonly change: number } {
    const count = (change: boolean): number =>
      this.chains
        .filter((chain) => chain.change === change && this.givesOut(chain))
        .reduce((sum, { derived, next }) => sum + Math.max(0, derived - next), 0)
    return { receive: count(false), change: count(true) }
  }

  /** The descriptors of the wallet; with secrets, including their private keys. */
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
