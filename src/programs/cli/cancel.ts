import * as Effect from "effect/Effect"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { UNSENT_TXID } from "../../rpc/shapes/name.ts"
import { ask } from "./ask.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { namedBy } from "./nameHints.ts"
import { ONE_NAME } from "./nameRecord.ts"
import { type CliOutcome, type CommandFailed, success } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

/** `svcd-cli cancel`: ends a registration, or a renewal that waits. */

const registrationText = (
  { cli }: Pick<Daemon, "cli">,
  shown: string,
  registration: Json | undefined
): string => {
  const begin = `The registration of ${shown} is cancelled: the name will not be registered.`
  return textAt(registration, "txid") === UNSENT_TXID
    ? `${begin} Nothing was sent or paid.`
    : `${begin} The 0.01 NMC of its first transaction stay locked: "${cli} register ${shown}" uses them, and continues ` +
      "from there."
}

export const cancelCommand = (
  { daemon, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const name = yield* namedBy(line.words[0])
    const registration = objectsOf(yield* ask(daemon, "name_registrations", { options: ONE_NAME })).find((each) =>
      textAt(each, "name") === name && !["done", "failed"].includes(textAt(each, "step") ?? "")
    )
    const answer = yield* daemon.call("name_cancel", [name, { nameEncoding: "utf8" }])
    const cancelled = textAt(answer, "cancelled")
    if (line.wants("json")) return success(`${indented(objectOf({ name, cancelled: at(answer, "cancelled") }))}\n`)
    const shown = shownText(name)
    return success(
      cancelled === "renewal"
        ? `The renewal of ${shown} is cancelled: it was not sent. "${daemon.cli} name ${shown}" shows when the name expires.\n`
        : `${registrationText(daemon, shown, registration)}\n`
    )
  })
