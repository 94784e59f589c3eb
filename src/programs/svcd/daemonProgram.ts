import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readCommandLine } from "../../config/commandLine.ts"
import { helpText } from "../../config/help.ts"
import { processInput } from "../../config/settings.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import { run } from "../../node/daemon.ts"
import { version } from "../../version.ts"

/** Ends with plain words on standard error: what is wrong, never where in our code. */
const refuse = (message: string, exitCode: number): void => {
  process.stderr.write(message.split("\n").map((line) => `svcd: ${line}\n`).join(""))
  process.exitCode = exitCode
}

/** The program svcd: does what the command line of this process asks for. */
export const main = (): void => {
  const input = processInput()
  // Other users can see what a program was started with: from here on not the password in it.
  if (input.argv.some((word) => /^--?rpcpassword(?:=|$)/.test(word))) process.title = "svcd"

  const command = readCommandLine(input)
  if (Either.isLeft(command)) return refuse(command.left.message, USAGE_EXIT_CODE)
  switch (command.right._tag) {
    case "Help":
      return void process.stdout.write(helpText())
    case "Version":
      return void process.stdout.write(`svcd ${version}\n`)
    case "PrintConfig":
      return void process.stdout.write(command.right.text)
    case "Run": {
      const daemon = run(command.right.settings).pipe(
        Effect.catchAll((failure) => Effect.sync(() => refuse(failure.message, 1))),
        Effect.catchAllDefect(() =>
          Effect.sync(() => refuse("an error of svcd itself, please report it: see the log", 1))
        )
      )
      NodeRuntime.runMain(daemon, { disablePrettyLogger: true })
    }
  }
}
