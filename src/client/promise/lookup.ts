import { lookup as lookupElsewhere } from "node:dns"
import { nextTurn } from "../../base/turns.ts"
import type { DomainRecord, DomainStatus } from "../../dns/domainRecord.ts"
import { isTransient } from "../verdicts.ts"
import { ClientClosed, InvalidRequest } from "./errors.ts"

/** The `lookup` that sockets take (`net.LookupFunction`), with `.bit`. Its types need no package. */

export interface LookupAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Those of `dns.lookup`. `hints` has no meaning for `.bit`. */
export interface LookupOptions {
  readonly family?: number | "IPv4" | "IPv6" | undefined
  readonly all?: boolean | undefined
  readonly order?: "ipv4first" | "ipv6first" | "verbatim" | undefined
  readonly verbatim?: boolean | undefined
  readonly hints?: number | undefined
}

/**
 * `code` is `ENOTFOUND` without such a host, `ENODATA` without an address of the family, and `EAI_AGAIN` where the
 * client has no answer now; `cause` is then its error.
 */
export interface LookupError extends Error {
  readonly code?: string | undefined
  readonly syscall?: string | undefined
  readonly hostname?: string | undefined
}

/** With `all`, the addresses; else one address and its family. */
export type LookupCallback = (
  error: LookupError | null,
  address: string | Array<{ address: string; family: number }>,
  family?: number
) => void

export interface DomainLookup {
  (hostname: string, callback: LookupCallback): void
  /** positional: as `dns.lookup` */
  (hostname: string, options: LookupOptions | number | null | undefined, callback: LookupCallback): void
}

interface Found {
  readonly status: DomainStatus
  readonly records: ReadonlyArray<DomainRecord>
}

type Resolve = (host: string, type: "A" | "AAAA") => Promise<Found>

type Family = 0 | 4 | 6

const FAMILIES: ReadonlyMap<unknown, Family> = new Map<unknown, Family>([
  [undefined, 0],
  [null, 0],
  [0, 0],
  [4, 4],
  [6, 6],
  ["IPv4", 4],
  ["IPv6", 6]
])

const IN_BIT = /(?:^|\.)bit\.?$/i

const lookupError = (
  { code, hostname, message }: { readonly code: string; readonly hostname: string; readonly message: string },
  cause?: unknown
): LookupError =>
  Object.assign(new Error(message, cause === undefined ? {} : { cause }), { code, syscall: "lookup", hostname })

/** Codes of `dns.lookup`: a later call may succeed, or not. */
const failed = (cause: unknown, hostname: string): LookupError => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof InvalidRequest) return lookupError({ code: "ENOTFOUND", hostname, message }, cause)
  const code = cause instanceof ClientClosed ? "ECANCELLED" : isTransient(cause) ? "EAI_AGAIN" : "EAI_FAIL"
  return lookupError({ code, hostname, message: `lookup ${code} ${hostname}: ${message}` }, cause)
}

const addressesIn = (records: ReadonlyArray<DomainRecord>): ReadonlyArray<LookupAddress> =>
  records.flatMap((record) =>
    record.type === "A" || record.type === "AAAA"
      ? [{ address: record.address, family: record.type === "A" ? 4 : 6 }]
      : []
  )

type Outcome =
  | { readonly addresses: ReadonlyArray<LookupAddress> }
  /** The alias of a host that DNS has. */
  | { readonly outside: string }

const outcomeOf = (hostname: string, found: ReadonlyArray<Found>): Outcome | LookupError => {
  const records = found.flatMap((each) => each.records)
  const status = found.find((each) => each.status !== "no-data")?.status ?? "no-data"
  switch (status) {
    case "records":
      return { addresses: addressesIn(records) }
    case "alias-outside": {
      const aliases = records.flatMap((record) => record.type === "CNAME" ? [record.target] : [])
      return { outside: (aliases.at(-1) ?? hostname).replace(/\.$/, "") }
    }
    case "no-data":
      return lookupError({ code: "ENODATA", hostname, message: `lookup ENODATA ${hostname}: the host has no address` })
    case "no-name":
      return lookupError({ code: "ENOTFOUND", hostname, message: `lookup ENOTFOUND ${hostname}` })
    case "delegated": {
      const servers = records.flatMap((record) => record.type === "NS" ? [record.target] : [])
      const message = `lookup ENODATA ${hostname}: its records are with the name servers ${servers.join(", ")}, ` +
        "which this client does not ask"
      return lookupError({ code: "ENODATA", hostname, message })
    }
  }
}

const invalidArgument = (kind: "TYPE" | "VALUE", message: string): TypeError =>
  Object.assign(new TypeError(message), { code: `ERR_INVALID_ARG_${kind}` })

/** `resolve`: as `resolveDomain`. Hosts outside `.bit` go to `dns.lookup`; hosts in `.bit` never do. */
export const makeLookup = (resolve: Resolve): DomainLookup => {
  const answer = async (hostname: string, family: Family): Promise<Outcome | LookupError> => {
    const types = family === 4 ? ["A"] as const : family === 6 ? ["AAAA"] as const : ["A", "AAAA"] as const
    try {
      return outcomeOf(hostname, await Promise.all(types.map((type) => resolve(hostname, type))))
    } catch (error) {
      return failed(error, hostname)
    }
  }

  function lookup(hostname: string, callback: LookupCallback): void
  // positional: as `dns.lookup`
  function lookup(
    hostname: string,
    given: LookupOptions | number | null | undefined,
    callback: LookupCallback
  ): void
  function lookup(
    hostname: string,
    given: LookupOptions | number | null | undefined | LookupCallback,
    last?: LookupCallback
  ): void {
    const callback = typeof given === "function" ? given : last
    if (typeof callback !== "function") throw invalidArgument("TYPE", "the callback has to be a function")
    const options = typeof given === "object" ? given ?? {} : typeof given === "number" ? { family: given } : {}
    const family = FAMILIES.get(options.family)
    if (family === undefined) {
      throw invalidArgument("VALUE", "the option family has to be 0, 4, 6, \"IPv4\" or \"IPv6\"")
    }
    const elsewhere = (host: string): void => lookupElsewhere(host, { ...options, family }, callback)
    if (!IN_BIT.test(hostname)) return elsewhere(hostname)
    const tell = (outcome: Outcome | LookupError): void => {
      if (outcome instanceof Error) return callback(outcome, options.all === true ? [] : "")
      if ("outside" in outcome) return elsewhere(outcome.outside)
      const rank = options.order === "ipv6first" ? -1 : 1
      const sorted = outcome.addresses.toSorted((a, b) => rank * (a.family - b.family))
      if (options.all === true) return callback(null, sorted)
      const [first] = sorted
      callback(null, first?.address ?? "", first?.family)
    }
    // A failing callback is the program's exception, not a rejected promise.
    void answer(hostname, family).then((outcome) => nextTurn(() => tell(outcome)))
  }
  return lookup
}
