import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { join, resolve } from "node:path"
import { type Address, parseHostPort } from "../base/addresses.ts"
import { quoted } from "../base/safeText.ts"
import { anchorKind } from "../config/chainKinds.ts"
import { homeDirectory } from "../config/homeDirectory.ts"
import type { Credentials } from "../config/settings.ts"
import { nearest } from "../config/suggest.ts"
import { PROOF_LEVELS, type ProofLevel } from "../light/proof.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { InvalidConfig } from "./errors.ts"
import type { ClientConfig } from "./NameClient.ts"
import { type Mode, ModeAuto, ModeDaemon, ModeEmbedded } from "./options.ts"

export interface DaemonAddress extends Address {
  readonly secure: boolean
  readonly basePath: string
}

export interface DaemonConfig extends DaemonAddress {
  readonly credentials: Credentials | undefined
  readonly cookieFile: string | undefined
  /** May be absent. The client reads it only once the daemon asks for credentials and there are no others. */
  readonly spareCookieFile?: string | undefined
  readonly wallet: string | undefined
  /** The required network of the daemon; `undefined`: any. */
  readonly network?: NetworkName | undefined
  /** Milliseconds per call. */
  readonly timeout: number
}

export interface EmbeddedConfig {
  readonly dataDir: string
  readonly maxPeers: number
  readonly bootstrapPeers: ReadonlyArray<Address>
  readonly disableWallet: boolean
  /** `undefined`: chosen by directory and network. */
  readonly sync: "light" | "full" | undefined
  /** As in `-anchor`; empty for the anchors of the network. */
  readonly anchor: string
  /** As in `-nameproofs`. */
  readonly nameProofs: boolean
  readonly wallet: string | undefined
  readonly walletPassphrase: Redacted.Redacted<string> | undefined
}

export interface DecodedConfig {
  readonly mode: Mode
  readonly network: NetworkName
  readonly requireProof: ProofLevel | undefined
  readonly daemon: DaemonConfig
  readonly embedded: EmbeddedConfig
}

export const DEFAULT_RPC_ADDR = "http://127.0.0.1:8336"
const DEFAULT_RPC_PORT = 8336
const HTTPS_PORT = 443
const DEFAULT_TIMEOUT = 30_000
const MAX_TIMEOUT = 24 * 3_600_000
const DEFAULT_PEERS = 8
const MAX_PEERS = 10_000

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Parses `http://host:port`, `https://…` or `host:port`. A path becomes the prefix of the daemon's paths. */
export const parseDaemonUrl = (text: string): Either.Either<DaemonAddress, string> => {
  const wrong = Either.left(`${quoted(text)} is not a URL of the form http://host:port`)
  if (!URL.canParse(HAS_SCHEME.test(text) ? text : `http://${text}`)) return wrong
  const { hash, hostname, password, pathname, port, protocol, search, username } = new URL(
    HAS_SCHEME.test(text) ? text : `http://${text}`
  )
  if (protocol !== "http:" && protocol !== "https:") return wrong
  if (username !== "" || password !== "") {
    return Either.left("user and password go into rpcUser and rpcPassword, not into the URL")
  }
  if (hostname === "" || search !== "" || hash !== "") return wrong
  const secure = protocol === "https:"
  // `URL` drops the scheme's default port, so only the text shows whether `:80` was given.
  const isPlainHttpPort = !secure && port === "" && /:0*80(?:\/|$)/.test(text.replace(HAS_SCHEME, ""))
  const given = isPlainHttpPort ? 80 : port === "" ? undefined : Number(port)
  if (given === 0) return wrong
  return Either.right({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: given ?? (secure ? HTTPS_PORT : DEFAULT_RPC_PORT),
    secure,
    basePath: pathname.replace(/\/+$/, "")
  })
}

const oneOf = (...words: ReadonlyArray<string>) => `has to be one of ${words.join(", ")}`

const text = Schema.String.pipe(
  Schema.filter((given) =>
    !given.includes("\0") && given.length <= 4096 || "has to be a text without NUL, not too long"
  )
)

/** Redacted where the program redacts it in logs and traces. */
const secret = Schema.Union(text, Schema.RedactedFromSelf(text))

