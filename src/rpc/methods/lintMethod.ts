import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { isExpired } from "../../consensus/expiry.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type Finding, lint, lintRecord } from "../../values/lint.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_LINT } from "../contract/names/lint.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { absentError, storageError } from "./errors.ts"
import { contextFor, decodeGiven, shownName } from "./nameEncodings.ts"

/** Only in svcd. */

const findingJson = ({ code, column, line, message, path }: Finding) => ({ code, path, line, column, message })

export const lintMethods: Methods<Chain | NameAnswers | AnswerOptions> = Effect.gen(function*() {
  const { params } = yield* Chain
  const { network } = params
  const answers = yield* NameAnswers
  const node = yield* AnswerOptions

  const current = (name: Bytes) =>
    answers.ask(answers.resolve(name), (found) => found === undefined).pipe(
      Effect.mapError(absentError),
      Effect.flatMap((found) =>
        found === undefined
          ? RpcError.wallet(`name never existed: ${shownName(name)}`)
          : Effect.map(Effect.mapError(answers.height, storageError), (height) => ({
            value: found.record.value,
            expired: isExpired(found.record, height, params)
          }))
      )
    )

  const name_lint = method(NAME_LINT, ({ name: text, options: given, value: valueText }) =>
    Effect.gen(function*() {
      const { nameEncoding, valueEncoding } = contextFor(network, node, given)
      const name = yield* decodeGiven(text, nameEncoding)
      const { bytes, findings, programs } = valueText === undefined
        ? yield* Effect.map(current(name), ({ expired, value }) => lintRecord({ name, value }, { expired }))
        : lint(name, yield* decodeGiven(valueText, valueEncoding))
      const of = (severity: Finding["severity"]) =>
        findings.filter((finding) => finding.severity === severity).map(findingJson)
      return { bytes, errors: of("error"), warnings: of("warning"), programs }
    }))

  return [name_lint]
})
