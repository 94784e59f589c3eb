import { Effect } from "effect"
import type { LiveOutput } from "../../src/programs/cli/outcome.ts"
import type { Prompt } from "../../src/programs/tool/prompt.ts"

/** The output of a command that prints nothing while it runs. */
export const SILENT: LiveOutput = { write: () => Effect.die("it was written to"), stopped: Effect.never }

/** The prompt of a program without a terminal. */
export const MUTE: Prompt = { secret: () => Effect.succeed(undefined), line: () => Effect.succeed(undefined) }
