import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { createSha256, sha256, type StreamingDigest } from "../../protocol/hash.ts"
import { MuHash } from "../../protocol/muhash.ts"
import { parseNameScript } from "../../protocol/nameOperation.ts"
import { prevoutTxid } from "../../protocol/transaction.ts"
import { compactSizeLength, Writer } from "../../protocol/Writer.ts"

// Statistics of the set of unspent outputs, and hashes that commit to it (upstream `kernel/coinstats.cpp`), for
// comparing two nodes.

/** The hash over the coins in order, the hash of them as a set, or none. */
export type CoinHashKind = "hash_serialized_3" | "muhash" | "none"

export interface CoinStatistics {
  readonly txouts: number
  readonly transactions: number
  /** A size independent of the database, to measure the growth of the set. */
  readonly bogosize: number
  /** Smallest units in outputs without a name script. */
  readonly coins: number
  /** Smallest units in outputs with a name script, including NAME_NEW. */
  readonly names: number
  readonly kind: CoinHashKind
  /** Wire order; `undefined` for none. */
  readonly hash: Uint8Array | undefined
}

/** `bogosize` of a coin without its script: outpoint, height, amount, script length. */
export const BOGO_BYTES = 50

/** Writes a coin for the hashes: outpoint, height and coinbase bit, output as on the wire. */
const writeHashed = (writer: Writer, outpoint: Bytes, { coinbase, height, script, value }: Coin): void => {
  writer.bytes(outpoint).u32(2 * height + (coinbase ? 1 : 0)).i64(value).varBytes(script)
}

/** Writes a coin as a member of the `muhash` set, after its length. */
export const writeMember = (writer: Writer, outpoint: Bytes, coin: Coin): void => {
  const { length } = coin.script
  writer.compactSize(outpoint.length + 12 + compactSizeLength(length) + length)
  writeHashed(writer, outpoint, coin)
}

interface Commitment {
  readonly add: (outpoint: Bytes, coin: Coin) => void
  readonly digest: () => Uint8Array | undefined
}

/** Bytes collected before an update of the hash, as small updates are slow. */
const CHUNK = 65_536

const serializedHash = (): Commitment => {
  const writer = new Writer(2 * CHUNK)
  const hash: StreamingDigest = createSha256()
  return {
    add: (outpoint, coin) => {
      writeHashed(writer, outpoint, coin)
      if (writer.size < CHUNK) return
      hash.update(writer.written())
      writer.clear()
    },
    digest: () => {
      hash.update(writer.written())
      return sha256(hash.digest())
    }
  }
}

const setHash = (): Commitment => {
  const writer = new Writer(256)
  const set = new MuHash()
  return {
    add: (outpoint, coin) => {
      writeHashed(writer.clear(), outpoint, coin)
      set.add(writer.written())
    },
    digest: () => set.digest()
  }
}

const commitments: Readonly<Record<CoinHashKind, () => Commitment>> = {
  hash_serialized_3: serializedHash,
  muhash: setHash,
  none: () => ({ add: () => undefined, digest: () => undefined })
}

/** Adds up the coins of a set, ordered by txid bytes (wire order), then index. The caller may pause between coins. */
export class CoinStats {
  readonly #kind: CoinHashKind
  readonly #commitment: Commitment
  #txouts = 0
  #transactions = 0
  #bogosize = 0
  #coins = 0
  #names = 0
  readonly #txid = new Uint8Array(32)

  constructor(kind: CoinHashKind) {
    this.#kind = kind
    this.#commitment = commitments[kind]()
  }

  /** Whether an outpoint has the last txid. Avoids a view, which would take as long as the rest. */
  #isOfLast(outpoint: Bytes): boolean {
    if (this.#txouts === 0) return false
    for (let i = 0; i < 32; i++) if (outpoint[i] !== this.#txid[i]) return false
    return true
  }

  /** `outpoint` as on the wire, 36 bytes. */
  add(outpoint: Bytes, coin: Coin): void {
    if (!this.#isOfLast(outpoint)) {
      this.#transactions++
      this.#txid.set(prevoutTxid(outpoint))
    }
    this.#txouts++
    this.#bogosize += BOGO_BYTES + coin.script.length
    if (parseNameScript(coin.script) === undefined) this.#coins += coin.value
    else this.#names += coin.value
    this.#commitment.add(outpoint, coin)
  }

  /** Returns the statistics. No coin may be added afterwards. */
  finish(): CoinStatistics {
    return {
      txouts: this.#txouts,
      transactions: this.#transactions,
      bogosize: this.#bogosize,
      coins: this.#coins,
      names: this.#names,
      kind: this.#kind,
      hash: this.#commitment.digest()
    }
  }
}
