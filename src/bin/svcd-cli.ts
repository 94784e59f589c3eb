#!/usr/bin/env node
import * as Effect from "effect/Effect"
import { fstatSync } from "node:fs"
import { standardTerminal } from "../base/progressBar.ts"
import { outputText } from "../base/safeText.ts"
import { processInput } from "../config/gather.ts"
import { run } from "../programs/cli/cli.ts"
import { screenOf } from "../programs/cli/outcome.ts"
import { readStandardInput, unreadable } from "../programs/cli/standardInput.ts"
import { printLast } from "../programs/tool/print.ts"
import { makePrompt } from "../programs/tool/prompt.ts"
import { version } from "../version.ts"

// The program's files are for its user alone.
process.umask(0o077)

const output = {
  write: (text: string) =>
    Effect.async<void>((resume) => {
      if (process.stdout.write(outputText(text))) return resume(Effect.void)
      process.stdout.once("drain", () => resume(Effect.void))
    }),
  stopped: Effect.async<void>((resume) => {
    const stop = (): void => resume(Effect.void)
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop)
    process.stdout.once("close", stop).once("error", stop)
  })
}

const input = {
  ...processInput(),
  output,
  version,
  screen: screenOf(process.stdout, process.env),
  progress: standardTerminal(),
  note: (line: string) => void process.stderr.write(outputText(`${line}\n`)),
  readStdin: Effect.suspend(() => {
    // For a directory Node.js gives an empty text, and no error.
    const isDirectory = fstatSync(0).isDirectory()
    return isDirectory ? unreadable("EISDIR") : readStandardInput(process.stdin)
  }),
  prompt: makePrompt(process)
}

// The arguments that the system shows may contain a password.
process.title = "svcd-cli"

// The call is over with its output. Exiting at once saves 5 ms of teardown.
const program = Effect.map(run(input), (outcome) => printLast("svcd-cli", outcome, () => process.exit()))

Effect.runFork(program)
