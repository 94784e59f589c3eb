import * as Effect from "effect/Effect"
import { isMoney, parseAmount, writtenAmount } from "../../protocol/amount.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { looksSecret } from "../tool/secrets.ts"
import type { Daemon } from "./daemon.ts"
import { at, textAt } from "./jsonText.ts"
import { CommandFailed, NAME, quotedArgument } from "./outcome.ts"

/** In NMC above 0, to the smallest unit. Scripts may write an exponent such as 1e-3. */
export const amountIn = (text: string): Effect.Effect<number, CommandFailed> => {
  const exact = parseAmount(text)
  if (exact !== undefined && exact > 0 && isMoney(exact)) return Effect.succeed(exact)
  const written = writtenAmount(text)
  return "wrong" in written
    ? new CommandFailed({
      message: `the amount ${quotedArgument(text)} cannot be paid`,
      remedy: looksSecret(text) ? "an amount is a number of NMC, such as 1.5" : written.wrong
    })
    : Effect.succeed(written.units)
}

const remedyFor = (text: string): string | undefined =>
  /^[a-z]+\//.test(text) ? `that is a name: "${NAME} name ${text}" shows the address of its owner` : undefined

export const addressIn = (daemon: Daemon, text: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(daemon.ask("validateaddress", [text]), (checked) => {
    if (at(checked, "isvalid") === true) return Effect.void
    const why = textAt(checked, "error")
    if (looksSecret(text)) {
      return new CommandFailed({
        message: "this is not an address (it is hidden, because it may be a private key)",
        remedy: "ask the payee for an address; never give away a private key"
      })
    }
    return new CommandFailed({
      message: `${JSON.stringify(text)} is not an address of this network${why === undefined ? "" : `: ${why}`}`,
      remedy: remedyFor(text)
    })
  })
