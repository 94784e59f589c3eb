import * as Effect from "effect/Effect"
import type { Json } from "../../rpc/json/json.ts"
import type { CallParams, RpcClientError } from "../../rpc/RpcClient.ts"
import type { Prompt } from "../tool/prompt.ts"
import type { Daemon } from "./daemon.ts"
import { CommandFailed, type Screen } from "./outcome.ts"

const YES = /^y(?:es)?$/i

/** Previews are never cut: a part of an address or a name would mislead. */
export const wholeOn = (screen: Screen): Screen => ({ ...screen, columns: undefined })

/** Returns the text to print with the outcome, empty if already shown. Fails without a yes or a terminal. */
export const agreed = (
  prompt: Prompt,
  { preview, question, yes }: { readonly preview: string; readonly question: string; readonly yes: boolean }
): Effect.Effect<string, CommandFailed> =>
  yes
    ? Effect.succeed(preview)
    : Effect.flatMap(prompt.line(`${preview}\n${question} [y/N] `), (answer) => {
      if (answer !== undefined && YES.test(answer.trim())) return Effect.succeed("")
      return new CommandFailed({
        message: answer === undefined
          ? `nothing was done, because there was no answer (-yes does not ask). This would be done:\n${preview}`
          : "nothing was done"
      })
    })

/** Sent once: a repetition could pay twice. Without an answer, the failure says that the payment may be done. */
export const spend = (
  daemon: Daemon,
  method: string,
  params: CallParams
): Effect.Effect<Json, RpcClientError | CommandFailed> =>
  Effect.catchIf(
    daemon.call(method, params),
    (error) => error._tag === "RpcUnreachable" && error.wasSent,
    (error) =>
      new CommandFailed({
        message:
          `${error.message}. The daemon may have executed the call: check with "${daemon.cli} listtransactions" and ` +
          `"${daemon.cli} names" before you retry`
      })
  )
