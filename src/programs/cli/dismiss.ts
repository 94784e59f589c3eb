import * as Effect from "effect/Effect"
import { quantityOf } from "../../base/quantities.ts"
import { toHex } from "../../protocol/bytes.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { indented, objectOf, objectsOf } from "./jsonText.ts"
import { namedBy } from "./nameHints.ts"
import { type CliOutcome, type CommandFailed, success, usageOutcome } from "./outcome.ts"
import { entryJson, nameWithDomain, ownNamesOf } from "./ownNames.ts"
import { shownText } from "./textWidth.ts"

/** `svcd-cli dismiss NAME | -all`: the owner knows of a danger, so nothing warns of it any more. */
export const dismissCommand = (
  { daemon, line }: Pick<OwnContext, "daemon" | "line">
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const [word] = line.words
    if ((word === undefined) !== line.wants("all")) {
      return usageOutcome(["give a name, or -all for all names in danger"])
    }
    const name = word === undefined ? undefined : yield* namedBy(word)
    const done = yield* daemon.ask("name_acknowledge", {
      ...(name === undefined ? {} : { names: [toHex(new TextEncoder().encode(name))] }),
      options: { nameEncoding: "hex" }
    })
    const dismissed = ownNamesOf(objectsOf(done))
    if (line.wants("json")) return success(`${indented(dismissed.map((entry) => objectOf(entryJson(entry))))}\n`)
    if (dismissed.length === 0) {
      return success(name === undefined ? "No name is in danger.\n" : `Nothing warns of ${shownText(name)}.\n`)
    }
    const [first] = dismissed
    return success(
      first !== undefined && dismissed.length === 1
        ? `Nothing warns of ${shownText(nameWithDomain(first.name))} until something else happens to it.\n`
        : `Nothing warns of ${quantityOf(dismissed.length, "name")} until something else happens to them.\n`
    )
  })
