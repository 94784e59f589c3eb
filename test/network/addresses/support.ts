import type { KnownAddress } from "../../../src/network/peerInfo.ts"
import { parseEndpoint } from "../../../src/network/wire/addressText.ts"
import type { NetAddress } from "../../../src/network/wire/netAddress.ts"

/** Reproducible random numbers: xorshift over 32 bits. */
export const seeded = (seed: number): () => number => {
  let state = (seed | 0) || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x100000000
  }
}

export const endpoint = (text: string, defaultPort = 8334): { readonly address: NetAddress; readonly port: number } => {
  const parsed = parseEndpoint(text, defaultPort)
  if (parsed === undefined) throw new TypeError(`no address: ${text}`)
  return parsed
}

export const address = (text: string): NetAddress => endpoint(text).address

/** A time at which no test data is too old: 2026. */
export const NOW = 1_780_000_000

export const known = (
  text: string,
  fields: { readonly time?: number; readonly services?: bigint } = {}
): KnownAddress => ({
  ...endpoint(text),
  services: fields.services ?? 9n,
  time: fields.time ?? NOW - 86_400
})

/** A routable IPv4 address for every number below 2^24: 50.0.0.0/8. */
export const numbered = (n: number): NetAddress => ({
  network: "ipv4",
  bytes: Uint8Array.of(50, (n >>> 16) & 0xff, (n >>> 8) & 0xff, n & 0xff)
})
