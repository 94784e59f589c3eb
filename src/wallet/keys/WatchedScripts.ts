import { scriptOf } from "../../protocol/address.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { hash160, ripemd160 } from "../../protocol/hash.ts"
import { addressScript } from "../../protocol/nameOperation.ts"
import type { Network } from "../../protocol/networks.ts"
import {
  NO_PROVIDER,
  type SigningKey,
  type SigningProvider,
  type TaprootSpendData
} from "../signing/SigningProvider.ts"
import { makeTaproot } from "../signing/taprootTree.ts"
import { isSpendable, type KeyChain } from "./KeyChain.ts"
import type { DerivedKey } from "./keyExpression.ts"
import type { Secrets } from "./Secrets.ts"
import { WatchedScript } from "./WatchedScript.ts"

interface KnownKey {
  readonly chain: KeyChain
  readonly index: number
  readonly key: DerivedKey
}

const privateKey = (secrets: Secrets, { chain, index, key }: KnownKey): SigningKey | undefined => {
  if (secrets.isWiped || !chain.privateKeys.has(key.position)) return undefined
  const { source } = chain
  return source.kind === "account"
    ? secrets.accountKey(source.purpose, source.change, index)
    : secrets.importedKey(source.text, { position: key.position, index })
}

/** Chain number and index in one number: see `placeOf`. */
type Place = number

const INDEXES = 0x80000000

/** On a plain chain, a script is only its place until first found: some 100 bytes instead of 1,400. */
export class WatchedScripts {
  private readonly network: Network
  private readonly chains: Array<KeyChain> = []
  private readonly numbers = new Map<KeyChain, number>()
  private readonly scripts = new Map<string, WatchedScript | Place>()
  /** The first script of each index, for chains that are not plain. */
  private readonly firsts = new Map<Place, WatchedScript>()
  /** By HASH160. */
  private readonly keys = new Map<string, KnownKey | Place>()
  /** Redeem and witness scripts, by HASH160. */
  private readonly inner = new Map<string, Bytes>()
  /** By the x coordinate of the output key. */
  private readonly taproot = new Map<string, TaprootSpendData>()

  constructor(network: Network) {
    this.network = network
  }

  get size(): number {
    return this.scripts.size
  }

  /** In insertion order. Scripts made from a place are not kept. */
  *all(): Iterable<WatchedScript> {
    for (const each of this.scripts.values()) yield typeof each === "number" ? this.make(each) : each
  }

  at(chain: KeyChain, index: number): WatchedScript | undefined {
    if (index < chain.start || index >= chain.derived) return undefined
    return chain.isPlain ? this.get(chain.record(index).script) : this.firsts.get(this.placeOf(chain, index))
  }

  /** With or without a name prefix. */
  find(script: Bytes): WatchedScript | undefined {
    const whole = this.get(script)
    if (whole !== undefined) return whole
    const address = addressScript(script)
    return address === script ? undefined : this.get(address)
  }

  private get(script: Bytes): WatchedScript | undefined {
    const key = binaryString(script)
    const found = this.scripts.get(key)
    if (typeof found !== "number") return found
    const made = this.make(found)
    this.scripts.set(key, made)
    this.learn(made)
    return made
  }

  private placeOf(chain: KeyChain, index: number): Place {
    let number = this.numbers.get(chain)
    if (number === undefined) {
      number = this.chains.push(chain) - 1
      this.numbers.set(chain, number)
    }
    return number * INDEXES + index
  }

  private chainAt(place: Place): KeyChain {
    const chain = this.chains[Math.floor(place / INDEXES)]
    if (chain === undefined) throw new TypeError("no chain at this place")
    return chain
  }

  private make(place: Place): WatchedScript {
    const chain = this.chainAt(place)
    const index = place % INDEXES
    const [described] = chain.scripts(index)
    if (described === undefined) throw new TypeError("no script at this place")
    return new WatchedScript(this.network, { chain, index, described })
  }

