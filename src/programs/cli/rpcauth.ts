import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "../../base/entropy.ts"
import { formatHashedUser, hashedUser, parseHashedUser } from "../../config/hashedUser.ts"
import { type CliInput, type CliOutcome, type CommandFailed, failure, NAME, success, usageOutcome } from "./outcome.ts"

const PASSWORD_BYTES = 32

/** `-` reads the first line of standard input; without a password a new one is made. */
const passwordOf = (given: string | undefined, { readStdin }: CliInput): Effect.Effect<string, CommandFailed> => {
  if (given === undefined) return Effect.sync(() => Buffer.from(randomBytes(PASSWORD_BYTES)).toString("base64url"))
  return given === "-" ? Effect.map(readStdin, (text) => text.split(/\r?\n/, 1)[0] ?? "") : Effect.succeed(given)
}

export const rpcauth = (words: ReadonlyArray<string>, json: boolean, input: CliInput): Effect.Effect<CliOutcome> =>
  Effect.gen(function*() {
    const [user, given] = words
    if (user === undefined) return usageOutcome([`rpcauth: give the name of the user, as in ${NAME} rpcauth alice`])
    const password = yield* passwordOf(given, input)
    if (password === "") return usageOutcome(["rpcauth: the password must not be empty"])
    const line = formatHashedUser(hashedUser({ user, password: Redacted.make(password) }))
    if (parseHashedUser(line) === undefined) {
      return usageOutcome(["rpcauth: the name of a user must not be empty or contain a colon or a line break"])
    }
    if (json) return success(`${JSON.stringify({ username: user, password, rpcauth: line })}\n`)
    // As a TOML string: JSON escapes the same characters, and more.
    const shown = given === undefined
      ? `The password of ${JSON.stringify(user)}, which svcd does not store:\n${password}\n`
      : ""
    return success(
      `For svcd.conf; rpcauth is a list with one string per user:\nrpcauth = [${JSON.stringify(line)}]\n${shown}`
    )
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(failure(1, { message }))))
