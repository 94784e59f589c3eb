import { type Auxpow, normalizeAuxpow, readAuxpow } from "./auxpow.ts"
import { type Bytes, concat, concatAll } from "./bytes.ts"
import { type Header, HEADER_SIZE, readHeader } from "./header.ts"
import { type MerkleRoot, merkleRoot } from "./merkle.ts"
import { Reader } from "./Reader.ts"
import { readTransaction, type Transaction } from "./transaction.ts"
import { compactSizeLength, Writer } from "./Writer.ts"

/** The reference node calls this a block header on the wire. */
export interface BlockHeader {
  readonly header: Header
  readonly auxpow: Auxpow | undefined
}

/** Throws `DecodeError`. */
export const readBlockHeader = (reader: Reader): BlockHeader => {
  const header = readHeader(reader)
  return { header, auxpow: header.hasAuxpowFlag ? readAuxpow(reader) : undefined }
}

/** Fields of the proof that no rule checks are zero. */
export const encodeBlockHeader = ({ auxpow, header }: BlockHeader): Uint8Array =>
  auxpow === undefined ? header.bytes : concat(header.bytes, normalizeAuxpow(auxpow).bytes)

export interface BlockParts extends BlockHeader {
  readonly bytes: Bytes
  readonly transactions: ReadonlyArray<Transaction>
}

/** A block as a view of its bytes, made by `readBlock` or `makeBlock`. */
export class Block implements BlockHeader {
  /** With witnesses and proof. Fields of the proof that no rule checks are zero. */
  readonly bytes: Bytes
  readonly header: Header
  readonly auxpow: Auxpow | undefined
  readonly transactions: ReadonlyArray<Transaction>
  private knownMerkle: MerkleRoot | undefined
  private knownStrippedSize: number | undefined

  constructor({ auxpow, bytes, header, transactions }: BlockParts) {
    this.bytes = bytes
    this.header = header
    this.auxpow = auxpow
    this.transactions = transactions
  }

  /** Wire order. */
  get hash(): Uint8Array {
    return this.header.hash
  }

  get size(): number {
    return this.bytes.length
  }

  /** Size in bytes without witnesses but with the proof (reference/protocol.md 2.6). */
  get strippedSize(): number {
    if (this.knownStrippedSize === undefined) {
      let size = HEADER_SIZE + (this.auxpow?.bytes.length ?? 0) + compactSizeLength(this.transactions.length)
      for (const transaction of this.transactions) size += transaction.strippedSize
      this.knownStrippedSize = size
    }
    return this.knownStrippedSize
  }

  /** Weight units (BIP 141; reference/protocol.md 5.4), including header, proof and transaction count. */
  get weight(): number {
    return 3 * this.strippedSize + this.size
  }

  get merkle(): MerkleRoot {
    return this.knownMerkle ??= merkleRoot(this.transactions.map((transaction) => transaction.txid))
  }
}

const writeCount = (count: number): Uint8Array => new Writer(9).compactSize(count).toBytes()

/** The smallest transaction: version, two empty lists, lock time. */
const SMALLEST_TRANSACTION = 10

/** Copied only if the proof has values in fields that no rule checks (reference/protocol.md 2.4). */
export class BlockReading {
  private readonly reader: Reader
  private readonly start: number
  private readonly bodyStart: number
  private readonly head: BlockHeader
  private readonly transactions: Array<Transaction>
  private done = 0

  /** Throws `DecodeError`. */
  constructor(reader: Reader) {
    this.reader = reader
    this.start = reader.offset
    this.head = readBlockHeader(reader)
    this.bodyStart = reader.offset
    this.transactions = new Array<Transaction>(reader.count("transactions", SMALLEST_TRANSACTION))
  }

  /** Reads about this many bytes of transactions, and returns the block once complete. Throws `DecodeError`. */
  step(bytes: number): { readonly read: ReadonlyArray<Transaction>; readonly block: Block | undefined } {
    const { reader, transactions } = this
    const first = this.done
    const end = reader.offset + bytes
    while (this.done < transactions.length && reader.offset < end) transactions[this.done++] = readTransaction(reader)
    const read = transactions.slice(first, this.done)
    return { read, block: this.done === transactions.length ? this.finish() : undefined }
  }

  private finish(): Block {
    const { bodyStart, head: { auxpow, header }, reader, start, transactions } = this
    const received = reader.source.subarray(start, reader.offset)
    if (auxpow === undefined) return new Block({ bytes: received, header, auxpow: undefined, transactions })
    const normal = normalizeAuxpow(auxpow)
    const bytes = normal === auxpow
      ? received
      : concat(header.bytes, normal.bytes, reader.source.subarray(bodyStart, reader.offset))
    return new Block({ bytes, header, auxpow: normal, transactions })
  }
}

/** Throws `DecodeError`. */
export const readBlock = (reader: Reader): Block => {
  const reading = new BlockReading(reader)
  for (;;) {
    const { block } = reading.step(Infinity)
    if (block !== undefined) return block
  }
}

/** Ignores trailing bytes, as the reference node does. Throws `DecodeError`. */
export const decodeBlock = (bytes: Bytes): Block => readBlock(new Reader(bytes))

export const makeBlock = (
  { auxpow, header }: BlockHeader,
  transactions: ReadonlyArray<Transaction>
): Block => {
  const proof = auxpow === undefined ? undefined : normalizeAuxpow(auxpow)
  const parts = [header.bytes, proof?.bytes ?? new Uint8Array(0), writeCount(transactions.length)]
  return new Block({
    bytes: concatAll([...parts, ...transactions.map(({ bytes }) => bytes)]),
    header,
    auxpow: proof,
    transactions
  })
}
