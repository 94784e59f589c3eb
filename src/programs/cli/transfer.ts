import * as Effect from "effect/Effect"
import { aboutText } from "../../protocol/amount.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { agreed, spend, wholeOn } from "./confirm.ts"
import { affordable, balanceOf, costsOf } from "./costs.ts"
import { indented, objectOf } from "./jsonText.ts"
import { knowingly, noteRows } from "./nameHints.ts"
import { SENT_NAME, stillHas, updatableName, usedName } from "./nameRecord.ts"
import { type CliOutcome, type CommandFailed, success } from "./outcome.ts"
import { withKeys } from "./passphrase.ts"
import { addressIn } from "./payee.ts"
import { labelled } from "./table.ts"
import { sentText } from "./update.ts"

const LOSS = "The name, its 0.01 NMC and its current value go to the owner of this address. " +
  "If no wallet has the key of the address, the name is lost for good."

export const transferCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { prompt } = input
    const screen = wholeOn(input.screen)
    const [word, address = ""] = line.words
    const { name, surprises } = yield* usedName(daemon, word)
    const { value } = yield* updatableName(daemon, name)
    yield* addressIn(daemon, address)
    yield* knowingly(line, { surprises, remedy: `give exactly ${name} if you mean this name` })
    const { operation } = yield* costsOf(daemon, name.length + value.hex.length / 2)
    yield* affordable(daemon, { balance: yield* balanceOf(daemon), cost: operation })
    const preview = [
      ...labelled([["Transfer", name], ["To", address], ["Fee", aboutText(operation)], ...noteRows(surprises)], screen),
      LOSS
    ].join("\n")
    const said = yield* agreed(prompt, { preview, question: "Give it away?", yes: line.wants("yes") })
    if (!line.wants("yes")) yield* stillHas(daemon, { name, shown: value })
    const answer = yield* withKeys(
      { daemon, input },
      spend(daemon, "name_update", [name, value.hex, { ...SENT_NAME, destAddress: address }])
    )
    const txid = typeof answer === "string" ? answer : ""
    return success(
      line.wants("json")
        ? `${indented(objectOf({ name, txid, address }))}\n`
        : sentText(said, { cli: daemon.cli, name, txid })
    )
  })
