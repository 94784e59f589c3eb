import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import type { OpenFailure } from "../../client/errors.ts"
import { NameClient } from "../../client/NameClient.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { UsageError } from "../../config/UsageError.ts"
import { membersOf, readValue, type ValueProblem, writeValue } from "../../mail/forwarding.ts"
import { DEFAULT_NAMESPACE, labelProblem, nameOf } from "../../mail/label.ts"
import { argvOf, type Texts } from "../tool/flags.ts"
import { registerInstructions, updateInstructions } from "./instructions.ts"
import { connectionOf, type MailInput } from "./settings.ts"

const FLAG_OF: Readonly<Record<ValueProblem["field"], string>> = {
  email: "--forward: ",
  backup: "--backup: ",
  pubkey: "--pubkey: ",
  value: ""
}

export interface Named {
  readonly label: string
  readonly namespace: string
}

interface Prepared extends Named {
  readonly forward: string
  readonly backup: ReadonlyArray<string>
  readonly pubkey: string | undefined
  readonly connection: Texts
}

export const nameOfLabel = ({ label, namespace }: Named): Either.Either<string, UsageError> => {
  const name = nameOf({ namespace, text: label })
  return name === undefined
    ? Either.left(new UsageError({ problems: [labelProblem({ namespace, text: label })] }))
    : Either.right(name)
}

/** Missing flags keep the present value, if known. */
const valueOf = (
  { backup, forward, pubkey }: Prepared,
  present: string | undefined
): Either.Either<string, UsageError> => {
  const known = present === undefined ? undefined : readValue(present)
  const value = {
    email: forward,
    backup: backup.length > 0 ? backup : known?.backup ?? [],
    pubkey: pubkey ?? known?.pubkey ?? ""
  }
  return Either.mapLeft(
    writeValue(value, present === undefined ? {} : membersOf(present)),
    (problems) => new UsageError({ problems: problems.map(({ field, reason }) => FLAG_OF[field] + reason) })
  )
}

const flagsOf = ({ connection }: Prepared): ReadonlyArray<string> =>
  argvOf(new Map([...connection].filter(([name]) => name !== "rpcpassword")))

export const prepareRegistration = (flags: Prepared, input: MailInput): Either.Either<string, UsageError> =>
  Either.gen(function*() {
    const { network } = yield* connectionOf(flags.connection, input)
    const name = yield* nameOfLabel(flags)
    const { label, namespace } = flags
    const lookup = ["lookup", label, ...namespace === DEFAULT_NAMESPACE ? [] : ["--namespace", namespace]]
    return registerInstructions({
      name,
      value: yield* valueOf(flags, undefined),
      flags: flagsOf(flags),
      network,
      lookup
    })
  })

const PATIENCE = "5 seconds"

const presentValue = (name: string, client: Layer.Layer<NameClient, OpenFailure>): Effect.Effect<string | undefined> =>
  Effect.flatMap(NameClient, ({ resolveName }) => resolveName(name)).pipe(
    Effect.provide(client),
    Effect.timeout(PATIENCE),
    Effect.match({ onSuccess: ({ value }) => value, onFailure: () => undefined })
  )

/** Keeps the name's other members. Without a daemon that knows the name, the new value stands alone. */
export const prepareUpdate = (
  flags: Prepared,
  input: MailInput,
  names: (connection: ConnectionSettings) => Layer.Layer<NameClient, OpenFailure>
): Effect.Effect<string, UsageError> =>
  Effect.gen(function*() {
    const connection = yield* connectionOf(flags.connection, input)
    const name = yield* nameOfLabel(flags)
    // Mistakes in the flags need no daemon.
    yield* valueOf(flags, undefined)
    const present = yield* presentValue(name, names(connection))
    const value = yield* valueOf(flags, present)
    return updateInstructions({ name, value, flags: flagsOf(flags), isMerged: present !== undefined })
  })
