import { Effect } from "effect"
import type { LiveOutput } from "../../src/programs/cli/outcome.ts"

/** The output of a command that prints nothing while it runs. */
export const SILENT: LiveOutput = { write: () => Effect.die("it was written to"), stopped: Effect.never }
