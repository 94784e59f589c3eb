import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { isIPv6 } from "node:net"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { escapeUnsafe } from "../base/safeText.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/**
 * The SOCKS5 proxies to peers, as the reference node's options define them. Source: upstream `init.cpp`, `AppInitMain`.
 */

export type ProxyAddress = Address | { readonly path: string }

export const PROXIED_NETWORKS = ["ipv4", "ipv6", "onion", "cjdns"] as const
export type ProxiedNetwork = (typeof PROXIED_NETWORKS)[number]

/** `undefined`: the node connects itself, but not to onion addresses. */
export type ProxyRoutes = { readonly [N in ProxiedNetwork | "names"]: ProxyAddress | undefined }

/** A value of `-proxy`. Without `proxy` it removes one; without a network it is for all. */
export interface ProxyChoice {
  readonly proxy: ProxyAddress | undefined
  readonly network: ProxiedNetwork | undefined
}

const DEFAULT_PORT = 9050

const UNIX = "unix:"

/** Bytes of `sun_path`, without the zero at its end. */
const LONGEST_PATH = 107

const NONE = ["", "0"]

export const formatProxy = (proxy: ProxyAddress): string =>
  "path" in proxy ? `${UNIX}${proxy.path}` : formatHostPort(proxy)

const parseProxy = (text: string): ProxyAddress | undefined => {
  if (text.startsWith(UNIX)) {
    const path = text.slice(UNIX.length)
    return path === "" || path.includes("\0") || Buffer.byteLength(path) > LONGEST_PATH ? undefined : { path }
  }
  if (isIPv6(text)) return { host: text, port: DEFAULT_PORT }
  const withPort = Either.getOrUndefined(parseHostPort(text, "required"))
  return withPort ?? Either.getOrUndefined(parseHostPort(`${text}:${DEFAULT_PORT}`, "required"))
}

const invalid = (flag: "-proxy" | "-onion", text: string): string =>
  `Invalid ${flag} address or hostname: '${escapeUnsafe(text)}'`

const proxySchema = (): Schema.Schema<ProxyAddress> =>
  Schema.Union(Schema.Struct({ path: Schema.String }), Schema.Struct({ host: Schema.String, port: Schema.Int }))

const parseChoice = (given: string): Either.Either<ProxyChoice, string> => {
  const at = given.lastIndexOf("=")
  const [text, suffix] = at < 0 ? [given, undefined] : [given.slice(0, at), given.slice(at + 1).toLowerCase()]
  if (suffix === "") return Either.left(`Invalid -proxy address or hostname, ends with '=': '${escapeUnsafe(given)}'`)
  const network = PROXIED_NETWORKS.find((each) => each === suffix)
  if (suffix !== undefined && network === undefined) {
    return Either.left(`Unrecognized network in -proxy='${escapeUnsafe(given)}': '${escapeUnsafe(suffix)}'`)
  }
  const proxy = NONE.includes(text) ? undefined : parseProxy(text)
  return proxy === undefined && !NONE.includes(text)
    ? Either.left(invalid("-proxy", text))
    : Either.right({ proxy, network })
}

/** `HOST[:PORT]` or `unix:PATH`, and `=NETWORK` for one network. Empty or 0 removes the ones before. */
export const proxyKind: OptionKind<ProxyChoice> = {
  placeholder: "PROXY[=NETWORK]",
  toml: "string",
  schema: fromText(
    () =>
      Schema.Struct({
        proxy: Schema.UndefinedOr(proxySchema()),
        network: Schema.UndefinedOr(Schema.Literal(...PROXIED_NETWORKS))
      }),
    parseChoice,
    ({ network, proxy }) =>
      `${proxy === undefined ? "" : formatProxy(proxy)}${network === undefined ? "" : `=${network}`}`
  )
}

/** `off` for no onion addresses, `undefined` for the proxy of `-proxy`. */
export const onionKind: OptionKind<ProxyAddress | "off" | undefined> = {
  placeholder: "PROXY",
  toml: "string",
  schema: fromText(
    () => Schema.UndefinedOr(Schema.Union(Schema.Literal("off"), proxySchema())),
    (given) => {
      if (given === "") return Either.right(undefined)
      return given === "0" ? Either.right("off" as const) : Either.fromNullable(
        parseProxy(given),
        () => invalid("-onion", given)
      )
    },
    (value) => value === undefined ? "" : value === "off" ? "0" : formatProxy(value)
  )
}

const NO_PROXIES: ProxyRoutes = {
  ipv4: undefined,
  ipv6: undefined,
  onion: undefined,
  cjdns: undefined,
  names: undefined
}

const withChoice = (routes: ProxyRoutes, { network, proxy }: ProxyChoice): ProxyRoutes => {
  if (network === undefined) return { ipv4: proxy, ipv6: proxy, onion: proxy, cjdns: proxy, names: proxy }
  // Names lead to addresses of IPv4 and IPv6, and a resolver would learn them.
  const names = network === "ipv4" || network === "ipv6" ? proxy : routes.names
  return { ...routes, [network]: proxy, names }
}

/** The last value counts. */
export const proxyRoutes = ({ onion, proxy }: {
  readonly proxy: ReadonlyArray<ProxyChoice>
  readonly onion: ProxyAddress | "off" | undefined
}): ProxyRoutes => {
  const routes = proxy.reduce(withChoice, NO_PROXIES)
  return onion === undefined ? routes : { ...routes, onion: onion === "off" ? undefined : onion }
}