const hidden = (given: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.isRedacted(given) ? given : Redacted.make(given)

const integer = (min: number, max: number) =>
  Schema.Number.pipe(
    Schema.filter((given) =>
      Number.isInteger(given) && given >= min && given <= max || `has to be an integer from ${min} to ${max}`
    )
  )

const parseAnchor = Schema.decodeUnknownEither(anchorKind.schema())

const anchor = text.pipe(Schema.filter((given) => {
  const parsed = parseAnchor(given)
  return Either.isRight(parsed) || (ParseResult.ArrayFormatter.formatErrorSync(parsed.left)[0]?.message ?? false)
}))

const Config = Schema.Struct({
  mode: Schema.UndefinedOr(
    Schema.Literal(ModeAuto, ModeEmbedded, ModeDaemon).annotations({
      message: () => ({ message: oneOf("ModeAuto", "ModeEmbedded", "ModeDaemon"), override: true })
    })
  ),
  network: Schema.UndefinedOr(
    Schema.Literal("mainnet", "testnet", "regtest").annotations({
      message: () => ({ message: oneOf("mainnet", "testnet", "regtest"), override: true })
    })
  ),
  dataDir: Schema.UndefinedOr(
    text.pipe(Schema.filter((given) => given !== "" || "has to be the path of a directory"))
  ),
  maxPeers: Schema.UndefinedOr(integer(0, MAX_PEERS)),
  bootstrapPeers: Schema.UndefinedOr(Schema.Array(Schema.String)),
  rpcAddr: Schema.UndefinedOr(Schema.String),
  rpcUser: Schema.UndefinedOr(
    text.pipe(Schema.filter((given) => !given.includes(":") || "cannot have a colon in it"))
  ),
  rpcPassword: Schema.UndefinedOr(secret),
  rpcCookieFile: Schema.UndefinedOr(text),
  wallet: Schema.UndefinedOr(text),
  timeout: Schema.Unknown,
  disableWallet: Schema.UndefinedOr(Schema.Boolean),
  sync: Schema.UndefinedOr(
    Schema.Literal("light", "full").annotations({
      message: () => ({ message: oneOf("light", "full"), override: true })
    })
  ),
  anchor: Schema.UndefinedOr(anchor),
  nameProofs: Schema.UndefinedOr(Schema.Boolean),
  requireProof: Schema.UndefinedOr(
    Schema.Literal(...PROOF_LEVELS).annotations({
      message: () => ({ message: oneOf(...PROOF_LEVELS), override: true })
    })
  ),
  walletPassphrase: Schema.UndefinedOr(secret)
})

const plain = (field: string): string => field.replaceAll(/[_-]/g, "").toLowerCase()

const FIELDS: ReadonlyMap<string, string> = new Map(Object.keys(Config.fields).map((field) => [plain(field), field]))

const isField = (name: string): boolean => FIELDS.get(plain(name)) === name

/** Refuses a misspelled field, which would otherwise be ignored silently. */
const misspelled = (config: ClientConfig): InvalidConfig | undefined => {
  for (const field of Object.keys(config)) {
    if (isField(field)) continue
    const meant = FIELDS.get(plain(field)) ?? FIELDS.get(nearest(plain(field), FIELDS.keys()) ?? "")
    if (meant !== undefined) {
      return new InvalidConfig({ field, reason: `is not a field of the configuration; did you mean ${meant}?` })
    }
  }
  return undefined
}

/** Fields of other settings, which a program may keep in the same object. */
export const foreignFields = (config: ClientConfig): ReadonlyArray<string> =>
  Object.keys(config).filter((field) => !isField(field))

type Fields = { readonly [K in keyof typeof Config.fields]?: (typeof Config.Type)[K] }

const judge = Schema.decodeUnknownEither(Schema.partialWith(Config, { exact: true }))

/** The first problem. The message omits the given value, which may be a secret. */
const problemOf = (error: ParseResult.ParseError): InvalidConfig => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  const [field = "config", ...inside] = issue?.path.map(String) ?? []
  const at = inside.length === 0 ? "" : `number ${Number(inside[0]) + 1}: `
  switch (issue?._tag) {
    case "Type":
      return new InvalidConfig({ field, reason: at + kindOf(field) })
    default:
      return new InvalidConfig({ field, reason: at + (issue?.message ?? "cannot be read") })
  }
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["mode", oneOf("ModeAuto", "ModeEmbedded", "ModeDaemon")],
  ["network", oneOf("mainnet", "testnet", "regtest")],
  ["maxPeers", `has to be an integer from 0 to ${MAX_PEERS}`],
  ["bootstrapPeers", "has to be a list of addresses of the form host:port"],
  ["disableWallet", "has to be true or false"],
  ["sync", oneOf("light", "full")],
  ["nameProofs", "has to be true or false"],
  ["requireProof", oneOf(...PROOF_LEVELS)],
  ["config", "has to be an object"]
])

