import * as Effect from "effect/Effect"
import { aboutText } from "../../protocol/amount.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { lintWarnings } from "../../values/lint.ts"
import type { OwnContext } from "./commandContext.ts"
import { agreed, spend, wholeOn } from "./confirm.ts"
import { affordable, balanceOf, costsOf } from "./costs.ts"
import type { Daemon } from "./daemon.ts"
import { indented, objectOf } from "./jsonText.ts"
import { knowingly, noteRows, valueSurprises } from "./nameHints.ts"
import { SENT_NAME, stillHas, updatableName, usedName } from "./nameRecord.ts"
import { type CliOutcome, CommandFailed, NAME, success } from "./outcome.ts"
import { withKeys } from "./passphrase.ts"
import { labelled } from "./table.ts"
import { shownText } from "./textWidth.ts"
import { requestedValue } from "./valueFlags.ts"
import { acceptable, roomText, valueLine, valueLines, valueReport } from "./valueReport.ts"

const UTF8 = new TextEncoder()

export const sentText = (
  said: string,
  { cli, name, txid }: Pick<Daemon, "cli"> & { readonly name: string; readonly txid: string }
): string =>
  `${said === "" ? "" : `${said}\n`}Sent with the transaction ${txid}.\n` +
  `"${cli} name ${shownText(name)}" shows it; it takes effect once it is in a block.\n`

export const updateCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { prompt } = input
    const screen = wholeOn(input.screen)
    const { host, name, surprises: read } = yield* usedName(daemon, line.words[0])
    const { value: shown } = yield* updatableName(daemon, name)
    const { hex, text: before } = shown
    const value = yield* requestedValue({ name, host, before, line, input })
    if (value === undefined) {
      return yield* new CommandFailed({
        message:
          `there is no new value: give flags such as -ip, or -value, -file or -remove; see "${NAME} update -help". ` +
          `"${daemon.cli} renew ${name}" renews the name as it is`
      })
    }
    if (value === before) {
      return yield* new CommandFailed({
        message: `the value is unchanged; "${daemon.cli} renew ${name}" renews the name as it is`
      })
    }
    const surprises = valueSurprises(read, line)
    yield* knowingly(line, { surprises, remedy: `give exactly ${name} if you mean this name` })
    const report = valueReport(name, value)
    yield* acceptable({ value, report, line })
    const { operation } = yield* costsOf(daemon, UTF8.encode(name).length + UTF8.encode(value).length)
    yield* affordable(daemon, { balance: yield* balanceOf(daemon), cost: operation })
    const preview = [
      ...labelled([
        ["Update", name],
        ["Fee", aboutText(operation)],
        ...noteRows(surprises),
        ["Before", ""]
      ], screen),
      valueLine(before ?? `0x${hex}`),
      ...labelled([["After", roomText(report)]], screen),
      ...valueLines(value, report, screen)
    ].join("\n")
    const said = yield* agreed(prompt, { preview, question: "Send it?", yes: line.wants("yes") })
    if (!line.wants("yes")) yield* stillHas(daemon, { name, shown })
    const answer = yield* withKeys(
      { daemon, input },
      spend(daemon, "name_update", [name, Buffer.from(value, "utf8").toString("hex"), SENT_NAME])
    )
    const txid = typeof answer === "string" ? answer : ""
    if (!line.wants("json")) return success(sentText(said, { cli: daemon.cli, name, txid }))
    const warnings = lintWarnings(name, value)
    return success(`${indented(objectOf({ name, txid, before: before ?? null, value, warnings }))}\n`)
  })
