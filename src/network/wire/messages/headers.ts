import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "../../../protocol/block.ts"
import type { Bytes } from "../../../protocol/bytes.ts"
import { HEADER_SIZE } from "../../../protocol/header.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import { checkCount, type Codec, codec, countBytes, emptyCodec, readHashes, writeHashes } from "../codec.ts"

/** Most hashes in a locator (protocol): upstream `net_processing.cpp`, `MAX_LOCATOR_SZ`. */
export const MAX_LOCATOR = 101

/** What stands in front of every locator that is sent, whatever version was agreed; nobody reads it. */
export const LOCATOR_VERSION = 70_016

/** What follows a locator: the question of both `getheaders` and `getblocks`. */
interface Locating {
  readonly version: number
  /** Hashes from the tip back to the genesis block, ever further apart. */
  readonly locator: ReadonlyArray<Bytes>
  /** The last hash wanted; zeros for as many as there are. */
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

/** Most headers in a message (protocol): upstream `MAX_HEADERS_RESULTS`. */
export const MAX_HEADERS = 2000

/**
 * The version from which on `headers` is limited by bytes too (reference/protocol.md 6.2), as the peer announced it.
 */
const SIZE_LIMIT_VERSION = 110_000

/** Bytes of headers after which a message is full, and more will follow it (reference/protocol.md 6.7): 4 MiB. */
export const FULL_HEADERS_SIZE = 4 * 1024 * 1024

/** Most bytes of headers in a message (reference/protocol.md 6.7): 6 MiB. */
export const MAX_HEADERS_SIZE = 6 * 1024 * 1024

/** Headers with their merged-mining proofs. */
export interface Headers {
  readonly type: "headers"
  readonly headers: ReadonlyArray<BlockHeader>
}

const NO_TRANSACTIONS = Uint8Array.of(0)

const readHeaders = (reader: Reader): Headers => {
  // Upstream looks at the number before anything else: too many are an offence even if they are not there.
  const count = reader.compactSize("headers")
  checkCount(reader, "headers", count, { most: MAX_HEADERS, consequence: "misbehaving" })
  if (count * (HEADER_SIZE + 1) > reader.remaining) reader.fail("headers", `${count} of them do not fit`)
  const headers = new Array<BlockHeader>(count)
  for (let i = 0; i < count; i++) {
    headers[i] = readBlockHeader(reader)
    // The number of transactions that follow. None do, whatever it says.
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

/** Bytes of headers as the limits count them: with their proofs, without what stands between them. */
export const headersSize = (headers: ReadonlyArray<BlockHeader>): number => {
  let size = 0
  for (const { auxpow } of headers) size += HEADER_SIZE + (auxpow?.bytes.length ?? 0)
  return size
}

/**
 * Whether a message of so many headers and bytes is full (reference/protocol.md 6.7): the server stops there, and the
 * receiver expects more behind it. `peerVersion` is what the other side announced.
 */
export const isFullHeaders = (count: number, size: number, peerVersion: number): boolean =>
  count >= MAX_HEADERS || (peerVersion >= SIZE_LIMIT_VERSION && size >= FULL_HEADERS_SIZE)

/** Whether so many bytes of headers are an offence of, or must not be sent to, a peer that announced `peerVersion`. */
export const isTooLongHeaders = (size: number, peerVersion: number): boolean =>
  peerVersion >= SIZE_LIMIT_VERSION && size > MAX_HEADERS_SIZE

/** Announce blocks by `headers` (BIP 130). */
export interface SendHeaders {
  readonly type: "sendheaders"
}

export const sendheaders = emptyCodec<SendHeaders>({ type: "sendheaders" })
