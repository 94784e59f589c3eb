import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { ChainCoins } from "../../chain/ChainCoins.ts"
import type { SyncStatus } from "../../chain/SyncStatus.ts"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { completeNames } from "../../names/completeNames.ts"
import { NameDb, type NameEntry } from "../../names/NameDb.ts"
import { toHex } from "../../protocol/bytes.ts"
import { printable } from "../../protocol/nameText.ts"
import type { Phase } from "../../rpc/Lifecycle.ts"
import { NodeOptions } from "../../rpc/NodeOptions.ts"
import { nameInfoText } from "../../rpc/shapes/name.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { FORMATS, isNamePath, type NameTarget, readNameTarget } from "./nameTarget.ts"

/**
 * `GET /rest/name/<name>.<format>`: the value of a name, bare or in hexadecimal digits, or its record. As upstream,
 * it answers for expired names, and requires no credentials. Upstream `rest.cpp`, `rest_name`.
 */

const answer = (status: number, type: string, body: string | Uint8Array): PageAnswer => ({
  status,
  // Values of names are foreign content: browsers must not guess that they are pages.
  headers: { "Content-Type": type, "X-Content-Type-Options": "nosniff" },
  body
})

const failure = (status: number, text: string): PageAnswer => answer(status, "text/plain", `${text}\r\n`)

const unavailable = (why: string): PageAnswer => failure(503, `Service temporarily unavailable: ${why}`)

const serves: PageHandler["serves"] = ({ path }) => isNamePath(path)

/** The answer while the node is starting: the name database is not open yet. */
export const restStarting = (phase: () => Phase): PageHandler => ({
  serves,
  authenticated: false,
  answer: () =>
    Effect.sync(() => {
      const now = phase()
      return unavailable(now._tag === "WarmUp" ? now.step : "starting")
    })
})

export const restNames: Effect.Effect<
  PageHandler,
  never,
  Chain | ChainCoins | NameDb | NodeOptions | SyncStatus | DataHealth
> = Effect.gen(
  function*() {
    const { params } = yield* Chain
    const names = yield* NameDb
    const { ask } = yield* completeNames()
    const { nameEncoding, valueEncoding } = yield* NodeOptions
    const context = { network: params.network, nameEncoding, valueEncoding }

    const show = (record: NameEntry, format: NameTarget["format"]): Effect.Effect<PageAnswer, StorageFailure> => {
      switch (format) {
        case "bin":
          return Effect.succeed(answer(200, "application/octet-stream", record.value))
        case "hex":
          return Effect.succeed(answer(200, "text/plain", `${toHex(record.value)}\n`))
        case "json":
          return Effect.map(names.cursor, (cursor) => {
            const clock = { tipHeight: cursor?.height ?? 0, params }
            return answer(
              200,
              "application/json",
              `${nameInfoText(context, record, { clock, ismine: undefined }).text}\n`
            )
          })
        default: {
          const available = FORMATS.map((each) => `.${each}`).join(", ")
          return Effect.succeed(failure(404, `output format not found (available: ${available})`))
        }
      }
    }

    const read = ({ encoded, format, name }: NameTarget): Effect.Effect<PageAnswer> => {
      if (name === undefined) return Effect.succeed(failure(400, `Invalid encoded name: ${encoded}`))
      const resolved = Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
      return ask(resolved, (record) => record === undefined).pipe(
        Effect.flatMap((record) =>
          record === undefined
            ? Effect.succeed(failure(404, `${printable(name)} not found`))
            : show(record, format)
        ),
        Effect.catchTag(
          "NamesIncomplete",
          () => Effect.succeed(unavailable("Namecoin is downloading blocks..."))
        ),
        // Callers without credentials must not see paths of files.
        Effect.catchAll(({ message }) =>
          Effect.as(Effect.logError("names cannot be read", { reason: message }), failure(500, "Internal error"))
        )
      )
    }

    return { serves, authenticated: false, answer: ({ path }) => read(readNameTarget(path)) }
  }
)
