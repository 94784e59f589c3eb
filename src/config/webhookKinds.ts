import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { quoted } from "../base/safeText.ts"
import { decodeBase64 } from "../protocol/base64.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/** The webhooks of the configuration file (docs/webhooks.md). Messages never contain a secret or a whole URL. */

/** As written; names and owners are read where the network is known. */
export interface WebhookFilter {
  readonly names: ReadonlyArray<string>
  readonly prefixes: ReadonlyArray<string>
  readonly owners: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
}

export interface WebhookSettings {
  /** `http:` or `https:`, in the form of the URL standard. It may hold a token of the receiver. */
  readonly url: string
  /** `whsec_` and the key in base64, as in Standard Webhooks. */
  readonly secret: Redacted.Redacted<string>
  readonly filter: WebhookFilter
  /** A cursor; `undefined` for the next block. It counts only when the node sees the hook for the first time. */
  readonly from: string | undefined
}

export interface WebhookChoice {
  /** The hooks of the configuration file. */
  readonly configured: ReadonlyArray<WebhookSettings>
  /** Whether hooks added over RPC may send to private addresses. Those of the file always may. */
  readonly allowPrivate: boolean
}

const MAX_URL = 2_048

type Read<A> = Either.Either<A, string>

/** Refuses a user and password, which would be sent in the clear and logged on the way. */
export const readHookUrl = (text: string): Read<string> => {
  if (text.length > MAX_URL) return Either.left(`is longer than ${MAX_URL} characters`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return Either.left("is not a URL; write for example https://example.com/hook")
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return Either.left(`begins with ${quoted(url.protocol)}; only https: and http: are possible`)
  }
  if (url.username !== "" || url.password !== "") {
    return Either.left("has a user or a password; remove them: the receiver knows the node by its signatures")
  }
  url.hash = ""
  return Either.right(url.href)
}

const SECRET_PREFIX = "whsec_"

/** Bytes (Standard Webhooks, "Signature scheme"). */
const LEAST_KEY = 24
const MOST_KEY = 64

/** `undefined` if the text is not a secret. */
export const keyOfSecret = (secret: Redacted.Redacted<string>): Uint8Array | undefined => {
  const text = Redacted.value(secret)
  if (!text.startsWith(SECRET_PREFIX) || text.length > 200) return undefined
  const key = decodeBase64(text.slice(SECRET_PREFIX.length))
  return key === undefined || key.length < LEAST_KEY || key.length > MOST_KEY ? undefined : key
}

export const readHookSecret = (text: string): Read<Redacted.Redacted<string>> => {
  const secret = Redacted.make(text)
  return keyOfSecret(secret) === undefined
    ? Either.left(
      `is not ${SECRET_PREFIX} and ${LEAST_KEY} to ${MOST_KEY} bytes in base64; ` +
        `make one with: echo "${SECRET_PREFIX}$(openssl rand -base64 32)"`
    )
    : Either.right(secret)
}

const KEYS = ["url", "secret", "name", "prefix", "owner", "types", "from"] as const

type Table = Readonly<Record<string, unknown>>

const textIn = (table: Table, key: (typeof KEYS)[number]): Read<string | undefined> => {
  const value = table[key]
  return value === undefined || typeof value === "string"
    ? Either.right(value)
    : Either.left(`${key}: expected a text in quotes`)
}

const textsIn = (table: Table, key: (typeof KEYS)[number]): Read<ReadonlyArray<string>> => {
  const value = table[key] ?? []
  const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const texts = list.filter((item) => typeof item === "string")
  return texts.length === list.length
    ? Either.right(texts)
    : Either.left(`${key}: expected a text in quotes, or texts in quotes between brackets`)
}

const required = <A>(table: Table, key: "secret" | "url", read: (text: string) => Read<A>): Read<A> =>
  Either.flatMap(textIn(table, key), (text) =>
    text === undefined || text === ""
      ? Either.left(`${key}: is missing`)
      : Either.mapLeft(read(text), (reason) => `${key}: ${reason}`))

const readTable = (table: Table): Read<WebhookSettings> =>
  Either.gen(function*() {
    const unknown = Object.keys(table).find((key) => !KEYS.some((known) => known === key))
    if (unknown !== undefined) yield* Either.left(`${quoted(unknown)} is not one of ${KEYS.join(", ")}`)
    const from = yield* textIn(table, "from")
    const types = yield* textsIn(table, "types")
    return {
      url: yield* required(table, "url", readHookUrl),
      secret: yield* required(table, "secret", readHookSecret),
      filter: {
        names: yield* textsIn(table, "name"),
        prefixes: yield* textsIn(table, "prefix"),
        owners: yield* textsIn(table, "owner"),
        types: types.flatMap((list) => list.split(",")).map((type) => type.trim())
      },
      from: from === "now" ? undefined : from
    }
  })

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => orNothing(() => JSON.parse(text))

const webhookSchema = (): Schema.Schema<WebhookSettings> =>
  Schema.Struct({
    url: Schema.String,
    secret: Schema.RedactedFromSelf(Schema.String),
    filter: Schema.Struct({
      names: Schema.Array(Schema.String),
      prefixes: Schema.Array(Schema.String),
      owners: Schema.Array(Schema.String),
      types: Schema.Array(Schema.String)
    }),
    from: Schema.UndefinedOr(Schema.String)
  })

/** A table `[[webhook]]`, as JSON text. */
export const webhookKind: OptionKind<WebhookSettings> = {
  placeholder: "TABLE",
  toml: "tables",
  schema: fromText(
    webhookSchema,
    (text) => {
      const table = parsed(text)
      return isTable(table) ? readTable(table) : Either.left("expected a table, as in [[webhook]]")
    },
    ({ filter, from, secret, url }) =>
      JSON.stringify({
        url,
        secret: Redacted.value(secret),
        name: filter.names,
        prefix: filter.prefixes,
        owner: filter.owners,
        types: filter.types,
        from
      })
  )
}
