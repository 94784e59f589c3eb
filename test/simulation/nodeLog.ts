import * as Cause from "effect/Cause"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type { Machine } from "./virtual/Machine.ts"

/** Log entries of a node become events of the run. A defect in one fails the run: nodes have none. */

const shown = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)

export const nodeLog = (machine: Machine, name: string): Layer.Layer<never> => {
  const logger = Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    const words = (Array.isArray(message) ? message : [message]).map(shown).join(" ")
    machine.note(name, `${logLevel.label} ${words}`)
    if (Cause.isEmpty(cause)) return
    const reason = Cause.pretty(cause)
    machine.note(name, reason)
    if (Cause.isDie(cause)) machine.fail({ what: "defect", reason: `${name}: ${words}`, stack: reason })
  })
  return Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.Info))
}
