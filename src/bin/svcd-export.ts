#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { processInput } from "../config/gather.ts"
import { run } from "../programs/export/program.ts"
import { printLast } from "../programs/tool/print.ts"
import { version } from "../version.ts"

// The arguments that the system shows may contain a password.
process.title = "svcd-export"

const program = Effect.map(run({ ...processInput(), version }), (outcome) => printLast("svcd-export", outcome))

NodeRuntime.runMain(program, { disablePrettyLogger: true })