const kindOf = (field: string): string => KINDS.get(field) ?? "has to be a text"

const peersOf = ({ bootstrapPeers = [] }: Fields): Either.Either<ReadonlyArray<Address>, InvalidConfig> =>
  Either.all(bootstrapPeers.map((given, i) =>
    Either.mapLeft(
      parseHostPort(given, "required"),
      (reason) => new InvalidConfig({ field: "bootstrapPeers", reason: `number ${i + 1}: ${reason}` })
    )
  ))

const daemonOf = ({ rpcAddr = DEFAULT_RPC_ADDR }: Fields): Either.Either<DaemonAddress, InvalidConfig> =>
  Either.mapLeft(parseDaemonUrl(rpcAddr), (reason) => new InvalidConfig({ field: "rpcAddr", reason }))

const absolute = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homeDirectory(), path.slice(1)) : resolve(path)

const credentialsOf = ({ rpcPassword, rpcUser }: Fields): Either.Either<Credentials | undefined, InvalidConfig> => {
  if (rpcUser === undefined && rpcPassword === undefined) return Either.right(undefined)
  if (rpcUser === undefined) {
    return Either.left(new InvalidConfig({ field: "rpcUser", reason: "is missing: there is a password" }))
  }
  if (rpcPassword === undefined) {
    return Either.left(new InvalidConfig({ field: "rpcPassword", reason: "is missing: there is a user" }))
  }
  return Either.right({ user: rpcUser, password: hidden(rpcPassword) })
}

const timeoutOf = ({ timeout = DEFAULT_TIMEOUT }: Fields): Either.Either<number, InvalidConfig> => {
  const given = Option.getOrUndefined(Option.map(Duration.decodeUnknown(timeout), Duration.toMillis))
  return given !== undefined && Number.isInteger(given) && given >= 1 && given <= MAX_TIMEOUT
    ? Either.right(given)
    : Either.left(
      new InvalidConfig({
        field: "timeout",
        reason: `has to be 1 to ${MAX_TIMEOUT} whole milliseconds, or as long a duration`
      })
    )
}

export const decodeConfig = (config: ClientConfig): Either.Either<DecodedConfig, InvalidConfig> =>
  Either.gen(function*() {
    const fields: Fields = yield* Either.mapLeft(judge(config), problemOf)
    const wrong = misspelled(config)
    if (wrong !== undefined) return yield* Either.left(wrong)
    const peers = yield* peersOf(fields)
    const address = yield* daemonOf(fields)
    const credentials = yield* credentialsOf(fields)
    const timeout = yield* timeoutOf(fields)
    const { rpcCookieFile, wallet, walletPassphrase } = fields
    if (credentials !== undefined && rpcCookieFile !== undefined) {
      const reason = "cannot be given beside rpcUser and rpcPassword"
      return yield* Either.left(new InvalidConfig({ field: "rpcCookieFile", reason }))
    }
    return {
      mode: fields.mode ?? ModeAuto,
      network: fields.network ?? "mainnet",
      requireProof: fields.requireProof,
      daemon: {
        ...address,
        credentials,
        cookieFile: rpcCookieFile === undefined ? undefined : absolute(rpcCookieFile),
        wallet,
        timeout
      },
      embedded: {
        dataDir: absolute(fields.dataDir ?? "~/.svcd"),
        maxPeers: fields.maxPeers ?? DEFAULT_PEERS,
        bootstrapPeers: peers,
        disableWallet: fields.disableWallet ?? false,
        sync: fields.sync,
        anchor: fields.anchor ?? "",
        nameProofs: fields.nameProofs ?? false,
        wallet,
        walletPassphrase: walletPassphrase === undefined ? undefined : hidden(walletPassphrase)
      }
    }
  })
