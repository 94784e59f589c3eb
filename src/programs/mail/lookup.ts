import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { quantityOf } from "../../base/quantities.ts"
import { escapeUnsafe } from "../../base/safeText.ts"
import type { OpenFailure, ReadFailure } from "../../client/errors.ts"
import { NameClient } from "../../client/NameClient.ts"
import type { NameRecord } from "../../client/records.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import type { UsageError } from "../../config/UsageError.ts"
import { type MailValue, readValue } from "../../mail/forwarding.ts"
import type { Texts } from "../tool/flags.ts"
import { type Named, nameOfLabel } from "./prepare.ts"
import { connectionOf, type MailInput } from "./settings.ts"

/** The relay takes no mail for the label. */
export class NoForwarding extends Data.TaggedError("NoForwarding")<{ readonly message: string }> {}

export type LookupFailure = NoForwarding | OpenFailure | ReadFailure | UsageError

export interface LookedUp {
  readonly result: string
  readonly remarks: ReadonlyArray<string>
}

const jsonOf = (label: string, { asOf, expiresIn, name }: NameRecord, { backup, email, pubkey }: MailValue): string =>
  `${escapeUnsafe(JSON.stringify({ label, name, email, backup, pubkey, expiresIn, ...asOf }))}\n`

const textOf = ({ expiresIn, name }: NameRecord, { backup, email, pubkey }: MailValue): string =>
  [
    name,
    `  email    ${email}`,
    ...backup.map((address) => `  backup   ${address}`),
    ...(pubkey === "" ? [] : [`  pubkey   ${escapeUnsafe(pubkey)}`]),
    `  expires  in ${quantityOf(expiresIn, "block")}`,
    ""
  ].join("\n")

const resolved = ({ label, name }: { readonly label: string; readonly name: string }) =>
  Effect.gen(function*() {
    const names = yield* NameClient
    const record = yield* names.resolveName(name).pipe(
      Effect.catchTags({
        NameNotFound: () => new NoForwarding({ message: `${label}: the name ${name} does not exist` }),
        NameExpired: () => new NoForwarding({ message: `${label}: the name ${name} has expired` })
      })
    )
    const value = readValue(record.value)
    if (value === undefined) {
      return yield* new NoForwarding({ message: `${label}: the value of ${name} has no mail address` })
    }
    return { record, value }
  })

interface Wanted extends Named {
  readonly json: boolean
  readonly connection: Texts
}

export const lookup = (
  wanted: Wanted,
  input: MailInput,
  names: (connection: ConnectionSettings) => Layer.Layer<NameClient, OpenFailure>
): Effect.Effect<LookedUp, LookupFailure> =>
  Effect.gen(function*() {
    const { json, label } = wanted
    const name = yield* nameOfLabel(wanted)
    const connection = yield* connectionOf(wanted.connection, input)
    const { record, value } = yield* Effect.provide(resolved({ label, name }), names(connection))
    const { height, synced } = record.asOf
    return {
      result: json ? jsonOf(label, record, value) : textOf(record, value),
      remarks: synced ? [] : [`the daemon is not in sync with the network; this is as of block ${height}`]
    }
  })