  extend(chain: KeyChain): void {
    if (chain.isPlain) {
      const index = chain.derived
      const { keyHash, script } = chain.nextRecord()
      const place = this.placeOf(chain, index)
      const key = binaryString(script)
      if (this.mayReplace(this.scripts.get(key), chain)) this.scripts.set(key, place)
      if (keyHash !== undefined) this.keys.set(binaryString(keyHash), place)
      return
    }
    const index = chain.derived++
    for (const described of chain.scripts(index)) {
      const watched = new WatchedScript(this.network, { chain, index, described })
      const key = binaryString(watched.script)
      if (this.mayReplace(this.scripts.get(key), chain)) this.scripts.set(key, watched)
      const place = this.placeOf(chain, index)
      if (!this.firsts.has(place)) this.firsts.set(place, watched)
      this.learn(watched)
    }
  }

  /** If two chains have the same script, one that can sign takes precedence. */
  private mayReplace(before: WatchedScript | Place | undefined, chain: KeyChain): boolean {
    if (before === undefined) return true
    const holder = typeof before === "number" ? this.chainAt(before) : before.chain
    if (holder.text === chain.text) return true
    return typeof before === "number" ? holder.privateKeys.size === 0 : !isSpendable(before.described, holder)
  }

  private learn({ chain, described, index }: WatchedScript): void {
    const hasLeaves = (described.taproot?.leaves.length ?? 0) > 0
    for (const each of described.keys) {
      const keyHash = binaryString(hash160(each.publicKey))
      const known = this.keys.get(keyHash)
      const signs = chain.privateKeys.has(each.position)
      if (known === undefined || typeof known === "number" || signs) this.keys.set(keyHash, { chain, index, key: each })
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

  private known(keyHash: Bytes): KnownKey | undefined {
    const key = binaryString(keyHash)
    const found = this.keys.get(key)
    if (found !== undefined && typeof found !== "number") return found
    // Nothing is recorded for a script never found before; the usual scripts of its key show its place.
    if (found !== undefined) this.get(this.chainAt(found).record(found % INDEXES).script)
    else if (keyHash.length === KEY_HASH_SIZE) { for (const script of usualScripts(keyHash)) this.get(script) }
    const now = this.keys.get(key)
    return typeof now === "number" ? undefined : now
  }

  /** Without secrets: scripts and public keys only. */
  signer(secrets: Secrets | undefined): SigningProvider {
    return {
      key: secrets === undefined ? NO_PROVIDER.key : (keyHash) => {
        const found = this.known(keyHash)
        return found === undefined ? undefined : privateKey(secrets, found)
      },
      pubkey: (keyHash) => this.known(keyHash)?.key.publicKey,
      redeemScript: (scriptHash) => {
        this.get(scriptOf({ kind: "scripthash", hash: scriptHash }))
        return this.inner.get(binaryString(scriptHash))
      },
      // HASH160 is RIPEMD-160 of SHA-256.
      witnessScript: (scriptHash) => this.inner.get(binaryString(ripemd160(scriptHash))),
      taproot: (outputKey) => {
        this.get(scriptOf({ kind: "witness", version: 1, program: outputKey }))
        return this.taproot.get(binaryString(outputKey))
      },
      origin: (keyHash) => this.known(keyHash)?.key.origin
    }
  }

  privateKeyFor(script: Bytes, secrets: Secrets): SigningKey | undefined {
    const watched = this.find(script)
    const [key, ...more] = watched?.described.keys ?? []
    if (watched === undefined || key === undefined || more.length > 0) return undefined
    return privateKey(secrets, { chain: watched.chain, index: watched.index, key })
  }
}

const KEY_HASH_SIZE = 20

const usualScripts = (hash: Bytes): ReadonlyArray<Bytes> => {
  const witness = scriptOf({ kind: "witness", version: 0, program: hash })
  return [scriptOf({ kind: "pubkeyhash", hash }), witness, scriptOf({ kind: "scripthash", hash: hash160(witness) })]
}
