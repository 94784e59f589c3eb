import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { unixTime } from "../../base/clock.ts"
import { quantityOf } from "../../base/quantities.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { type Daemon, isAway } from "./daemon.ts"
import { numberAt, objectOf } from "./jsonText.ts"
import { type CliInput, type CliOutcome, success } from "./outcome.ts"
import { gatherStatus, type StatusAnswers, statusJson, statusText } from "./status.ts"
import { changeLine, scanOf } from "./syncRows.ts"
import { shownText } from "./textWidth.ts"

export interface StatusWatch {
  readonly daemon: Daemon
  readonly connection: ConnectionSettings
  readonly input: Pick<CliInput, "screen" | "output">
  readonly json: boolean
}

const PAUSE = "1 second"

const REDRAW = "\u001b[H\u001b[J"

/** Clears the terminal into its scrollback. */
const CLEAR = "\u001b[2J"

/** For a file: height, phase, whole percents, peers. */
const changeText = ({ chain, network, sync, wallet }: StatusAnswers): string => {
  const scan = scanOf(wallet)
  return [
    changeLine(chain, sync),
    quantityOf(numberAt(network, "connections") ?? 0, "peer"),
    ...(scan === undefined ? [] : [scan.facts])
  ].join(", ")
}

const awayText = ({ message }: RpcClientError): string => shownText(message)

/** Unix time in seconds. */
const timeText = (time: number): string => new Date(time * 1000).toISOString()

export const watchStatus = (
  { connection, daemon, input: { output, screen }, json }: StatusWatch
): Effect.Effect<CliOutcome, RpcClientError> => {
  const redraws = screen.terminal && !json
  const printing = Effect.gen(function*() {
    let last: string | undefined
    for (;;) {
      const asked = yield* Effect.either(gatherStatus(daemon))
      if (Either.isLeft(asked)) {
        // A daemon that never answered is explained; one that restarts comes back.
        if (last === undefined || !isAway(asked.left)) return yield* asked.left
        const text = awayText(asked.left)
        if (redraws) yield* output.write(`${REDRAW}${text}\n`)
        else if (text !== last) {
          yield* output.write(
            json ? `${encodeJson(objectOf({ error: text }))}\n` : `${timeText(yield* unixTime)}  ${text}\n`
          )
        }
        last = text
        yield* Clock.sleep(PAUSE)
        continue
      }
      const answers = asked.right
      if (redraws) {
        yield* output.write((last === undefined ? CLEAR : "") + REDRAW + statusText(answers, connection, screen))
        last = ""
      } else if (changeText(answers) !== last) {
        last = changeText(answers)
        yield* output.write(json ? `${encodeJson(statusJson(answers))}\n` : `${timeText(answers.now)}  ${last}\n`)
      }
      yield* Clock.sleep(PAUSE)
    }
  })
  return Effect.as(Effect.raceFirst(printing, output.stopped), success(""))
}
