import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import type { Settings } from "../../config/settings.ts"
import { run } from "../../node/daemon.ts"
import { tellStarted } from "./startedSignal.ts"

/** This module loads the whole node, so only a start needs it. */
export const runDaemon = (settings: Settings, refuse: (message: string) => void): void => {
  const daemon = run(settings, Effect.sync(tellStarted)).pipe(
    Effect.catchAll((failure) => Effect.sync(() => refuse(failure.message))),
    Effect.catchAllDefect(() => Effect.sync(() => refuse("internal error, please report it: see the log")))
  )
  NodeRuntime.runMain(daemon, { disablePrettyLogger: true })
}
