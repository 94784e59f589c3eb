/**
 * `svcd/postgres`: names from an export in PostgreSQL (docs/postgres.md), for programs with Effect.
 *
 * ```ts
 * import { NameClient } from "svcd"
 * import { PostgresNames } from "svcd/postgres"
 *
 * const names = PostgresNames.layer({ url: "postgres://reader@127.0.0.1/names" })
 * ```
 */

export * as PostgresNames from "./postgres/layer.ts"
export type { PostgresConfig, PostgresOpenFailure } from "./postgres/layer.ts"
