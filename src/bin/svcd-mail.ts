#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import type { ConnectionSettings } from "../config/connection.ts"
import { processInput } from "../config/gather.ts"
import { run } from "../programs/mail/program.ts"
import { printLast } from "../programs/tool/print.ts"
import { version } from "../version.ts"

// The program's files are for its user alone.
process.umask(0o077)

/** Loaded on use: help, version and completions do not need the daemon's client. */
const mailNames = (connection: ConnectionSettings) =>
  Layer.unwrapEffect(
    Effect.map(Effect.promise(() => import("../programs/mail/names.ts")), (module) => module.mailNames(connection))
  )

const input = { ...processInput(), version, hostname: hostname(), names: mailNames }

// The arguments that the system shows may contain a password.
process.title = "svcd-mail"

const program = Effect.map(run(input), (outcome) => printLast("svcd-mail", outcome))

NodeRuntime.runMain(program, { disablePrettyLogger: true })
