import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { CHECKSUM_MISMATCH, checkText } from "../../base/checksum.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { UNSEEN_WORDS } from "../../base/recoveryWords.ts"
import { type Check, fail, warn } from "./doctorCheck.ts"
import { NAME } from "./outcome.ts"

/** What the wallet files alone say, for `doctor` without a daemon. Nothing about coins and the age of names. */

const LONGEST_FILE = 500_000_000
const MOST_FILES = 1_000

/** The members that concern the owner now. */
const Content = Schema.parseJson(Schema.Struct({
  version: Schema.Number,
  encryption: Schema.optional(Schema.Unknown),
  seed: Schema.optional(Schema.Struct({ mnemonic: Schema.optional(Schema.Unknown) })),
  phraseKept: Schema.optional(Schema.Boolean),
  phraseChecked: Schema.optional(Schema.Number),
  registrations: Schema.Array(Schema.Struct({ step: Schema.String })),
  renewals: Schema.Struct({ all: Schema.Boolean, names: Schema.Array(Schema.String) })
}))

type Content = typeof Content.Type

const decode = Schema.decodeUnknownOption(Content)

const MOVE = "do not start svcd with it; restore a backup, or see \"svcd-wallet --help\""

const read = (path: string): Either.Either<Content, Check> => {
  try {
    const { size } = statSync(path)
    if (size > LONGEST_FILE) {
      return Either.left(
        fail("wallet", { text: `${path} is not a wallet: it has ${grouped(size)} bytes`, remedy: MOVE })
      )
    }
    const { checksum, text } = checkText(readFileSync(path, "utf8"))
    if (checksum === "wrong") {
      return Either.left(fail("wallet", { text: `${path} is damaged: ${CHECKSUM_MISMATCH}`, remedy: MOVE }))
    }
    return Either.fromOption(
      decode(text),
      () => fail("wallet", { text: `${path} is not a wallet that can be read`, remedy: MOVE })
    )
  } catch (error) {
    return Either.left(fail("wallet", {
      text: `${path} cannot be read: ${reasonOf(codeOf(error))}`,
      remedy: `run ${NAME} as the user that runs the node`
    }))
  }
}

const UNDER_WAY = new Set(["committed", "maturing", "revealed"])

const renewalText = ({ all, names }: Content["renewals"]): string =>
  all ? "renew all its names" : `renew ${quantityOf(names.length, "name")}`

const contentChecks = (path: string, content: Content): ReadonlyArray<Check> => {
  const { encryption, phraseChecked, phraseKept, registrations, renewals, seed } = content
  const renews = renewals.all || renewals.names.length > 0
  const begun = registrations.filter(({ step }) => UNDER_WAY.has(step)).length
  const start = encryption === undefined
    ? "start svcd"
    : `start svcd, then unlock the wallet: "${NAME} unlock -renewals"`
  return [
    ...(renews
      ? [warn("renewals", {
        text: `${path} is set to ${renewalText(renewals)}, but no daemon answers${
          encryption === undefined ? "" : ", and the wallet is locked after a start"
        }: names can expire meanwhile`,
        remedy: start
      })]
      : [warn("renewals", {
        text: `${path} renews no names automatically, and without a daemon the expiry of its names is unknown`,
        remedy: `start svcd, then run "${NAME} names"`
      })]),
    ...(begun > 0
      ? [warn("registrations", {
        text: `${quantityOf(begun, "registration")} in ${path} cannot continue without a daemon`,
        remedy: start
      })]
      : []),
    ...(seed?.mnemonic !== undefined && phraseKept !== true
      ? [warn("backup", { text: `${path}: ${UNSEEN_WORDS}`, remedy: "\"svcd-wallet export --phrase\" shows it" })]
      : seed?.mnemonic !== undefined && phraseChecked === undefined
      ? [warn("backup", {
        text: `the seed phrase of ${path} was never verified`,
        remedy: `verify it once svcd runs: "${NAME} seed check"`
      })]
      : [])
  ]
}

const filesIn = (directory: string): ReadonlyArray<string> => {
  const folder = join(directory, "wallets")
  const names = Option.getOrElse(
    Option.liftThrowable(() => readdirSync(folder))(),
    (): ReadonlyArray<string> => []
  )
  const named = names.filter((name) => name.endsWith(".json")).slice(0, MOST_FILES).map((name) => join(folder, name))
  return [join(directory, "wallet.json"), ...named].filter((path) =>
    statSync(path, { throwIfNoEntry: false }) !== undefined
  )
}

export const walletFileChecks = (directory: string): ReadonlyArray<Check> =>
  filesIn(directory).flatMap((path) =>
    Either.match(read(path), { onLeft: (check) => [check], onRight: (content) => contentChecks(path, content) })
  )
