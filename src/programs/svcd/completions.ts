import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { OPTIONS, type Shell } from "../../config/options.ts"
import { describedFlags, shellScript } from "../tool/completions.ts"

const program = (name: string) => Command.make(name, describedFlags(OPTIONS))

/** Loaded for a script only, because it loads @effect/cli. */
export const daemonCompletions = (shell: Shell): Promise<string> =>
  Effect.runPromise(shellScript({ name: "svcd", shell, command: program }))
