#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readCommandLine } from "../config/commandLine.ts"
import { helpText } from "../config/help.ts"
import { processInput } from "../config/settings.ts"
import { USAGE_EXIT_CODE } from "../config/UsageError.ts"
import { run } from "../runtime/daemon.ts"
import { version } from "../version.ts"

/** Ends with plain words on standard error: what is wrong, never where in our code. */
const refuse = (message: string, exitCode: number): void => {
  process.stderr.write(message.split("\n").map((line) => `svcd: ${line}\n`).join(""))
  process.exitCode = exitCode
}

const command = readCommandLine(processInput())

if (Either.isLeft(command)) refuse(command.left.message, USAGE_EXIT_CODE)
else if (command.right._tag === "Help") process.stdout.write(helpText())
else if (command.right._tag === "Version") process.stdout.write(`svcd ${version}\n`)
else if (command.right._tag === "PrintConfig") process.stdout.write(command.right.text)
else {
  const daemon = run(command.right.settings).pipe(
    Effect.catchAll((failure) => Effect.sync(() => refuse(failure.message, 1))),
    Effect.catchAllDefect(() => Effect.sync(() => refuse("an error of svcd itself, please report it: see the log", 1)))
  )
  NodeRuntime.runMain(daemon, { disablePrettyLogger: true })
}
