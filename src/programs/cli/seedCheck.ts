import * as Effect from "effect/Effect"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { drawnPlaces } from "../../rpc/wordPlaces.ts"
import { wordsWithoutNumbers } from "../tool/phraseText.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, failure, success } from "./outcome.ts"
import { withKeys } from "./passphrase.ts"

/** `svcd-cli seed check`. Never shows a word, nor takes one as an argument, which other users could see. */

/** BIP 39; svcd's wallets have 24. */
const LENGTHS: ReadonlyArray<number> = [12, 15, 18, 21, 24]
const USUAL = 24

const lengthsText = `${LENGTHS.slice(0, -1).join(", ")} or ${USUAL}`

type Words = Readonly<Record<string, string>>

const noTerminal = ({ cli }: Pick<Daemon, "cli">): string =>
  `there is no terminal to ask on: give the whole phrase on standard input, with "${cli} seed check -"`

const STOPPED = "nothing was checked"

const givenPhrase = (text: string): Effect.Effect<Words, CommandFailed> => {
  const words = wordsWithoutNumbers(text)
  return LENGTHS.includes(words.length)
    ? Effect.succeed(Object.fromEntries(words.map((word, place) => [String(place + 1), word])))
    : new CommandFailed({
      message: `standard input has ${words.length} words, and a seed phrase has ${lengthsText}; ${STOPPED}`
    })
}

const askedWords = ({ daemon, input: { prompt } }: OwnContext): Effect.Effect<Words, CommandFailed> =>
  Effect.gen(function*() {
    const typed = yield* prompt.line(`How many words are on your paper? [${USUAL}] `)
    if (typed === undefined) {
      return yield* new CommandFailed({ message: prompt.terminal === undefined ? noTerminal(daemon) : STOPPED })
    }
    const count = typed.trim() === "" ? USUAL : Number(typed)
    if (!LENGTHS.includes(count)) {
      return yield* new CommandFailed({ message: `a seed phrase has ${lengthsText} words; ${STOPPED}` })
    }
    const words: Record<string, string> = {}
    for (const place of drawnPlaces(count)) {
      const word = yield* prompt.secret(`Word ${place} (it is not shown): `)
      if (word === undefined || word.trim() === "") return yield* new CommandFailed({ message: STOPPED })
      words[place] = word.trim()
    }
    return words
  })

const WRONG = "at least one of these words is wrong. Compare your paper with the output of " +
  "\"svcd-wallet export --phrase\", letter by letter"

export const seedCheckCommand = (
  context: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { daemon, input, line } = context
    const words = line.words[1] === "-"
      ? yield* Effect.flatMap(input.readStdin, givenPhrase)
      : yield* askedWords(context)
    const answer = yield* withKeys({ daemon, input }, daemon.ask("checkrecoverywords", [words]))
    const correct = at(answer, "correct") === true
    if (line.wants("json")) return { code: correct ? 0 : 1, stdout: `${indented(answer)}\n`, stderr: "" }
    return correct
      ? success("All of these words are right. The wallet records the date of this check.\n")
      : failure(1, { message: WRONG })
  })
