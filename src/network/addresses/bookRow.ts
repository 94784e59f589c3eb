import { formatNetAddress, parseNetAddress } from "../wire/addressText.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import { type BookEntry, newBookEntry } from "./bookEntry.ts"

/** A row of peers.json. Seconds since 1970; 0 means never. */
export interface BookRow {
  readonly network: AddressNetwork
  readonly address: string
  readonly port: number
  /** In decimal digits: JSON has no 64-bit numbers. */
  readonly services: string
  readonly time: number
  readonly source: string
  readonly lastSuccess: number
  readonly attempts: number
  readonly buckets?: ReadonlyArray<number>
}

export interface BookSnapshot {
  readonly key: string
  readonly addresses: Iterable<BookRow>
}

/** `undefined` if the text is not an address of that network. */
export const addressOfRow = (network: AddressNetwork, text: string): NetAddress | undefined => {
  const parsed = parseNetAddress(text)
  // CJDNS and IPv6 addresses have the same text form.
  if (network === "cjdns" && parsed?.network === "ipv6") return { network, bytes: parsed.bytes }
  return parsed?.network === network ? parsed : undefined
}

export const rowOf = (
  { address, attempts, buckets, lastSuccess, port, services, source, time, tried }: BookEntry
): BookRow => ({
  network: address.network,
  address: formatNetAddress(address),
  port,
  services: String(services),
  time,
  source,
  lastSuccess,
  attempts,
  ...(tried ? {} : { buckets: [...buckets] })
})

/** `undefined` if the address is invalid. */
export const entryOf = (row: BookRow): BookEntry | undefined => {
  const address = addressOfRow(row.network, row.address)
  if (address === undefined) return undefined
  const { attempts, lastSuccess, port, source, time } = row
  const entry = newBookEntry({ address, port, services: BigInt(row.services), time }, source)
  entry.lastSuccess = lastSuccess
  entry.attempts = attempts
  return entry
}
