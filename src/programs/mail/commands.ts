import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import type * as Effect from "effect/Effect"
import { CALLING_OPTIONS } from "../../config/connection.ts"
import { daemonFlags, switchFlag } from "../tool/flags.ts"
import { LOG_OPTIONS, NAMESPACE_FLAG, SERVE_FLAGS, VALUE_FLAGS } from "./options.ts"

const named = {
  label: Args.text({ name: "label" }).pipe(
    Args.withDescription("the part before the @ of an address, and after the namespace in the name")
  ),
  ...NAMESPACE_FLAG,
  connection: daemonFlags(CALLING_OPTIONS)
}

const REGISTER = { ...VALUE_FLAGS, ...named }
const LOOKUP = { json: switchFlag("json", { description: "print one line of JSON" }), ...named }
const SERVE = {
  ...SERVE_FLAGS,
  ...NAMESPACE_FLAG,
  connection: daemonFlags(CALLING_OPTIONS),
  log: daemonFlags(LOG_OPTIONS)
}

type Flags<C extends Command.Command.Config> = Command.Command.ParseConfig<C>

export interface MailHandlers<E> {
  readonly register: (flags: Flags<typeof REGISTER>) => Effect.Effect<void, E>
  readonly update: (flags: Flags<typeof REGISTER>) => Effect.Effect<void, E>
  readonly lookup: (flags: Flags<typeof LOOKUP>) => Effect.Effect<void, E>
  readonly serve: (flags: Flags<typeof SERVE>) => Effect.Effect<void, E>
}

export const mailCommand = <E>({ lookup, register, serve, update }: MailHandlers<E>) => (name: string) =>
  Command.make(name).pipe(
    Command.withSubcommands([
      Command.make("register", REGISTER, register).pipe(
        Command.withDescription("print the value of a new name, and the commands that register it")
      ),
      Command.make("update", REGISTER, update).pipe(
        Command.withDescription(
          "print a changed value for a name and the command that sets it; other items stay if the daemon knows the name"
        )
      ),
      Command.make("lookup", LOOKUP, lookup).pipe(Command.withDescription("print where mail for a label goes")),
      Command.make("serve", SERVE, serve).pipe(
        Command.withDescription(
          "accept mail for labels, and relay it to the addresses of their owners through a mail server"
        )
      )
    ])
  )
