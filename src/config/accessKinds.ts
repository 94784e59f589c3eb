import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isIPv4, isIPv6 } from "node:net"
import { quoted } from "../base/safeText.ts"
import { formatHashedUser, type HashedUser, parseHashedUser } from "./hashedUser.ts"
import { fromText, type OptionKind } from "./kinds.ts"

/** Each method names the right that it needs. */
export const USER_RIGHTS = ["read", "names", "spend", "admin"] as const
export type UserRight = (typeof USER_RIGHTS)[number]

const hashedUserSchema = (): Schema.Schema<HashedUser> =>
  Schema.Struct({
    user: Schema.String,
    salt: Schema.String,
    hash: Schema.String
  })

/** `USER:SALT$HMAC`, which no message shows: the hash of a short password can be reversed. */
export const hashedUserKind: OptionKind<Redacted.Redacted<HashedUser>> = {
  placeholder: "USER:SALT$HMAC",
  toml: "string",
  schema: fromText(
    () => Schema.RedactedFromSelf(hashedUserSchema()),
    (given) => {
      const user = parseHashedUser(given)
      return user === undefined
        ? Either.left("is not USER:SALT$HMAC with an HMAC of 64 hexadecimal digits; svcd-cli rpcauth makes such a line")
        : Either.right(Redacted.make(user))
    },
    (value) => formatHashedUser(Redacted.value(value))
  )
}

export interface UserWords<Word extends string> {
  readonly user: string
  readonly words: ReadonlyArray<Word>
}

const userWordsOf = (given: string): UserWords<string> => {
  const colon = given.indexOf(":")
  const list = colon < 0 ? "" : given.slice(colon + 1)
  return {
    user: colon < 0 ? given : given.slice(0, colon),
    words: list.split(/[, ]/).filter((word) => word !== "")
  }
}

const formatUserWords = ({ user, words }: UserWords<string>): string => `${user}:${words.join(",")}`

/** `USER:METHOD,METHOD`. Without methods the user may call none. */
export const methodListKind: OptionKind<UserWords<string>> = {
  placeholder: "USER:LIST",
  toml: "string",
  schema: fromText<UserWords<string>>(
    () => Schema.Struct({ user: Schema.String, words: Schema.Array(Schema.String) }),
    (given) => {
      const list = userWordsOf(given)
      return list.user === ""
        ? Either.left(`${quoted(given)} is not USER:METHOD,METHOD`)
        : Either.right(list)
    },
    formatUserWords
  )
}

export const rightsKind: OptionKind<UserWords<UserRight>> = {
  placeholder: "USER:LIST",
  toml: "string",
  schema: fromText<UserWords<UserRight>>(
    () => Schema.Struct({ user: Schema.String, words: Schema.Array(Schema.Literal(...USER_RIGHTS)) }),
    (given) => {
      const { user, words } = userWordsOf(given)
      const rights = words.flatMap((word) => USER_RIGHTS.find((right) => right === word) ?? [])
      return user === "" || rights.length === 0 || rights.length < words.length
        ? Either.left(`${quoted(given)} is not USER:RIGHT,RIGHT with rights of ${USER_RIGHTS.join(", ")}`)
        : Either.right({ user, words: rights })
    },
    formatUserWords
  )
}

export interface PermissionSettings {
  readonly whitelists: ReadonlyArray<UserWords<string>>
  readonly rights: ReadonlyArray<UserWords<UserRight>>
  /** Users without a list may call nothing; `undefined`: if any list exists (upstream `InitRPCAuthentication`). */
  readonly byDefault: boolean | undefined
}

export interface CallerNet {
  readonly address: string
  readonly prefix: number
}

/** The bits of a netmask such as 255.255.255.0; `undefined` for one with a gap. */
const maskBits = (mask: string): number | undefined => {
  const bits = mask.split(".").map((part) => Number(part).toString(2).padStart(8, "0")).join("")
  return /^1*0*$/.test(bits) ? bits.replaceAll("0", "").length : undefined
}

const parseNet = (text: string): CallerNet | undefined => {
  const [given = "", mask, ...more] = text.split("/")
  const address = /^\[(.*)\]$/.exec(given)?.[1] ?? given
  const most = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : undefined
  if (most === undefined || more.length > 0) return undefined
  if (mask === undefined) return { address, prefix: most }
  const prefix = isIPv4(mask) && most === 32 ? maskBits(mask) : /^\d{1,3}$/.test(mask) ? Number(mask) : undefined
  return prefix !== undefined && prefix <= most ? { address, prefix } : undefined
}

/** An address, or a network such as `192.0.2.0/24` or `192.0.2.0/255.255.255.0`. */
export const netKind: OptionKind<CallerNet> = {
  placeholder: "NET",
  toml: "string",
  schema: fromText<CallerNet>(
    () => Schema.Struct({ address: Schema.String, prefix: Schema.Int }),
    (given) => {
      const net = parseNet(given)
      return net === undefined
        ? Either.left(
          `${quoted(given)} is not an address, or a network such as 192.0.2.0/24 or 192.0.2.0/255.255.255.0`
        )
        : Either.right(net)
    },
    ({ address, prefix }) => `${address}/${prefix}`
  )
}
