import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { fromText, type OptionKind } from "./kinds.ts"

/** The kinds of option values that say which callers RPC answers. */

/** A user of RPC without the password: what `-rpcauth` holds. */
export interface HashedUser {
  readonly user: string
  readonly salt: string
  /** HMAC-SHA-256 of the password under the salt, in 64 hexadecimal digits. */
  readonly hash: string
}

const HASHED_USER = /^([^:\r\n]+):([^:$\r\n]+)\$([0-9a-f]{64})$/

/** Parses `USER:SALT$HMAC`. */
export const parseHashedUser = (text: string): HashedUser | undefined => {
  const [, user, salt, hash] = HASHED_USER.exec(text) ?? []
  return user === undefined || salt === undefined || hash === undefined ? undefined : { user, salt, hash }
}

export const formatHashedUser = ({ hash, salt, user }: HashedUser): string => `${user}:${salt}$${hash}`

const HashedUserSchema: Schema.Schema<HashedUser> = Schema.Struct({
  user: Schema.String,
  salt: Schema.String,
  hash: Schema.String
})

/** `USER:SALT$HMAC`, of which no message shows anything: the hash of a short password can be reversed. */
export const hashedUserKind: OptionKind<Redacted.Redacted<HashedUser>> = {
  placeholder: "USER:SALT$HMAC",
  toml: "string",
  schema: fromText(
    Schema.RedactedFromSelf(HashedUserSchema),
    (given) => {
      const user = parseHashedUser(given)
      return user === undefined
        ? Either.left("is not USER:SALT$HMAC with an HMAC of 64 hexadecimal digits; svcd-cli rpcauth makes such a line")
        : Either.right(Redacted.make(user))
    },
    (value) => formatHashedUser(Redacted.value(value))
  )
}
