#!/usr/bin/env node
import * as Effect from "effect/Effect"
import { processInput } from "../config/gather.ts"
import { printLast } from "../programs/tool/print.ts"
import { makePrompt } from "../programs/tool/prompt.ts"
import { run } from "../programs/wallet/program.ts"
import { version } from "../version.ts"

// The program's files are for its user alone.
process.umask(0o077)

const input = { ...processInput(), version, prompt: makePrompt(process), stdin: () => process.stdin }

// The arguments that the system shows may contain words, keys or a passphrase.
process.title = "svcd-wallet"

const program = Effect.map(run(input), (outcome) => printLast("svcd-wallet", outcome))

Effect.runFork(program)
