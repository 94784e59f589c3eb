import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ConnectionSettings } from "../../config/connection.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { numberAt } from "./jsonText.ts"
import { type CliInput, type CliOutcome, success } from "./outcome.ts"
import { quantityOf } from "./quantities.ts"
import { gatherStatus, type StatusAnswers, statusJson, statusText } from "./status.ts"
import { changeLine, scanOf } from "./syncRows.ts"

/** `svcd-cli status -watch`: the status again and again, until the user has enough. */

export interface StatusWatch {
  readonly daemon: Daemon
  readonly connection: ConnectionSettings
  readonly input: Pick<CliInput, "screen" | "output">
  readonly json: boolean
}

const PAUSE = "1 second"

/** Moves the cursor to the top left corner and clears what is below it. */
const REDRAW = "\u001b[H\u001b[J"

/** Clears the whole terminal, and what was there stays above. */
const CLEAR = "\u001b[2J"

/** What a reader of a file wants to know of: height, phase, whole percents, peers. */
const changeText = ({ chain, network, sync, wallet }: StatusAnswers): string => {
  const scan = scanOf(wallet)
  return [
    changeLine(chain, sync),
    quantityOf(numberAt(network, "connections") ?? 0, "peer"),
    ...(scan === undefined ? [] : [scan.facts])
  ].join(", ")
}

export const watchStatus = (
  { connection, daemon, input: { output, screen }, json }: StatusWatch
): Effect.Effect<CliOutcome, RpcClientError> => {
  const redraws = screen.terminal && !json
  const printing = Effect.gen(function*() {
    let last: string | undefined
    for (;;) {
      const answers = yield* gatherStatus(daemon)
      if (redraws) {
        yield* output.write((last === undefined ? CLEAR : "") + REDRAW + statusText(answers, connection, screen))
        last = ""
      } else if (changeText(answers) !== last) {
        last = changeText(answers)
        const time = new Date(answers.now * 1000).toISOString()
        yield* output.write(json ? `${encodeJson(statusJson(answers))}\n` : `${time}  ${last}\n`)
      }
      yield* Clock.sleep(PAUSE)
    }
  })
  return Effect.as(Effect.raceFirst(printing, output.stopped), success(""))
}
