import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { type Bytes, fromHex, toHex } from "../../protocol/bytes.ts"
import { orNothing } from "../../protocol/orNothing.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"

export const LONGEST_TEXT = 10_000
const MAX_ITEMS = 1_000_000

export const ShortText = Schema.String.pipe(Schema.maxLength(LONGEST_TEXT))
export const Seconds = Schema.NonNegativeInt
export const ListOf = <A, I>(item: Schema.Schema<A, I>, most = MAX_ITEMS) =>
  Schema.Array(item).pipe(Schema.maxItems(most))
export const omittable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

export const orUndefined = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToRequired(schema, Schema.UndefinedOr(Schema.typeSchema(schema)), {
    decode: Option.getOrUndefined,
    encode: Option.fromNullable
  })

export const hexBytes = (most: number, exactly = false): Schema.Schema<Bytes, string> =>
  Schema.transformOrFail(
    Schema.String.pipe(exactly ? Schema.length(2 * most) : Schema.maxLength(2 * most)),
    Schema.Uint8ArrayFromSelf,
    {
      strict: true,
      decode: (text, _, ast) => {
        const bytes = fromHex(text)
        return bytes === undefined
          ? ParseResult.fail(new ParseResult.Type(ast, "", "not hexadecimal"))
          : ParseResult.succeed(bytes)
      },
      encode: (bytes) => ParseResult.succeed(toHex(bytes))
    }
  )

export const hexOf = (most: number) =>
  Schema.String.pipe(Schema.maxLength(2 * most), Schema.pattern(/^(?:[0-9a-f]{2})*$/))

/** `undefined` if no wallet wrote it. */
export const storedTransaction = (hex: string): Transaction | undefined => {
  const bytes = fromHex(hex)
  return bytes === undefined ? undefined : orNothing(() => decodeTransaction(bytes))
}
