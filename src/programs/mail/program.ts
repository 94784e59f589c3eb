import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { OpenFailure } from "../../client/errors.ts"
import type { NameClient } from "../../client/NameClient.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import type { UsageError } from "../../config/UsageError.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import { type Printer, run as runTool } from "../tool/run.ts"
import { mailCommand, type MailHandlers } from "./commands.ts"
import { lookup, type LookupFailure } from "./lookup.ts"
import { prepareRegistration, prepareUpdate } from "./prepare.ts"
import type { ServeFailure } from "./serve.ts"
import { type MailInput, mailSettings } from "./settings.ts"

/** See docs/mail.md. */

const NAME = "svcd-mail"

export interface MailToolInput extends MailInput {
  readonly version: string
  readonly names: (connection: ConnectionSettings) => Layer.Layer<NameClient, OpenFailure>
}

type CommandFailure = UsageError | LookupFailure | ServeFailure

const handlersOf = (input: MailToolInput, printer: Printer): MailHandlers<CommandFailure> => ({
  register: (flags) => Effect.map(prepareRegistration(flags, input), printer.result),
  update: (flags) => Effect.map(prepareUpdate(flags, input, input.names), printer.result),
  lookup: (flags) =>
    Effect.map(lookup(flags, input, input.names), ({ remarks, result }) => {
      printer.result(result)
      for (const remark of remarks) printer.remark(`${NAME}: ${remark}\n`)
    }),
  serve: (flags) =>
    Effect.gen(function*() {
      const settings = yield* mailSettings(flags, input)
      // The other sub-commands do not load SMTP code, and start faster.
      const { serve } = yield* Effect.promise(() => import("./serve.ts"))
      return yield* serve(settings, input.names(settings.connection))
    })
})

const ABOUT = `Forwards mail to the address in the value of a name: mail for alice@… goes to the address
in id/alice. register and update only print: they change nothing and need no daemon. update keeps the rest of the
current value if the daemon knows it.`

const NOTES =
  `Where the daemon is, and how to log, is also read from the environment and from svcd.conf in the data directory, as
svcd does.`

export const run = (input: MailToolInput): Effect.Effect<ProgramOutcome> =>
  runTool({
    name: NAME,
    version: input.version,
    argv: input.argv,
    about: ABOUT,
    notes: NOTES,
    repeatsWords: true,
    allowsEmpty: false,
    command: (name, printer) => mailCommand(handlersOf(input, printer))(name)
  })
