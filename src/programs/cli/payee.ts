import * as Effect from "effect/Effect"
import { isMoney, MAX_MONEY, parseAmount, shortAmount } from "../../protocol/amount.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, textAt } from "./jsonText.ts"
import { CommandFailed, NAME } from "./outcome.ts"

/** Amounts and addresses that a user types, and what is wrong with them. */

/** The decimals of a number, such as `000000001`, unless it has an exponent. */
const decimalsOf = (text: string): string => /^\d+\.(\d+)$/.exec(text)?.[1] ?? ""

const mistakeIn = (text: string): string => {
  if (/^\d*,\d+$/.test(text)) return `write a point in place of the comma: ${text.replace(",", ".")}`
  if (decimalsOf(text).length > 8) return "an amount has at most eight decimals"
  return "write a number, as 1.5"
}

/** Reads an amount in NMC above 0 into the smallest unit. */
export const amountIn = (text: string): Effect.Effect<number, CommandFailed> => {
  const units = parseAmount(text)
  if (units !== undefined && units > MAX_MONEY) {
    return new CommandFailed({
      message: `the amount ${JSON.stringify(text)} is more than all coins: there are never more than ${
        shortAmount(MAX_MONEY)
      } NMC`
    })
  }
  return units === undefined || units <= 0 || !isMoney(units)
    ? new CommandFailed({
      message: `the amount ${JSON.stringify(text)} is not a number of NMC above 0`,
      remedy: mistakeIn(text)
    })
    : Effect.succeed(units)
}

const remedyFor = (text: string): string | undefined =>
  /^[a-z]+\//.test(text) ? `that is a name: "${NAME} name ${text}" shows the address of its owner` : undefined

/** Fails if the daemon knows no such address, with what it says about it. */
export const addressIn = (daemon: Daemon, text: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(daemon.call("validateaddress", [text]), (checked) => {
    if (at(checked, "isvalid") === true) return Effect.void
    const why = textAt(checked, "error")
    return new CommandFailed({
      message: `${JSON.stringify(text)} is not an address of this network${why === undefined ? "" : `: ${why}`}`,
      remedy: remedyFor(text)
    })
  })
