import { formatAddress, parseAddress } from "../wire/addressText.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import { type BookEntry, newEntry } from "./bookEntry.ts"

/** An address of the book in peers.json. Times are seconds since 1970; 0 stands for never. */
export interface BookRow {
  readonly network: AddressNetwork
  readonly address: string
  readonly port: number
  /** Decimal digits: JSON has no numbers of 64 bits. */
  readonly services: string
  readonly time: number
  /** The group of who told us. */
  readonly source: string
  readonly lastSuccess: number
  readonly attempts: number
  /** The new buckets that it is in; of a tried address, nothing. */
  readonly buckets?: ReadonlyArray<number>
}

/** The whole book as it is kept. */
export interface BookSnapshot {
  /** The secret that the buckets depend on, hexadecimal. */
  readonly key: string
  readonly addresses: Iterable<BookRow>
}

/** The address of a text and a network; `undefined` for a text that is no address of that network. */
export const addressOf = (network: AddressNetwork, text: string): NetAddress | undefined => {
  const parsed = parseAddress(text)
  // Both are written alike.
  if (network === "cjdns" && parsed?.network === "ipv6") return { network, bytes: parsed.bytes }
  return parsed?.network === network ? parsed : undefined
}

export const rowOf = (
  { address, attempts, buckets, lastSuccess, port, services, source, time, tried }: BookEntry
): BookRow => ({
  network: address.network,
  address: formatAddress(address),
  port,
  services: String(services),
  time,
  source,
  lastSuccess,
  attempts,
  ...(tried ? {} : { buckets: [...buckets] })
})

/** The entry of a row, in no bucket so far; `undefined` where the address cannot be read. */
export const entryOf = (row: BookRow): BookEntry | undefined => {
  const address = addressOf(row.network, row.address)
  if (address === undefined) return undefined
  const { attempts, lastSuccess, port, source, time } = row
  const entry = newEntry({ address, port, services: BigInt(row.services), time }, source)
  entry.lastSuccess = lastSuccess
  entry.attempts = attempts
  return entry
}
