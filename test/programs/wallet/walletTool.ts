import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { Readable } from "node:stream"
import type { ProgramOutcome } from "../../../src/programs/tool/outcome.ts"
import type { Prompt } from "../../../src/programs/tool/prompt.ts"
import { run } from "../../../src/programs/wallet/program.ts"
import { inputOf } from "../../config/input.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"

/** Calls of svcd-wallet on a data directory, at a terminal and without one. */

export const PHRASE = `${"abandon ".repeat(11)}about`
export const WIF = "cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA"

/** An environment without a terminal. */
export const NO_TERMINAL: Prompt = { secret: () => Effect.succeed(undefined), line: () => Effect.succeed(undefined) }

/** A terminal at which the user types these answers. */
export const typing = (...answers: Array<string>): Prompt => {
  const next = () => Effect.sync(() => answers.shift())
  return { secret: next, line: next }
}

export const tool = (argv: ReadonlyArray<string>, prompt = NO_TERMINAL, env: Readonly<Record<string, string>> = {}) =>
  run({ ...inputOf(argv, { env }), version: "9.9.9", prompt, stdin: () => Readable.from([]) })

interface Place {
  readonly file: string
  readonly dataDir: string
  readonly call: (...argv: ReadonlyArray<string>) => Effect.Effect<ProgramOutcome>
  readonly at: (prompt: Prompt, ...argv: ReadonlyArray<string>) => Effect.Effect<ProgramOutcome>
}

export const inPlace = <E>(work: (place: Place) => Effect.Effect<void, E>) =>
  Effect.promise(() =>
    withDirectoryAsync((directory) => {
      const dataDir = join(directory, "node")
      const env = { SVCD_NETWORK: "regtest", SVCD_DATA_DIR: dataDir }
      return Effect.runPromise(work({
        dataDir,
        file: join(dataDir, "wallet.json"),
        call: (...argv) => tool(argv, NO_TERMINAL, env),
        at: (prompt, ...argv) => tool(argv, prompt, env)
      }))
    })
  )

export const done = (outcome: ProgramOutcome): ProgramOutcome => {
  assert.strictEqual(outcome.code, 0, outcome.stderr)
  return outcome
}

export const refused = ({ code, stderr, stdout }: ProgramOutcome, expected: number, words: RegExp): void => {
  assert.strictEqual(code, expected, stderr)
  assert.match(stderr, words)
  assert.strictEqual(stdout, "")
  for (const line of stderr.trimEnd().split("\n")) assert.match(line, /^svcd-wallet: /)
}
