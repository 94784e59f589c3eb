import * as Command from "@effect/cli/Command"
import type * as Effect from "effect/Effect"
import type { OptionTable } from "../../config/optionRow.ts"
import { SHOWN_METHODS } from "../../rpc/contract/arguments.ts"
import { describedFlags, shellScript } from "../tool/completions.ts"
import { COMMAND_NAMES, COMMAND_ROWS } from "./commandTable.ts"
import { CLI_FLAGS, type CliShell } from "./flags.ts"
import { NAME } from "./outcome.ts"

/** Loaded on use, with @effect/cli. */

const commandOf = (name: string, options: OptionTable, description: string) =>
  Command.make(name, describedFlags(options)).pipe(Command.withDescription(description))

const program = (name: string) =>
  Command.make(name, describedFlags(CLI_FLAGS)).pipe(
    Command.withSubcommands([
      Command.make("help"),
      ...COMMAND_NAMES.map((command) =>
        commandOf(command, COMMAND_ROWS[command].options, COMMAND_ROWS[command].description)
      ),
      ...SHOWN_METHODS.filter((method) => method !== "help").map((method) => Command.make(method))
    ])
  )

export const completionScript = (shell: CliShell): Effect.Effect<string> =>
  shellScript({
    name: NAME,
    shell: shell === "sh" ? "bash" : shell,
    command: program,
    bare: new Set(SHOWN_METHODS),
    explains: "help"
  })
