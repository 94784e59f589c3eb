import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { escapeUnsafe } from "../base/safeText.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/** In the order of `getpeerinfo` (upstream `net_permissions.cpp`, `NetPermissions::ToStrings`). */
export const PERMISSIONS = ["bloomfilter", "noban", "forcerelay", "relay", "mempool", "download", "addr"] as const
export type Permission = (typeof PERMISSIONS)[number]

export interface Grant {
  readonly permissions: ReadonlyArray<Permission>
  /** The operator named no permissions, so the peer gets the default ones. */
  readonly implicit: boolean
}

/** `-whitelist`: permissions by network and direction. */
export interface WhitelistEntry extends Grant {
  readonly inbound: boolean
  /** Applies to outbound peers that the operator chose. */
  readonly outbound: boolean
  /** An address, or a network such as `192.0.2.0/24` or `192.0.2.0/255.255.255.0`. */
  readonly net: string
}

/** `-whitebind`: a listener that grants permissions. */
export interface WhitebindEntry extends Grant {
  /** Port 0: the operator gave none. */
  readonly address: Address
}

const IMPLIED: Partial<Record<Permission, Permission>> = { noban: "download", forcerelay: "relay" }

const ALIASES: ReadonlyMap<string, ReadonlyArray<Permission>> = new Map<string, ReadonlyArray<Permission>>([
  ...PERMISSIONS.map((word): readonly [string, ReadonlyArray<Permission>] => {
    const implied = IMPLIED[word]
    return [word, implied === undefined ? [word] : [word, implied]]
  }),
  ["bloom", ["bloomfilter"]],
  ["all", PERMISSIONS]
])

/** In the order of `getpeerinfo`, without repetitions. */
export const ordered = (permissions: Iterable<Permission>): ReadonlyArray<Permission> => {
  const given = new Set(permissions)
  return PERMISSIONS.filter((word) => given.has(word))
}

interface Granted extends Grant {
  readonly inbound: boolean
  readonly outbound: boolean
  readonly rest: string
}

const shown = (text: string): string => `'${escapeUnsafe(text.slice(0, 100))}'`

const parseGrant = (text: string, allowed: { readonly outbound: boolean }): Either.Either<Granted, string> => {
  const at = text.indexOf("@")
  if (at < 0) return Either.right({ permissions: [], implicit: true, inbound: true, outbound: false, rest: text })
  const permissions: Array<Permission> = []
  let [inbound, outbound] = [false, false]
  for (const word of text.slice(0, at).split(",")) {
    if (word === "") continue
    const granted = ALIASES.get(word)
    if (granted !== undefined) permissions.push(...granted)
    else if (word === "in") inbound = true
    else if (word === "out" && !allowed.outbound) {
      return Either.left("whitebind may only be used for incoming connections (\"out\" was passed)")
    } else if (word === "out") outbound = true
    else {
      const words = [...PERMISSIONS, "all", "in", ...(allowed.outbound ? ["out"] : [])]
      return Either.left(`Invalid P2P permission: ${shown(word)}; expected one of ${words.join(", ")}`)
    }
  }
  if ((inbound || outbound) && permissions.length === 0) {
    return Either.left(`Only direction was set, no permissions: ${shown(text)}; name one of ${PERMISSIONS.join(", ")}`)
  }
  return Either.right({
    permissions: ordered(permissions),
    implicit: false,
    inbound: inbound || !outbound,
    outbound,
    rest: text.slice(at + 1)
  })
}

const printed = ({ implicit, permissions }: Grant, directions: ReadonlyArray<string> = []): string =>
  implicit ? "" : `${[...permissions, ...directions].join(",")}@`

const isMask = (text: string): boolean => {
  if (!isIPv4(text)) return false
  const bits = text.split(".").reduce((value, part) => value * 256 + Number(part), 0).toString(2).padStart(32, "0")
  return /^1*0*$/.test(bits)
}

const isNetwork = (text: string): boolean => {
  const [host = "", length, ...more] = text.split("/")
  if (more.length > 0) return false
  const bits = length !== undefined && /^[0-9]{1,3}$/.test(length) ? Number(length) : undefined
  if (isIPv4(host)) return length === undefined || isMask(length) || (bits !== undefined && bits <= 32)
  return isIPv6(host) && !host.includes("%") && (length === undefined || (bits !== undefined && bits <= 128))
}

const GrantFields = {
  permissions: Schema.Array(Schema.Literal(...PERMISSIONS)),
  implicit: Schema.Boolean
}

const whitelistSchema = (): Schema.Schema<WhitelistEntry> =>
  Schema.Struct({
    ...GrantFields,
    inbound: Schema.Boolean,
    outbound: Schema.Boolean,
    net: Schema.String
  })

/** `[permissions@]network`. Upstream `net_permissions.cpp`, `NetWhitelistPermissions::TryParse`. */
export const whitelistKind: OptionKind<WhitelistEntry> = {
  placeholder: "[PERMISSIONS@]NET",
  toml: "string",
  schema: fromText(
    whitelistSchema,
    (given) =>
      Either.flatMap(parseGrant(given, { outbound: true }), ({ rest, ...grant }) =>
        isNetwork(rest)
          ? Either.right({ ...grant, net: rest })
          : Either.left(
            `Invalid netmask specified in -whitelist: ${shown(rest)}; ` +
              "expected an address, or a network such as 192.168.0.0/16 or fd00::/8"
          )),
    (entry) =>
      printed(entry, [...(entry.outbound && entry.inbound ? ["in"] : []), ...(entry.outbound ? ["out"] : [])]) +
      entry.net
  )
}

const whitebindSchema = (): Schema.Schema<WhitebindEntry> =>
  Schema.Struct({
    ...GrantFields,
    address: Schema.Struct({ host: Schema.String, port: Schema.Int })
  })

/** Returns port 0 for an address without a port, which is rejected later. */
const parseListener = (text: string): Either.Either<Address, string> => {
  const bare = text.replace(/^\[(.*)\]$/, "$1")
  if (isIPv4(text) || isIPv6(bare)) return Either.right({ host: bare, port: 0 })
  return Either.mapLeft(
    parseHostPort(text, "required"),
    (why) => `Cannot resolve -whitebind address: ${shown(text)}; ${why}`
  )
}

/** `[permissions@]host:port`. Upstream `net_permissions.cpp`, `NetWhitebindPermissions::TryParse`. */
export const whitebindKind: OptionKind<WhitebindEntry> = {
  placeholder: "[PERMISSIONS@]HOST:PORT",
  toml: "string",
  schema: fromText(
    whitebindSchema,
    (given) =>
      Either.flatMap(
        parseGrant(given, { outbound: false }),
        ({ implicit, permissions, rest }) =>
          Either.map(parseListener(rest), (address) => ({ permissions, implicit, address }))
      ),
    (entry) => printed(entry) + (entry.address.port === 0 ? entry.address.host : formatHostPort(entry.address))
  )
}

export const withoutPort = ({ address }: WhitebindEntry): string =>
  `Need to specify a port with -whitebind: ${shown(address.host)}; expected host:port, such as 127.0.0.1:8334`
