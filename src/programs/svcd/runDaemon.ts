import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { outputText } from "../../base/safeText.ts"
import type { Settings } from "../../config/settings.ts"
import { type NodeStarted, run } from "../../node/daemon.ts"
import { greeting } from "./greeting.ts"
import { tellStarted } from "./startedSignal.ts"

/** Greets a person once, and neither a log nor a pipe. */
const makeGreeter = (settings: Settings) => {
  let isGreeted = false
  return (facts: NodeStarted): void => {
    if (isGreeted || !process.stdout.isTTY) return
    isGreeted = true
    process.stdout.write(outputText(greeting(settings, facts, process.argv.slice(2))))
  }
}

/** This module loads the whole node, so only a start needs it. */
export const runDaemon = (settings: Settings, refuse: (message: string) => void): void => {
  const greet = makeGreeter(settings)
  const started = (facts: NodeStarted): Effect.Effect<void> =>
    Effect.sync(() => {
      tellStarted()
      greet(facts)
    })
  const daemon = run(settings, started).pipe(
    Effect.catchAll((failure) => Effect.sync(() => refuse(failure.message))),
    Effect.catchAllDefect(() => Effect.sync(() => refuse("internal error, please report it: see the log")))
  )
  NodeRuntime.runMain(daemon, { disablePrettyLogger: true })
}
