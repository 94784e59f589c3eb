import * as Effect from "effect/Effect"
import { quantityOf } from "../../base/quantities.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { ask } from "./ask.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { namedBy } from "./nameHints.ts"
import { type CliOutcome, CommandFailed, NAME, success } from "./outcome.ts"
import { shownText } from "./textWidth.ts"

/** `svcd-cli autorenew`: whether the wallet renews a name, or all names, automatically. */

const USAGE = new CommandFailed({
  message: `give a name or -all, and on or off: "${NAME} autorenew d/example on"`
})

/** The name, `undefined` for all, and the setting. */
const wanted = ({ line }: Pick<OwnContext, "line">) =>
  Effect.gen(function*() {
    const isAll = line.wants("all")
    const setting = line.words.at(-1)
    if (line.words.length !== (isAll ? 1 : 2) || (setting !== "on" && setting !== "off")) return yield* USAGE
    return { name: isAll ? undefined : yield* namedBy(line.words[0]), on: setting === "on" }
  })

/** A locked wallet renews nothing. */
const lockLine = (context: OwnContext): Effect.Effect<ReadonlyArray<string>, RpcClientError> =>
  Effect.map(
    ask(context.daemon, "getwalletinfo"),
    (wallet) =>
      numberAt(wallet, "unlocked_until") === 0
        ? [`The wallet is locked: "${context.daemon.cli} unlock -renewals" lets it renew.`]
        : []
  )

const SHOWN = 3

/** Names that were set one by one keep their setting. */
const stillLines = ({ cli }: Pick<Daemon, "cli">, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const others = names.length - SHOWN
  return [
    `It still renews ${names.slice(0, SHOWN).map(shownText).join(", ")}${
      others > 0 ? ` and ${quantityOf(others, "other", "others")}` : ""
    }, which you turned on by name: "${cli} autorenew NAME off"`
  ]
}

export const autorenewCommand = (
  context: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { daemon, line } = context
    const { name, on } = yield* wanted(context)
    const answer = yield* daemon.call("name_autorenew", [name ?? null, on, { nameEncoding: "utf8" }])
    if (line.wants("json")) {
      return success(`${indented(objectOf({ name: name ?? null, on, all: at(answer, "all") }))}\n`)
    }
    const what = name === undefined ? "all its names" : shownText(name)
    const lines = on
      ? [`The wallet renews ${what} automatically, before they expire.`, ...(yield* lockLine(context))]
      : [
        `The wallet no longer renews ${what} automatically. "${daemon.cli} names" shows when they expire, and ` +
        `"${daemon.cli} renew NAME" renews one.`
      ]
    const still = name === undefined && !on
      ? objectsOf(at(answer, "names")).map((each) => textAt(each, "name") ?? "")
      : []
    const one = lines.map((text) =>
      name === undefined
        ? text
        : text.replace("they expire", "it expires").replace("renew NAME\" renews one", `renew ${what}" renews it`)
    )
    return success([...one, ...stillLines(daemon, still), ""].join("\n"))
  })
