import * as Either from "effect/Either"
import { UsageError } from "../../config/UsageError.ts"
import { type ValueProblem, writeValue } from "../../mail/forwarding.ts"
import { labelProblem, nameOf } from "../../mail/label.ts"
import { argvOf, type Texts } from "../tool/flags.ts"
import { registerInstructions, updateInstructions } from "./instructions.ts"
import { connectionOf, type MailInput } from "./settings.ts"

/** `svcd-mail register` and `update`: the value of a name and the remaining steps. They call no daemon. */

const FLAG_OF: Readonly<Record<ValueProblem["field"], string>> = {
  email: "--forward: ",
  backup: "--backup: ",
  pubkey: "--pubkey: ",
  value: ""
}

/** The label of a name and what stands before it. */
export interface Named {
  readonly label: string
  readonly namespace: string
}

/** Flags and label of `register` and `update`. */
interface Prepared extends Named {
  readonly forward: string
  readonly backup: ReadonlyArray<string>
  readonly pubkey: string | undefined
  readonly connection: Texts
}

/** Returns the name of a label, or what is wrong with the label. */
export const nameOfLabel = ({ label, namespace }: Named): Either.Either<string, UsageError> => {
  const name = nameOf({ namespace, text: label })
  return name === undefined
    ? Either.left(new UsageError({ problems: [labelProblem({ namespace, text: label })] }))
    : Either.right(name)
}

const valueOf = ({ backup, forward, pubkey = "" }: Prepared): Either.Either<string, UsageError> =>
  Either.mapLeft(
    writeValue({ email: forward, backup, pubkey }),
    (problems) => new UsageError({ problems: problems.map(({ field, reason }) => FLAG_OF[field] + reason) })
  )

/** The flags with which `svcd-cli` calls the same daemon. The password is left out. */
const flagsOf = ({ connection }: Prepared): ReadonlyArray<string> =>
  argvOf(new Map([...connection].filter(([name]) => name !== "rpcpassword")))

export const prepare = (
  operation: "register" | "update",
  flags: Prepared,
  input: MailInput
): Either.Either<string, UsageError> =>
  Either.gen(function*() {
    yield* connectionOf(flags.connection, input)
    const name = yield* nameOfLabel(flags)
    const prepared = { name, value: yield* valueOf(flags), flags: flagsOf(flags) }
    return operation === "register" ? registerInstructions(prepared) : updateInstructions(prepared)
  })
