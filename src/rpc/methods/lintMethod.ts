import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type Finding, lint } from "../../values/lint.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_LINT } from "../contract/names/lint.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { absentError } from "./errors.ts"
import { contextFor, decodeGiven, shownName } from "./nameEncodings.ts"

/** Only in svcd. */

const findingJson = ({ code, column, line, message, path }: Finding) => ({ code, path, line, column, message })

export const lintMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | NameAnswers | AnswerOptions> = Effect.gen(
  function*() {
    const { params: { network } } = yield* Chain
    const answers = yield* NameAnswers
    const node = yield* AnswerOptions

    const current = (name: Bytes) =>
      answers.ask(answers.resolve(name), (found) => found === undefined).pipe(
        Effect.mapError(absentError),
        Effect.flatMap((found) =>
          found === undefined
            ? RpcError.wallet(`name never existed: ${shownName(name)}`)
            : Effect.succeed(found.record.value)
        )
      )

    const name_lint = method(NAME_LINT, ({ name: text, options: given, value: valueText }) =>
      Effect.gen(function*() {
        const { nameEncoding, valueEncoding } = contextFor(network, node, given)
        const name = yield* decodeGiven(text, nameEncoding)
        const value = valueText === undefined
          ? yield* current(name)
          : yield* decodeGiven(valueText, valueEncoding)
        const { bytes, findings, programs } = lint(name, value)
        const of = (severity: Finding["severity"]) =>
          findings.filter((finding) => finding.severity === severity).map(findingJson)
        return { bytes, errors: of("error"), warnings: of("warning"), programs }
      }))

    return [name_lint]
  }
)
