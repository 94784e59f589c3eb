import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as DaemonEvents from "../../client/daemonEvents.ts"
import * as DaemonRpc from "../../client/DaemonRpc.ts"
import * as DaemonSync from "../../client/daemonSync.ts"
import { type DaemonFailure, InvalidConfig } from "../../client/errors.ts"
import { hashReply, reading } from "../../client/replies.ts"
import type { SettingsInput } from "../../config/gather.ts"
import * as Logging from "../../node/logging.ts"
import { type ExportFailure, type ExportSource, runExport } from "../../postgres/exporter.ts"
import { EXPORT_QUERY } from "../../postgres/lines.ts"
import { GETBLOCKHASH } from "../../rpc/contract/chain/chain.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import { failureOutcomeOf, type ProgramOutcome, usageOutcomeOf, withoutSecrets } from "../tool/outcome.ts"
import { EXPORT_HELP, EXPORT_NAME, type ExportSettings, readExportCommand } from "./settings.ts"

/** See docs/postgres.md. */

export interface ExportInput extends SettingsInput {
  readonly version: string
}

const NO_EVENTS = "the daemon has no events: it is not svcd, or it is an older version"

/** Milliseconds between attempts to reach the daemon. */
const PAUSE = 2_000

const patiently = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  attempt: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.catchAll(attempt, (failure) =>
    failure._tag === "DaemonUnreachable" || failure._tag === "DaemonNotReady"
      ? Effect.logWarning("export waits for the daemon", { reason: failure.message }).pipe(
        Effect.zipRight(Effect.sleep(PAUSE)),
        Effect.zipRight(Effect.suspend(() => patiently(attempt)))
      )
      : Effect.fail(failure))

const sourceOf = ({ daemon, network: wanted }: ExportSettings) =>
  Effect.gen(function*() {
    const rpc = yield* DaemonRpc.make({ ...daemon, network: wanted })
    yield* patiently(rpc.confirm)
    const sync = yield* patiently(DaemonSync.make(rpc))
    const { chain, network } = sync.info
    if (network === undefined) {
      return yield* new InvalidConfig({ field: "network", reason: `the daemon at ${rpc.address} is on ${chain}` })
    }
    const hashAt = (height: number): Effect.Effect<string | undefined, DaemonFailure> =>
      Effect.matchEffect(rpc.call(GETBLOCKHASH, { height }), {
        onSuccess: (reply) => reading(GETBLOCKHASH, reply, hashReply),
        onFailure: (failure) =>
          failure._tag === "RpcFailure" && failure.code === RPC_CODE.invalidParameter
            ? Effect.succeed(undefined)
            : Effect.fail(DaemonRpc.refused(failure))
      })
    const source: ExportSource = {
      network,
      state: sync.report,
      hashAt,
      lines: (from) => DaemonEvents.eventsOf({ rpc, query: EXPORT_QUERY, from })
    }
    return source
  })

type RunFailure = Exclude<ExportFailure, DaemonEvents.NoEvents> | InvalidConfig | { readonly message: string }

const running = (settings: ExportSettings): Effect.Effect<never, RunFailure> =>
  Effect.gen(function*() {
    const source = yield* sourceOf(settings)
    return yield* runExport({ source, target: settings.target, schema: settings.schema })
  }).pipe(
    Effect.scoped,
    Effect.catchTag("NoEvents", () => Effect.fail({ message: NO_EVENTS })),
    Effect.annotateLogs("subsystem", "export"),
    Effect.provide(Logging.layer(settings.log))
  )

export const run = (input: ExportInput): Effect.Effect<ProgramOutcome> => {
  const command = readExportCommand(input)
  if (Either.isLeft(command)) {
    return Effect.succeed(withoutSecrets(usageOutcomeOf(EXPORT_NAME, command.left), input.argv))
  }
  switch (command.right._tag) {
    case "Help":
      return Effect.succeed({ code: 0, stdout: EXPORT_HELP, stderr: "" })
    case "Version":
      return Effect.succeed({ code: 0, stdout: `${EXPORT_NAME} ${input.version}\n`, stderr: "" })
    case "Run":
      return Effect.catchAll(
        running(command.right.settings),
        (failure) => Effect.succeed(withoutSecrets(failureOutcomeOf(EXPORT_NAME, failure), input.argv))
      )
  }
}
