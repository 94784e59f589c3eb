import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { type NameAnswer, NameAnswers } from "../../light/NameAnswers.ts"
import { isProved, PROOF_LEVELS, type ProofLevel } from "../../light/proof.ts"
import { waitText } from "../../light/syncReport.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { toHex } from "../../protocol/bytes.ts"
import { printable } from "../../protocol/nameText.ts"
import { AnswerOptions } from "../../rpc/AnswerOptions.ts"
import type { Phase } from "../../rpc/Lifecycle.ts"
import { nameInfoText } from "../../rpc/shapes/name.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { FORMATS, isNamePath, type NameTarget, readNameTarget } from "./nameTarget.ts"
import { restAnswer, restFailure } from "./restAnswer.ts"
import { FIND_PATH } from "./restFind.ts"
import { isNameProofPath } from "./restProofs.ts"
import { isResolvePath } from "./restResolve.ts"

/**
 * `GET /rest/name/<name>.<format>`: the value of a name, raw or in hex, or its record. As upstream (`rest.cpp`,
 * `rest_name`), it answers for expired names and requires no credentials.
 */

const unavailable = (why: string): PageAnswer => restFailure(503, `Service temporarily unavailable: ${why}`)

const serves: PageHandler["serves"] = ({ path }) => isNamePath(path)

/** While the node is starting, before the name database is open. */
export const restStarting = (phase: () => Phase): PageHandler => ({
  serves: (request) =>
    serves(request) || request.path === FIND_PATH || isResolvePath(request.path) || isNameProofPath(request.path),
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
  Chain | NameAnswers | AnswerOptions | SyncReporter
> = Effect.gen(
  function*() {
    const { params } = yield* Chain
    const answers = yield* NameAnswers
    const { report } = yield* SyncReporter
    const { nameEncoding, requireProof = "work", valueEncoding } = yield* AnswerOptions
    const context = { network: params.network, nameEncoding, valueEncoding }

    const show = (
      { proof, record }: NameAnswer,
      format: NameTarget["format"]
    ): Effect.Effect<PageAnswer, StorageFailure> => {
      switch (format) {
        case "bin":
          return Effect.succeed(restAnswer(200, "application/octet-stream", record.value))
        case "hex":
          return Effect.succeed(restAnswer(200, "text/plain", `${toHex(record.value)}\n`))
        case "json":
          return Effect.map(answers.height, (tipHeight) => {
            const { text } = nameInfoText(context, record, { clock: { tipHeight, params }, ismine: undefined })
            const proved = proof === "full" ? text : `${text.slice(0, -1)},"proof":"${proof}"}`
            return restAnswer(200, "application/json", `${proved}\n`)
          })
        default: {
          const available = FORMATS.map((each) => `.${each}`).join(", ")
          return Effect.succeed(restFailure(404, `output format not found (available: ${available})`))
        }
      }
    }

    const waiting = Effect.map(report, (now) => {
      const wait = waitText(now)
      return unavailable(`Namecoin is downloading blocks...${wait === "" ? "" : ` (${wait})`}`)
    })

    const read = ({ encoded, format, name }: NameTarget, required: ProofLevel): Effect.Effect<PageAnswer> => {
      if (name === undefined) return Effect.succeed(restFailure(400, `Invalid encoded name: ${encoded}`))
      return answers.ask(answers.resolve(name), (found) => found === undefined).pipe(
        Effect.flatMap((found) => {
          const proof = found?.proof ?? answers.proofOfAbsence()
          if (!isProved({ proof }, required)) {
            return Effect.succeed(unavailable(`The answer rests on ${proof}, not on ${required}`))
          }
          return found === undefined
            ? Effect.succeed(restFailure(404, `${printable(name)} not found`))
            : show(found, format)
        }),
        Effect.catchTag("NamesIncomplete", () => waiting),
        // Callers without credentials must not see paths of files.
        Effect.catchAll(({ message }) =>
          Effect.as(Effect.logError("names cannot be read", { reason: message }), restFailure(500, "Internal error"))
        )
      )
    }

    const requiredBy = (query: URLSearchParams): ProofLevel | undefined => {
      const asked = query.get("requireProof")
      return asked === null ? requireProof : PROOF_LEVELS.find((level) => level === asked)
    }

    return {
      serves,
      authenticated: false,
      answer: ({ path, query }) => {
        const required = requiredBy(query)
        return required === undefined
          ? Effect.succeed(restFailure(400, "Invalid value for requireProof: work, signatures or full"))
          : read(readNameTarget(path), required)
      }
    }
  }
)
