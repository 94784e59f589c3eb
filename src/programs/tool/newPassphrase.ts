import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Prompt } from "./prompt.ts"

/** Attempts at a passphrase on a terminal. A slip must not cost what was typed before. */
export const MOST_TRIES = 3

export class NoPassphrase extends Data.TaggedError("NoPassphrase")<{
  readonly reason: "no-terminal" | "left" | "different"
}> {
  override get message(): string {
    return this.reason === "different" ? "the passphrases differ" : "no passphrase was given"
  }
}

export const unanswered = ({ terminal }: Prompt): NoPassphrase =>
  new NoPassphrase({ reason: terminal === undefined ? "no-terminal" : "left" })

/** Asks for a passphrase and its repetition. After a difference or an empty answer, it asks again. */
export const typedTwice = (prompt: Prompt): Effect.Effect<Redacted.Redacted<string>, NoPassphrase> =>
  Effect.gen(function*() {
    let before = ""
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const first = yield* prompt.secret(`${before}Type the new passphrase of the wallet: `)
      if (first === undefined) return yield* unanswered(prompt)
      if (first === "") {
        before = "The passphrase must not be empty. "
        continue
      }
      const second = yield* prompt.secret("Type it again: ")
      if (second === undefined) return yield* unanswered(prompt)
      if (second === first) return Redacted.make(first)
      before = "They differ. "
    }
    return yield* new NoPassphrase({ reason: "different" })
  })
