import * as Either from "effect/Either"
import { outputText } from "../../base/safeText.ts"
import { readCommandLine } from "../../config/commandLine.ts"
import { processInput } from "../../config/gather.ts"
import { strangeVariables } from "../../config/sources.ts"
import { USAGE_EXIT_CODE } from "../../config/UsageError.ts"
import { version } from "../../version.ts"
import { hideSecrets } from "../tool/hideSecrets.ts"

/**
 * For standard error. Lines begin as in the reference node (`noui.cpp`), because programs that start a node look for
 * that. Hidden phrases can make lines equal, so no line appears twice.
 */
export const errorLines = (message: string, argv: ReadonlyArray<string>): string =>
  [...new Set(hideSecrets(message, argv).split("\n"))].map((line) => `Error: ${line}\n`).join("")

const refuse = (message: string, exitCode: number): void => {
  process.stderr.write(outputText(errorLines(message, process.argv.slice(2))))
  process.exitCode = exitCode
}

const warnOfVariables = ({ env }: ReturnType<typeof processInput>): void => {
  for (const text of strangeVariables(env)) process.stderr.write(outputText(`Warning: ${text}\n`))
}

export const main = async (): Promise<void> => {
  const input = processInput()
  // Other users can see the arguments of a program: this removes the secrets from them.
  if (input.argv.some((word) => /^--?rpc(?:password|auth)(?:=|$)/.test(word))) process.title = "svcd"

  const command = readCommandLine(input)
  if (Either.isLeft(command)) return refuse(command.left.message, USAGE_EXIT_CODE)
  switch (command.right._tag) {
    case "Help":
      return void process.stdout.write(outputText(command.right.text))
    case "Version":
      return void process.stdout.write(`svcd ${version}\n`)
    case "Completions": {
      const { daemonCompletions } = await import("./completions.ts")
      return void process.stdout.write(await daemonCompletions(command.right.shell))
    }
    case "PrintConfig":
      warnOfVariables(input)
      return void process.stdout.write(outputText(command.right.text))
    case "Run": {
      const { settings } = command.right
      warnOfVariables(input)
      const { runDaemon } = await import("./runDaemon.ts")
      runDaemon(settings, (message) => refuse(message, 1))
    }
  }
}
