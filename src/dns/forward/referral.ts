import { ipv6Text } from "../../values/hosts.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { Question } from "../answer.ts"
import type { DnsRecord, RecordSet } from "../records.ts"
import { isAtOrBelow, type WireName } from "../wire/name.ts"
import { hostTarget } from "./aliasChain.ts"

/** Servers to ask instead, and what the referring server says about their addresses. Pure. */
export interface Referral {
  /** The delegated name. Its servers have a say about it and the names below alone. */
  readonly cut: WireName
  readonly servers: ReadonlyArray<WireName>
  /** IP addresses by server, IPv4 first. */
  readonly glue: ReadonlyMap<WireName, ReadonlyArray<string>>
}

/** Servers of one delegation that are tried, and addresses of each. */
const MAX_SERVERS = 8
const MAX_ADDRESSES = 4

const addressText = (record: DnsRecord): string | undefined => {
  if (record.type === "A") return record.address.join(".")
  if (record.type === "AAAA") return ipv6Text(record.address)
  if (record.type !== "opaque") return undefined
  if (record.number === TYPE_NUMBERS.A && record.data.length === 4) return record.data.join(".")
  return record.number === TYPE_NUMBERS.AAAA && record.data.length === 16 ? ipv6Text(record.data) : undefined
}

/** The addresses of a host, IPv4 first. */
export const addressesIn = (sets: ReadonlyArray<RecordSet>, host: WireName): ReadonlyArray<string> =>
  [TYPE_NUMBERS.A, TYPE_NUMBERS.AAAA].flatMap((type) =>
    sets.filter((set) => set.owner === host && set.type === type).flatMap(({ records }) => records)
      .map(addressText).filter((text) => text !== undefined).slice(0, MAX_ADDRESSES)
  )

interface ReferringSections {
  readonly authority: ReadonlyArray<RecordSet>
  readonly additional: ReadonlyArray<RecordSet>
}

/**
 * The delegation in an answer, for a question at or below it. With `above`, only one further down, so that no server can
 * send in circles or take names that are not its own.
 */
export const referralIn = (
  { additional, authority }: ReferringSections,
  { name }: Question,
  above: WireName | undefined
): Referral | undefined => {
  const sets = authority.filter(({ owner, type }) => type === TYPE_NUMBERS.NS && isAtOrBelow(name, owner))
  const cut = sets[0]?.owner
  if (cut === undefined || (above !== undefined && (cut === above || !isAtOrBelow(cut, above)))) return undefined
  const servers = sets.flatMap((set) => set.records.map((record) => hostTarget(record)))
    .filter((host) => host !== undefined).slice(0, MAX_SERVERS)
  const isTold = (host: WireName): boolean => above === undefined || isAtOrBelow(host, above)
  return {
    cut,
    servers,
    glue: new Map(servers.filter(isTold).map((host) => [host, addressesIn(additional, host)]))
  }
}
