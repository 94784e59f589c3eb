import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { quoted } from "../base/safeText.ts"
import { MAX_SPENDABLE_VALUE, MAX_VALUE_LENGTH } from "../consensus/names.ts"
import { decodeBase64 } from "../protocol/base64.ts"
import { parseMailAddress } from "./address.ts"
import type { Forwarding } from "./Recipients.ts"

/** The value of a name: JSON with `email`, `backup` and `pubkey` (docs/mail.md). */

export interface MailValue extends Forwarding {
  /** For encrypted mail to the owner, in base64; empty for none. */
  readonly pubkey: string
}

/** The relay neither writes nor tries more. */
export const MAX_BACKUPS = 8

/** Coins with longer values cannot be spent (reference/protocol.md 4, consensus/names.ts). */
export const MAX_MAIL_VALUE = MAX_SPENDABLE_VALUE

/** Left: what is wrong with the text. */
const parsed = (parse: (text: string) => Either.Either<string, string>): Schema.Schema<string> =>
  Schema.transformOrFail(Schema.String, Schema.String, {
    strict: true,
    decode: (text, _options, ast) =>
      Either.mapLeft(parse(text), (why) => new ParseResult.Type(ast, text, `${quoted(text)} ${why}`)),
    encode: ParseResult.succeed
  })

const publicKey = (text: string): Either.Either<string, string> =>
  decodeBase64(text) === undefined
    ? Either.left("is not base64, with its padding and without spaces")
    : Either.right(text)

/** What the node writes: every field is valid. */
const Written = Schema.Struct({
  email: parsed(parseMailAddress),
  backup: Schema.Array(parsed(parseMailAddress)).pipe(
    Schema.maxItems(MAX_BACKUPS, { message: () => `there are more than ${MAX_BACKUPS} addresses` })
  ),
  pubkey: parsed(publicKey)
})

export interface ValueProblem {
  /** `value`: the fields are valid, but together too long. */
  readonly field: keyof MailValue | "value"
  readonly reason: string
}

const isField = (text: unknown): text is keyof MailValue => text === "email" || text === "backup" || text === "pubkey"

const problemsOf = (error: ParseResult.ParseError): ReadonlyArray<ValueProblem> =>
  ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path: [field] }) => ({
    field: isField(field) ? field : "value",
    reason: message
  }))

const decodeWritten = Schema.decodeEither(Written, { errors: "all" })

/** In ASCII, a node accepts and shows it in every configured encoding. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

type Members = Readonly<Record<string, unknown>>

const decodeMembers = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

/** Empty for a value that is not a JSON object. */
export const membersOf = (text: string): Members => Option.getOrElse(decodeMembers(text), () => ({}))

/** Replaces the mail address in `email`; addresses for other purposes stay. */
const withAddress = (present: unknown, email: string): unknown =>
  typeof present === "object" && present !== null && "default" in present ? { ...present, default: email } : email

/** Left: everything that is wrong. `others`: further members of the name, which stay. */
export const writeValue = (
  value: MailValue,
  others: Members = {}
): Either.Either<string, ReadonlyArray<ValueProblem>> =>
  Either.flatMap(Either.mapLeft(decodeWritten(value), problemsOf), ({ backup, email, pubkey }) => {
    const text = asciiJson({ ...others, email: withAddress(others["email"], email), backup, pubkey })
    return text.length <= MAX_MAIL_VALUE
      ? Either.right(text)
      : Either.left([{
        field: "value",
        reason: `the value takes ${text.length} bytes, and a name has room for ${MAX_MAIL_VALUE}; ` +
          "give fewer or shorter addresses, or a shorter public key"
      }])
  })

const Addresses = Schema.Union(Schema.String, Schema.Array(Schema.String))

/** Identities have more fields, and some programs write `null` for a missing one. */
const Stored = Schema.parseJson(Schema.Struct({
  // The published forms: one address, a list, or several by purpose.
  email: Schema.Union(Addresses, Schema.Struct({ default: Addresses })),
  backup: Schema.optionalWith(Schema.Array(Schema.String), { nullable: true, default: () => [] }),
  pubkey: Schema.optionalWith(Schema.String, { nullable: true, default: () => "" })
}))

const decodeStored = Schema.decodeUnknownEither(Stored)

/** `undefined` without a mail address. Invalid backup addresses are skipped. */
export const readValue = (text: string): MailValue | undefined => {
  if (text.length > MAX_VALUE_LENGTH) return undefined
  return Either.getOrUndefined(Either.gen(function*() {
    const { backup, email, pubkey } = yield* decodeStored(text)
    const own = typeof email === "object" && "default" in email ? email.default : email
    const [first, ...more] = Arr.getRights((typeof own === "string" ? [own] : own).map(parseMailAddress))
    if (first === undefined) return yield* Either.left("no valid address")
    const others = new Set([...more, ...Arr.getRights(backup.map(parseMailAddress))])
    others.delete(first)
    return { email: first, backup: [...others].slice(0, MAX_BACKUPS), pubkey }
  }))
}
