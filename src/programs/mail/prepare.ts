import * as Either from "effect/Either"
import { UsageError } from "../../config/UsageError.ts"
import { type ValueProblem, writeValue } from "../../mail/forwarding.ts"
import { labelProblem, nameOf } from "../../mail/label.ts"
import { registerInstructions, updateInstructions } from "./instructions.ts"
import { CONNECTION_FLAGS, type Texts } from "./options.ts"
import { connectionOf, type MailInput, mailNamespaceOf } from "./settings.ts"

/** `svcd-mail register` and `update`: the value of a name and the remaining steps. They call no daemon. */

const FLAG_OF: Readonly<Record<ValueProblem["field"], string>> = {
  email: "--forward: ",
  backup: "--backup: ",
  pubkey: "--pubkey: ",
  value: ""
}

/** Returns the name of a label, or what is wrong with the label. */
export const nameOfLabel = (namespace: string, label: string): Either.Either<string, UsageError> => {
  const name = nameOf(namespace, label)
  return name === undefined
    ? Either.left(new UsageError({ problems: [labelProblem(namespace, label)] }))
    : Either.right(name)
}

const valueOf = (texts: Texts): Either.Either<string, UsageError> =>
  Either.mapLeft(
    writeValue({
      email: texts.get("forward")?.at(-1) ?? "",
      backup: texts.get("backup") ?? [],
      pubkey: texts.get("pubkey")?.at(-1) ?? ""
    }),
    (problems) => new UsageError({ problems: problems.map(({ field, reason }) => FLAG_OF[field] + reason) })
  )

/** The flags with which `svcd-cli` calls the same daemon. The password is left out. */
const flagsOf = (texts: Texts): ReadonlyArray<string> =>
  CONNECTION_FLAGS.filter((name) => name !== "rpcpassword").flatMap((name) => {
    const text = texts.get(name)?.at(-1)
    return text === undefined ? [] : [`-${name}=${text}`]
  })

export const prepare = (
  operation: "register" | "update",
  label: string,
  texts: Texts,
  input: MailInput
): Either.Either<string, UsageError> =>
  Either.gen(function*() {
    const namespace = yield* mailNamespaceOf(texts, input)
    yield* connectionOf(texts, input)
    const name = yield* nameOfLabel(namespace, label)
    const prepared = { name, value: yield* valueOf(texts), flags: flagsOf(texts) }
    return operation === "register" ? registerInstructions(prepared) : updateInstructions(prepared)
  })
