import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { HEADER_SIZE } from "../../../protocol/header.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { checkCount, type Codec, codec, countBytes, emptyCodec, readHashes, writeHashes } from "../codec.ts"

/** Protocol: upstream `net_processing.cpp`, `MAX_LOCATOR_SZ`. */
export const MAX_LOCATOR = 101

/** Version before every sent locator, whatever was negotiated. Receivers ignore it. */
export const LOCATOR_VERSION = 70_016

interface Locating {
  readonly version: number
  /** Hashes from the tip back to the genesis block, at growing distances. */
  readonly locator: ReadonlyArray<Bytes>
  /** The last hash wanted; zeros for no limit. */
  readonly stop: Bytes
}

export interface GetHeaders extends Locating {
  readonly type: "getheaders"
}

export interface GetBlocks extends Locating {
  readonly type: "getblocks"
}

const readLocating = (reader: Reader): Locating => {
  const version = reader.u32("version")
  const locator = readHashes(reader, "locator", { most: MAX_LOCATOR, consequence: "disconnect" })
  return { version, locator, stop: reader.bytes(32, "stop hash") }
}

const locating = <A extends Locating>(tag: (locating: Locating) => A): Codec<A> =>
  codec(
    (reader) => tag(readLocating(reader)),
    (writer, { locator, stop, version }) => {
      writer.u32(version)
      writeHashes(writer, locator)
      writer.bytes(stop)
    },
    1024
  )

export const getheaders = locating<GetHeaders>((parts) => ({ type: "getheaders", ...parts }))

export const getblocks = locating<GetBlocks>((parts) => ({ type: "getblocks", ...parts }))

/** Protocol: upstream `MAX_HEADERS_RESULTS`. */
export const MAX_HEADERS = 2000

/** From this announced version of a peer on, `headers` has a byte limit too (reference/protocol.md 6.2). */
const SIZE_LIMIT_VERSION = 110_000

/** Bytes of headers at which a message is full and more follow (reference/protocol.md 6.7): 4 MiB. */
export const FULL_HEADERS_SIZE = 4 * 1024 * 1024

/** See reference/protocol.md 6.7: 6 MiB. */
export const MAX_HEADERS_SIZE = 6 * 1024 * 1024

export interface Headers {
  readonly type: "headers"
  readonly headers: ReadonlyArray<BlockHeader>
}

const NO_TRANSACTIONS = Uint8Array.of(0)

const readHeaders = (reader: Reader): Headers => {
  // Upstream checks the count first: too many are a violation even if the entries are missing.
  const count = reader.compactSize("headers")
  checkCount(reader, { field: "headers", count }, { most: MAX_HEADERS, consequence: "misbehaving" })
  if (count * (HEADER_SIZE + 1) > reader.remaining) {
    reader.fail({ field: "headers", reason: `${count} of them do not fit` })
  }
  const headers = new Array<BlockHeader>(count)
  for (let i = 0; i < count; i++) {
    headers[i] = readBlockHeader(reader)
    // The transaction count. No transactions follow, whatever its value.
    reader.compactSize("transactions")
  }
  return { type: "headers", headers }
}

export const headers: Codec<Headers> = {
  decode: readHeaders,
  encode: ({ headers }) => [
    countBytes(headers.length),
    ...headers.flatMap((header) => [encodeBlockHeader(header), NO_TRANSACTIONS])
  ]
}

/** Bytes for the limits: with proofs, without the transaction counts. */
export const headersSize = (headers: ReadonlyArray<BlockHeader>): number => {
  let size = 0
  for (const { auxpow } of headers) size += HEADER_SIZE + (auxpow?.bytes.length ?? 0)
  return size
}

/** Whether the receiver expects more (reference/protocol.md 6.7). `peerVersion`: announced by the other side. */
export const isFullHeaders = (
  { count, peerVersion, size }: { readonly count: number; readonly size: number; readonly peerVersion: number }
): boolean => count >= MAX_HEADERS || (peerVersion >= SIZE_LIMIT_VERSION && size >= FULL_HEADERS_SIZE)

export const isTooLongHeaders = (
  { peerVersion, size }: { readonly size: number; readonly peerVersion: number }
): boolean => peerVersion >= SIZE_LIMIT_VERSION && size > MAX_HEADERS_SIZE

/** BIP 130. */
export interface SendHeaders {
  readonly type: "sendheaders"
}

export const sendheaders = emptyCodec<SendHeaders>({ type: "sendheaders" })
