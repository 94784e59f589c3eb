import * as Effect from "effect/Effect"
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"

/** The end of a command: its status, or why it has none. */
export type CommandEnd =
  | { readonly _tag: "Ended"; readonly status: number | string }
  | { readonly _tag: "TimedOut" }
  | { readonly _tag: "NotStarted" }

/** The environment without the settings of svcd: the password for RPC is one of them. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVCD_")))

export interface CommandLimit {
  readonly milliseconds: number
}

const endOf = (
  start: (options: SpawnOptions) => ChildProcess,
  { milliseconds }: CommandLimit
): Effect.Effect<CommandEnd> =>
  Effect.async((resume) => {
    const child = start({ detached: true, stdio: "ignore", env: environment() })
    const end = (how: CommandEnd): void => {
      clearTimeout(timer)
      resume(Effect.succeed(how))
    }
    const timer = setTimeout(() => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
      end({ _tag: "TimedOut" })
    }, milliseconds)
    child.once("error", () => end({ _tag: "NotStarted" }))
    child.once("close", (code, signal) => end({ _tag: "Ended", status: code ?? signal ?? 0 }))
    return Effect.sync(() => {
      clearTimeout(timer)
      child.unref()
    })
  })

/**
 * Runs a command in a shell and in a process group of its own, without input and output, and kills the group after a
 * time. An interrupted caller leaves it running.
 */
export const runCommand = (command: string, limit: CommandLimit): Effect.Effect<CommandEnd> =>
  endOf((options) => spawn(command, { ...options, shell: true }), limit)

/** The same for a program on the path, without a shell. */
export const runProgram = (
  [program, ...args]: readonly [program: string, ...args: ReadonlyArray<string>],
  limit: CommandLimit
): Effect.Effect<CommandEnd> => endOf((options) => spawn(program, args, options), limit)
