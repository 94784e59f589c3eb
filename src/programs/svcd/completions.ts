import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { OPTIONS, type Shell } from "../../config/options.ts"
import { describedFlags, shellScript } from "../tool/completions.ts"

/** The program as @effect/cli sees it: never run, only described. */
const program = (name: string) => Command.make(name, describedFlags(OPTIONS))

/** Makes the script with which a shell completes the flags of svcd. Loaded only for a script, because it loads @effect/cli. */
export const daemonCompletions = (shell: Shell): Promise<string> =>
  Effect.runPromise(shellScript({ name: "svcd", shell, command: program }))
