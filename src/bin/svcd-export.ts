#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { processInput } from "../config/settings.ts"
import { run } from "../programs/export/program.ts"
import { version } from "../version.ts"

// The arguments that the system shows may contain a password.
process.title = "svcd-export"

const program = Effect.map(run({ ...processInput(), version }), ({ code, stderr, stdout }) => {
  // The reader may close the pipe as soon as it has enough.
  process.stdout.on("error", () => {})
  process.stdout.write(stdout)
  process.stderr.write(stderr)
  process.exitCode = code
})

NodeRuntime.runMain(program, { disablePrettyLogger: true })
