import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { CHECKSUM_MISMATCH, checkText } from "../../base/checksum.ts"
import type { Ban } from "../peerInfo.ts"
import { formatNetAddress } from "../wire/addressText.ts"
import { ADDRESS_NETWORKS, type NetAddress } from "../wire/netAddress.ts"
import { BOOK_KEY_SIZE } from "./AddressBook.ts"
import { NEW_BUCKETS } from "./bookEntry.ts"
import { addressOfRow, type BookSnapshot } from "./bookRow.ts"
import { MAX_BUCKETS_PER_ADDRESS, MAX_ENTRIES } from "./BookTables.ts"

/** An invalid file is dropped as a whole. */

const VERSION = 1

/** In bytes, three times that of a full book. */
export const MAX_FILE_SIZE = 64 * 1024 * 1024

/** A block-relay peer at shutdown, to connect to first after the restart. */
export interface Anchor {
  readonly address: NetAddress
  readonly port: number
}

export const MAX_ANCHORS = 2

export interface PeersContent {
  readonly book: BookSnapshot
  readonly bans: ReadonlyArray<Ban>
  readonly anchors: ReadonlyArray<Anchor>
}

const MAX_BANS = 100_000
const LONGEST_ADDRESS = 80
const LONGEST_SOURCE = 300

const Network = Schema.Literal(...ADDRESS_NETWORKS)
const AddressText = Schema.String.pipe(Schema.maxLength(LONGEST_ADDRESS))
const Port = Schema.Int.pipe(Schema.between(1, 0xffff))
const Seconds = Schema.NonNegativeInt
const MAX_SERVICES = 2n ** 64n - 1n

const Services = Schema.String.pipe(
  Schema.pattern(/^[0-9]{1,20}$/),
  Schema.filter((digits) => BigInt(digits) <= MAX_SERVICES)
)

const Row = Schema.Struct({
  network: Network,
  address: AddressText,
  port: Port,
  services: Services,
  time: Seconds,
  source: Schema.String.pipe(Schema.maxLength(LONGEST_SOURCE)),
  lastSuccess: Seconds,
  attempts: Schema.NonNegativeInt,
  buckets: Schema.optionalWith(
    Schema.Array(Schema.Int.pipe(Schema.between(0, NEW_BUCKETS - 1))).pipe(Schema.maxItems(MAX_BUCKETS_PER_ADDRESS)),
    { exact: true }
  )
})

const Content = Schema.Struct({
  version: Schema.Literal(VERSION),
  key: Schema.String.pipe(Schema.pattern(new RegExp(`^[0-9a-f]{${2 * BOOK_KEY_SIZE}}$`))),
  addresses: Schema.Array(Row).pipe(Schema.maxItems(MAX_ENTRIES)),
  bans: Schema.Array(Schema.Struct({ subnet: AddressText, created: Seconds, until: Seconds })).pipe(
    Schema.maxItems(MAX_BANS)
  ),
  anchors: Schema.Array(Schema.Struct({ network: Network, address: AddressText, port: Port })).pipe(
    Schema.maxItems(MAX_ANCHORS)
  )
})

const decodeContent = Schema.decodeUnknownEither(Schema.parseJson(Content))

export const decodePeers = (whole: string): Either.Either<PeersContent, string> => {
  const { checksum, text } = checkText(whole)
  return checksum === "wrong" ? Either.left(CHECKSUM_MISMATCH) : decodeText(text)
}

const decodeText = (text: string): Either.Either<PeersContent, string> =>
  Either.mapBoth(decodeContent(text), {
    onLeft: (error) => {
      const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
      return issue === undefined || issue.path.length === 0
        ? "invalid format"
        : `invalid value: ${issue.path.join(".")}`
    },
    onRight: ({ addresses, anchors, bans, key }) => ({
      book: { key, addresses },
      bans,
      anchors: anchors.flatMap(({ address: shown, network, port }) => {
        const address = addressOfRow(network, shown)
        return address === undefined ? [] : [{ address, port }]
      })
    })
  })

/** More in one piece would block the thread for too long. */
const ROWS_AT_ONCE = 500

/** One address per line, without the checksum. */
export function* encodePeers({ anchors, bans, book: { addresses, key } }: PeersContent): Generator<string> {
  const shown = anchors.slice(0, MAX_ANCHORS).map(({ address, port }) => ({
    network: address.network,
    address: formatNetAddress(address),
    port
  }))
  const head = JSON.stringify({ version: VERSION, key, bans: bans.slice(0, MAX_BANS), anchors: shown })
  yield `${head.slice(0, -1)},"addresses":[`
  let rows: Array<string> = []
  let separator = "\n"
  for (const row of addresses) {
    rows.push(JSON.stringify(row))
    if (rows.length < ROWS_AT_ONCE) continue
    yield separator + rows.join(",\n")
    separator = ",\n"
    rows = []
  }
  if (rows.length > 0) yield separator + rows.join(",\n")
  yield "\n]}\n"
}
