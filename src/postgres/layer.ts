import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type DatabaseUnavailable, InvalidConfig } from "../client/errors.ts"
import { NameClient } from "../client/NameClient.ts"
import type { ProofLevel } from "../light/proof.ts"
import { DEFAULT_SCHEMA, isSchemaName } from "./schema.ts"

/** Loads the PostgreSQL client on use. */

export interface PostgresConfig {
  /** `postgres://USER@HOST:PORT/DATABASE`. The password may also be in `PGPASSWORD` or `~/.pgpass`. */
  readonly url: string | Redacted.Redacted<string>
  /** `svcd` by default. */
  readonly schema?: string | undefined
  /** The default proof level of calls; `work` if omitted. */
  readonly requireProof?: ProofLevel | undefined
  /** 10 by default. */
  readonly maxConnections?: number | undefined
}

export type PostgresOpenFailure = DatabaseUnavailable | InvalidConfig

/** For messages, without user and password. */
const shownServer = (url: string): string => {
  if (!URL.canParse(url)) return "an invalid URL"
  const { host, pathname, searchParams } = new URL(url)
  return `${host === "" ? searchParams.get("host") ?? "localhost" : host}${pathname}`
}

const loaded = Effect.tryPromise({
  try: () => import("./PostgresNames.ts"),
  catch: () =>
    new InvalidConfig({
      field: "svcd/postgres",
      reason: "the package @effect/sql-pg is missing: install it beside svcd with npm install @effect/sql-pg@0.53"
    })
})

/** Provides a client with its own connections for the lifetime of the layer. */
export const layer = (
  { maxConnections, requireProof, schema = DEFAULT_SCHEMA, url }: PostgresConfig
): Layer.Layer<NameClient, PostgresOpenFailure> =>
  Layer.scoped(
    NameClient,
    Effect.gen(function*() {
      const given = typeof url === "string" ? Redacted.make(url) : url
      const text = Redacted.value(given)
      if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) {
        return yield* new InvalidConfig({
          field: "url",
          reason: "has to be a URL of the form postgres://USER@HOST/DATABASE"
        })
      }
      if (!isSchemaName(schema)) {
        return yield* new InvalidConfig({ field: "schema", reason: "has to be a name of small letters, digits and _" })
      }
      const { openOwn } = yield* loaded
      const connections = maxConnections === undefined ? {} : { maxConnections }
      const config = { url: given, applicationName: "svcd", ...connections }
      return yield* openOwn(config, { schema, requireProof, server: shownServer(text) })
    })
  )
