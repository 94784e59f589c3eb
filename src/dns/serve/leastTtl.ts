import type { Bytes } from "../../protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import { HEADER_BYTES } from "../wire/codes.ts"
import { endOfName } from "../wire/readName.ts"

const u16 = (bytes: Bytes, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0)
const u32 = (bytes: Bytes, at: number): number => u16(bytes, at) * 0x10000 + u16(bytes, at + 2)

/**
 * Seconds that caches may keep a response: the lowest TTL of its answer section or, if that is empty, the negative TTL
 * of its SOA (RFC 8484, section 5.1; RFC 2308, section 5). 0 if it must not be cached.
 */
export const leastTtl = (response: Bytes): number => {
  const [answers, authorities] = [u16(response, 6), u16(response, 8)]
  let at = HEADER_BYTES
  for (let i = u16(response, 4); i > 0; i--) {
    const end = endOfName(response, at)
    if (end < 0) return 0
    at = end + 4
  }
  let least = Infinity
  for (let i = 0; i < answers + authorities; i++) {
    const typeAt = endOfName(response, at)
    const end = typeAt + 10 + u16(response, typeAt + 8)
    if (typeAt < 0 || end > response.length) return 0
    const ttl = u32(response, typeAt + 4)
    if (i < answers) least = Math.min(least, ttl)
    // The last SOA field, MINIMUM, limits the negative TTL.
    else if (answers === 0 && u16(response, typeAt) === TYPE_NUMBERS.SOA) {
      least = Math.min(least, ttl, u32(response, end - 4))
    }
    at = end
  }
  return least === Infinity ? 0 : least
}
