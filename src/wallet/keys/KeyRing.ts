import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { refusalText } from "../../base/recoveryWords.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { type Bytes, EMPTY } from "../../protocol/bytes.ts"
import { type Network, networks } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { SigningKey, SigningProvider } from "../signing/SigningProvider.ts"
import { type WhichIndex, WORDS_REACH } from "./AddressUse.ts"
import { descriptorText } from "./descriptors.ts"
import { documentChains, importChain, withProgress } from "./documentChains.ts"
import { deriveHardened } from "./hardenedKeys.ts"
import type { KeyChain } from "./KeyChain.ts"
import type { Secrets } from "./Secrets.ts"
import type { Import, WalletDocument } from "./WalletDocument.ts"
import type { AddressType, ListedDescriptor, OwnScript, WordsView } from "./WalletKeys.ts"
import { WatchedScripts } from "./WatchedScripts.ts"

/** The same gap as upstream. */
export const LOOKAHEAD = WORDS_REACH

/** Keys derived per turn of the event loop: some milliseconds. */
const SLICE = 25

/** The same for stored scripts. */
const STORED_SLICE = 1_000

const sliceOf = ({ hasRecords, keyCount }: KeyChain): number =>
  hasRecords ? STORED_SLICE : Math.max(1, Math.floor(SLICE / keyCount))

export type DocumentChange = (document: WalletDocument) => WalletDocument

export interface RingOptions {
  /** Gap of the seed's accounts and reach of the seed phrase; if omitted, `lookahead` and `WORDS_REACH`. */
  readonly seed?: number
  /** Stored scripts by the text of their chain (`takeRecords`): deriving is a thousand times slower. */
  readonly records?: ReadonlyMap<string, Bytes>
}

export interface ReservedAddress {
  readonly own: OwnScript
  /** Call it if the transaction was not sent. */
  readonly release: () => void
}

interface Offer {
  readonly chain: KeyChain
  readonly index: number
  readonly own: OwnScript
}

/** Watches the scripts of the seed's accounts and of imports. `save` writes their use into a document. */
export class KeyRing {
  readonly network: Network
  /** Gap: unused indexes watched per chain. */
  readonly lookahead: number
  private readonly chains: Array<KeyChain>
  private readonly scripts: WatchedScripts
  private secrets: () => Secrets | undefined = () => undefined
  /** Receiving addresses up to a paid one that were not given out here: they go into the address book. */
  private readonly unlisted = new Set<string>()
  /** Unpaid addresses in a row that may be given out. */
  private readonly reach: number

  private constructor(document: WalletDocument, lookahead: number, { records, seed }: RingOptions) {
    this.network = networks[document.network]
    this.lookahead = lookahead
    this.reach = seed ?? WORDS_REACH
    this.scripts = new WatchedScripts(this.network)
    this.chains = [...documentChains(document, { keypool: lookahead, seed: seed ?? lookahead, reach: this.reach })]
    for (const chain of this.chains) chain.readRecords(records?.get(chain.text) ?? EMPTY)
  }

  /** Derives in slices that do not block the event loop. The document must come from `WalletFile` or this program. */
  static make(document: WalletDocument, lookahead = LOOKAHEAD, options: RingOptions = {}): Effect.Effect<KeyRing> {
    return Effect.gen(function*() {
      const ring = new KeyRing(document, lookahead, options)
      for (const chain of ring.chains) while (ring.extend(chain, sliceOf(chain))) yield* turnOfEventLoop
      return ring
    })
  }

  /** Newly derived scripts, for `RingOptions`; only at the first call. */
  takeRecords(): ReadonlyMap<string, Bytes> {
    return new Map(this.chains.flatMap((chain) => {
      const records = chain.takeRecords()
      return records === undefined ? [] : [[chain.text, records] as const]
    }))
  }

  /** `undefined` for a wallet without a seed. */
  words(): WordsView | undefined {
    const uses = this.chains.flatMap(({ source, use }) => source.kind === "account" ? [use] : [])
    if (uses.length === 0) return undefined
    return {
      left: Math.max(0, Math.min(...uses.map(({ left }) => left))),
      beyond: uses.reduce((sum, { left }) => sum + Math.max(0, -left), 0),
      lost: uses.reduce((sum, { lost }) => sum + lost, 0)
    }
  }

  /** Sets the source of private keys, for more keys of hardened ranges. */
  deriveWith(secrets: () => Secrets | undefined): void {
    this.secrets = secrets
  }

  /** By scriptPubKey, with or without a name prefix. */
  own(script: Bytes): OwnScript | undefined {
    return this.scripts.find(script)
  }

  all(): Iterable<OwnScript> {
    return this.scripts.all()
  }

  scriptsOf(text: string): ReadonlyArray<OwnScript> {
    const chain = this.chains.find(({ ranged, source }) => !ranged && source.kind === "import" && source.text === text)
    return chain === undefined ? [] : chain.scripts(0).flatMap(({ script }) => this.scripts.find(script) ?? [])
  }

