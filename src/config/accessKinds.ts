import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { formatHashedUser, type HashedUser, parseHashedUser } from "./hashedUser.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/** The kinds of option values that say which callers RPC answers. */

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
