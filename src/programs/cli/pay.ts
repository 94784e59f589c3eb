import * as Effect from "effect/Effect"
import { amountText, formatAmount, parseAmount } from "../../protocol/amount.ts"
import { JsonNumber } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { looksSecret } from "../tool/secrets.ts"
import type { OwnContext } from "./commandContext.ts"
import { agreed, spend, wholeOn } from "./confirm.ts"
import { affordable, balanceOf } from "./costs.ts"
import type { Daemon } from "./daemon.ts"
import { indented, objectOf, spelledAt } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, success } from "./outcome.ts"
import { withKeys } from "./passphrase.ts"
import { addressIn, amountIn } from "./payee.ts"
import { labelled } from "./table.ts"

const jsonAmount = (units: number): JsonNumber => new JsonNumber(formatAmount(units))

const sentText = ({ cli }: Pick<Daemon, "cli">, txid: string): string =>
  `Sent with the transaction ${txid}.\n"${cli} tx ${txid}" shows when it is confirmed.\n`

export const payCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const [address = "", given = ""] = line.words
    const json = line.wants("json")
    if (parseAmount(address) !== undefined && parseAmount(given) === undefined) {
      return yield* new CommandFailed({
        message: "the address comes before the amount",
        remedy: `${daemon.cli} pay ${looksSecret(given) ? "ADDRESS" : JSON.stringify(given)} ${address}`
      })
    }
    const units = yield* amountIn(given)
    const amount = jsonAmount(units)
    yield* addressIn(daemon, address)
    yield* affordable(daemon, { balance: yield* balanceOf(daemon), cost: units })
    // A draft that is never sent shows what the payment costs.
    const draft = yield* daemon.ask("walletcreatefundedpsbt", [[], objectOf({ [address]: amount })])
    const fee = parseAmount(spelledAt(draft, "fee") ?? "")
    const preview = labelled([
      ["Pay", amountText(units)],
      ["To", address],
      ["Fee", fee === undefined ? "unknown until it is sent" : `about ${amountText(fee)}`]
    ], wholeOn(input.screen)).join("\n")
    const said = yield* agreed(input.prompt, { preview, question: "Send it?", yes: line.wants("yes") })
    const txid = yield* withKeys(
      { daemon, input },
      spend(daemon, "sendtoaddress", [address, amount, line.text("comment") ?? ""])
    )
    if (json) return success(`${indented(objectOf({ txid, address, amount }))}\n`)
    return success(`${said === "" ? "" : `${said}\n`}${sentText(daemon, typeof txid === "string" ? txid : "")}`)
  })