  get size(): number {
    return this.scripts.size
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

  /** Takes an address at once. The caller must apply `change`, and use the address only once that is on disk. */
  next(
    type: AddressType,
    { change, knows = true }: {
      readonly change: boolean
      /** Whether all blocks have been scanned; true if omitted. */
      readonly knows?: boolean
    }
  ): Either.Either<{ readonly own: OwnScript; readonly change: DocumentChange }, InvalidWalletRequest> {
    return Either.map(
      this.offer(type, { change, which: change ? "again" : "found", knows }),
      ({ chain, index, own }) => {
        chain.use.take(index)
        this.extend(chain)
        return { own, change: this.save }
      }
    )
  }

  /** For a transaction that may never be sent. Nothing is written: `markUsed` takes the address when it appears. */
  reserve(type: AddressType, change: boolean): Either.Either<ReservedAddress, InvalidWalletRequest> {
    return Either.map(this.offer(type, { change, which: "again" }), ({ chain, index, own }) => ({
      own,
      release: chain.use.reserve(index)
    }))
  }

  /** For a draft that may not be sent. Consecutive drafts get different addresses, if possible. */
  draft(type: AddressType, change: boolean): OwnScript | undefined {
    const chain = this.chainFor(type, change)
    if (chain === undefined) return undefined
    this.extend(chain)
    return this.at(chain, chain.use.offerDraft(chain.derived))
  }

  /** Derives if needed: with a small keypool the index may be beyond the last one. */
  private at(chain: KeyChain, index: number): OwnScript | undefined {
    if (index >= chain.derived) {
      chain.wants(index + 1 - chain.use.next)
      this.extend(chain)
    }
    return this.scripts.at(chain, index)
  }

  /** A locked wallet may have given out all scripts of a hardened range. */
  private offer(
    type: AddressType,
    { change, knows = true, which }: { readonly change: boolean; readonly which: WhichIndex; readonly knows?: boolean }
  ): Either.Either<Offer, InvalidWalletRequest> {
    const chain = this.chainFor(type, change)
    if (chain === undefined) {
      return Either.left(new InvalidWalletRequest({ code: "no-keys", reason: "This wallet has no available keys" }))
    }
    const index = chain.use.offer(which)
    if (index === undefined) {
      const reason = refusalText({ type, reach: this.reach, knows })
      return Either.left(new InvalidWalletRequest({ code: "beyond-words", reason }))
    }
    const own = this.at(chain, index)
    return own === undefined
      ? Either.left(new InvalidWalletRequest({ code: "used-up", reason: "a locked wallet has no more hardened keys" }))
      : Either.right({ chain, index, own })
  }

  /**
   * Derives missing keys of hardened ranges and up to `size` unused addresses per chain, without blocking the event
   * loop. If it returns true, the caller must write `save`.
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

  /** `inBlock`: by a block. If true, more scripts are watched: the caller must recheck blocks and write `save`. */
  markUsed(script: Bytes, inBlock = false): boolean {
    const watched = this.scripts.find(script)
    if (watched === undefined || !watched.chain.ranged) return false
    const { chain, index } = watched
    // Given out by another copy of the wallet, or taken by a transaction (upstream
    // `CWallet::AddToWalletIfInvolvingMe`).
    if (!chain.change && this.givesOut(chain)) {
      for (let at = chain.use.next; at <= index; at++) {
        const address = this.scripts.at(chain, at)?.address
        if (address !== undefined) this.unlisted.add(address)
      }
    }
    chain.use.markUsed(index, inBlock)
    return this.extend(chain)
  }

  /** After a disconnection; the caller marks again what the remaining blocks pay to. */
  forgetBlocks(): void {
    for (const { use } of this.chains) use.forgetBlocks()
  }

  /** Adds empty labels for addresses that were paid without being given out. */
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

  /** Never makes an address unused again. */
  readonly save: DocumentChange = (document) => {
    const accounts = new Map<string, number>()
    const imports = new Map<string, KeyChain>()
    for (const chain of this.chains) {
      const { source, use: { next } } = chain
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
   * For an import that is on disk (`prepareImport`). It replaces an import with the same text, whose scripts stay
   * watched, and deactivates earlier imports of its type if active.
   */
  add(entry: Import): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const chain = importChain(this.network, entry, this.lookahead)
      const at = this.chains.findIndex(({ source }) => source.kind === "import" && source.text === entry.descriptor)
      const before = this.chains[at]
      if (before !== undefined) {
        if (before.use.next > before.start) chain.use.take(before.use.next - 1)
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

  /** Derives missing keys of hardened ranges, if the private key is available. */
  private learn(chain: KeyChain): void {
    const { lacking, source } = chain
    if (lacking === undefined || source.kind !== "import") return
    const descriptor = this.secrets()?.imported(source.text)
    if (descriptor !== undefined) chain.learn(deriveHardened(descriptor, lacking))
  }

  /** Up to the target, at most `most` indexes. Returns whether it derived any. */
  private extend(chain: KeyChain, most = Number.POSITIVE_INFINITY): boolean {
    this.learn(chain)
    const { target } = chain
    let count = 0
    for (; count < most && chain.derived < target; count++) {
      this.scripts.extend(chain)
    }
    return count > 0
  }

  /** Without secrets: scripts and public keys only. */
  signer(secrets: Secrets | undefined): SigningProvider {
    return this.scripts.signer(secrets)
  }

  privateKeyFor(script: Bytes, secrets: Secrets): SigningKey | undefined {
    return this.scripts.privateKeyFor(script, secrets)
  }

  /** Unused watched scripts of the chains that give out addresses. */
  keypool(): { readonly receive: number; readonly change: number } {
    const count = (change: boolean): number =>
      this.chains
        .filter((chain) => chain.change === change && this.givesOut(chain))
        .reduce((sum, { poolEnd, use }) => sum + use.freeBelow(poolEnd), 0)
    return { receive: count(false), change: count(true) }
  }

  descriptors(secrets?: Secrets): ReadonlyArray<ListedDescriptor> {
    return this.chains.map((chain) => {
      const active = this.givesOut(chain)
      return {
        descriptor: (secrets === undefined ? undefined : this.privateText(chain, secrets)) ?? chain.text,
        timestamp: chain.timestamp,
        active,
        internal: active ? chain.change : undefined,
        range: chain.ranged ? [chain.start, chain.poolEnd - 1] as const : undefined,
        next: chain.ranged ? chain.use.next : undefined
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
