import * as Schema from "effect/Schema"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type Network, networks } from "../../protocol/networks.ts"
import { Reader } from "../../protocol/Reader.ts"
import { Writer } from "../../protocol/Writer.ts"

// A snapshot file of the coins: metadata, then coins by transaction. Source: upstream `node/utxo_snapshot.h`,
// `SnapshotMetadata`; `rpc/blockchain.cpp`, `WriteUTXOSnapshot`.

const MAGIC = Uint8Array.of(0x75, 0x74, 0x78, 0x6f, 0xff)

const VERSION = 2

export const METADATA_SIZE = MAGIC.length + 2 + 4 + 32 + 8

/** The offset of the number of coins, which is known last. */
export const COUNT_OFFSET = METADATA_SIZE - 8

export interface SnapshotMetadata {
  /** The hash, in wire order, of the base block of these coins. */
  readonly base: Bytes
  readonly coins: number
}

export const encodeMetadata = (network: Network, { base, coins }: SnapshotMetadata): Uint8Array =>
  new Writer(METADATA_SIZE).bytes(MAGIC).u16(VERSION).bytes(network.magic).bytes(base).u64(BigInt(coins)).toBytes()

/** The reference node's text if the file ends within the metadata. */
const ENDS = "AutoFile::read: end of file"

/** Reads the metadata at the start of a file. Returns the reference node's reason if they are not for this network. */
export const decodeMetadata = (network: Network, bytes: Bytes): SnapshotMetadata | string => {
  if (bytes.length < MAGIC.length) return ENDS
  const reader = new Reader(bytes)
  if (!equal(reader.bytes(MAGIC.length, "magic"), MAGIC)) {
    return "Invalid UTXO set snapshot magic bytes. Please check if this is indeed a snapshot file or if you are using " +
      "an outdated snapshot format."
  }
  if (reader.remaining < 2) return ENDS
  const version = reader.u16("version")
  if (version !== VERSION) return `Version of snapshot ${version} does not match any of the supported versions.`
  if (reader.remaining < 4) return ENDS
  const magic = reader.bytes(4, "network")
  if (!equal(magic, network.magic)) {
    const other = Object.values(networks).find((known) => equal(known.magic, magic))
    return other === undefined
      ? "This snapshot has been created for an unrecognized network. This could be a custom signet, a new testnet or " +
        "possibly caused by data corruption."
      : `The network of the snapshot (${other.chainName}) does not match the network of this node (${network.chainName}).`
  }
  if (reader.remaining < 40) return ENDS
  const base = reader.bytes(32, "base block").slice()
  return { base, coins: Number(reader.u64("number of coins")) }
}

/** Why a snapshot is not written or loaded. Nothing has changed. */
export class SnapshotRefused extends Schema.TaggedError<SnapshotRefused>()("SnapshotRefused", {
  /** The kind of reason: path, metadata, rollback, a header that may come later, or another. */
  cause: Schema.Literal("path", "metadata", "rollback", "header", "load"),
  /** Absolute. */
  file: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}
