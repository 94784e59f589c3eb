import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { escapeUnsafe, quoted } from "../base/safeText.ts"
import { choiceKind, fromText, type OptionKind } from "./kinds.ts"

const UNITS: ReadonlyArray<readonly [suffix: string, bytes: number]> = [
  ["T", 2 ** 40],
  ["G", 2 ** 30],
  ["M", 2 ** 20],
  ["K", 2 ** 10],
  ["t", 1e12],
  ["g", 1e9],
  ["m", 1e6],
  ["k", 1e3]
]

const DEFAULT_UNIT = "M"

const unitOf = (suffix: string): number => UNITS.find(([each]) => each === suffix)?.[1] ?? NaN

/**
 * Lower case units count by 1000, upper case by 1024; `M` if missing. Source: upstream `util/strencodings.cpp`,
 * `ParseByteUnits`; the message is that of `init.cpp`.
 */
export const uploadTargetKind: OptionKind<number> = {
  placeholder: "N[kKmMgGtT]",
  toml: "string",
  schema: fromText(
    () => Schema.Int,
    (given) => {
      const [, digits = "", suffix = DEFAULT_UNIT] = /^([0-9]{1,16})([kKmMgGtT])?$/.exec(given) ?? []
      const bytes = digits === "" ? NaN : Number(digits) * unitOf(suffix)
      return Number.isSafeInteger(bytes)
        ? Either.right(bytes)
        : Either.left(`Unable to parse -maxuploadtarget: '${escapeUnsafe(given)}'`)
    },
    (value) => {
      const [suffix, bytes] = value === 0
        ? [DEFAULT_UNIT, 1]
        : UNITS.find(([, unit]) => value % unit === 0) ?? ["k", 1e3]
      return `${value / bytes}${suffix}`
    }
  )
}

/** Named as in `getnetworkinfo`. */
export const REACHABLE_NETWORKS = ["ipv4", "ipv6", "onion"] as const
export type ReachableNetwork = (typeof REACHABLE_NETWORKS)[number]

export const networkKind: OptionKind<ReachableNetwork> = { ...choiceKind(REACHABLE_NETWORKS), placeholder: "NET" }

/** `HOST[:PORT]`, in any form of `addnode`. An IPv6 address with a port is in brackets. */
export const nodeKind: OptionKind<string> = {
  placeholder: "HOST[:PORT]",
  toml: "string",
  schema: fromText(
    () => Schema.String,
    (given) =>
      isIPv6(given) || [given, `${given}:1`].some((text) => Either.isRight(parseHostPort(text, "required")))
        ? Either.right(given)
        : Either.left(`${quoted(given)} is not a host or host:port`),
    (value) => value
  )
}

const ONION = /^[a-z2-7]{56}\.onion$/

const isPublicForm = (host: string): boolean => isIPv4(host) || isIPv6(host) || ONION.test(host)

const bareAddress = (given: string): Address => ({ host: given.replace(/^\[(.*)\]$/, "$1"), port: 0 })

/** IPv4, IPv6 or Tor, with or without a port. Port 0: that of the listener. */
export const ownAddressKind: OptionKind<Address> = {
  placeholder: "ADDRESS[:PORT]",
  toml: "string",
  schema: fromText(
    () => Schema.Struct({ host: Schema.String, port: Schema.Int }),
    (given) => {
      const bare = bareAddress(given)
      const address = isPublicForm(bare.host)
        ? Either.right(bare)
        : Either.filterOrLeft(parseHostPort(given, "required"), ({ host }) => isPublicForm(host), () => "")
      return Either.mapLeft(
        address,
        () => `${quoted(given)} is not an IPv4, IPv6 or onion address, with or without a port`
      )
    },
    (value) => value.port === 0 ? value.host : formatHostPort(value)
  )
}
