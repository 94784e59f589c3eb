import * as Effect from "effect/Effect"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { indented, numberAt, objectsOf, textAt } from "./jsonText.ts"
import { type CliOutcome, NAME, type Screen, success, usageOutcome } from "./outcome.ts"
import { type Colour, table } from "./table.ts"

export interface DnskeyCommandOptions {
  /** `list`, `show` or `roll`; `list` if it is left out. */
  readonly action: string | undefined
  readonly json: boolean
}

const COLOURS: ReadonlyMap<string, Colour> = new Map([["active", "green"], ["new", "yellow"], ["leaving", "yellow"], [
  "revoked",
  "red"
]])

const dayText = (seconds: number | undefined): string =>
  seconds === undefined ? "" : new Date(1000 * seconds).toISOString().slice(0, 10)

const rowOf = (key: Json) => {
  const state = textAt(key, "state") ?? ""
  return [
    { text: String(numberAt(key, "keytag") ?? "") },
    { text: state, colour: COLOURS.get(state) ?? "dim" as const },
    { text: dayText(numberAt(key, "until")) },
    { text: dayText(numberAt(key, "created")) },
    { text: textAt(key, "ds") ?? "" }
  ]
}

const listText = (keys: ReadonlyArray<Json>, screen: Screen): string =>
  [
    ...table(
      [{ title: "KEY TAG" }, { title: "STATE" }, { title: "UNTIL" }, { title: "CREATED" }, {
        title: "DS",
        atLeast: 24
      }],
      keys.map(rowOf),
      screen
    ),
    ""
  ].join("\n")

/** The lines by which each resolver trusts the key. */
const anchorText = (key: Json): string => {
  const [dnskey, ds] = [textAt(key, "dnskey") ?? "", textAt(key, "ds") ?? ""]
  const [flags, protocol, algorithm, point] = dnskey.split(" ")
  const until = numberAt(key, "until")
  return [
    `Key ${numberAt(key, "keytag")}, ${textAt(key, "state")}${until === undefined ? "" : ` until ${dayText(until)}`}`,
    "",
    `bit. IN DNSKEY ${dnskey}`,
    `bit. IN DS ${ds}`,
    "",
    "Unbound, in the section server: of unbound.conf; the file named there has the DS record",
    "  auto-trust-anchor-file: \"/var/lib/unbound/bit.ds\"",
    "BIND, in named.conf",
    `  trust-anchors { bit. initial-key ${flags} ${protocol} ${algorithm} "${point}"; };`,
    "systemd-resolved, in /etc/dnssec-trust-anchors.d/bit.positive",
    `  bit. IN DS ${ds}`,
    "Knot Resolver 5, in kresd.conf, with the DNSKEY record in that file",
    "  trust_anchors.add_file('/var/lib/knot-resolver/bit.key')",
    ""
  ].join("\n")
}

/** A key to trust now, or soon. */
const isToTrust = (key: Json): boolean => ["active", "new"].includes(textAt(key, "state") ?? "")

const ROLLED =
  "The new key signs after 30 days. Resolvers that follow RFC 5011 then trust it by themselves; give the others its DS " +
  `record before that ("${NAME} dnskey show"). Back up dns/ in the data directory.\n`

export const dnskeyCommand = (
  daemon: Daemon,
  screen: Screen,
  { action = "list", json }: DnskeyCommandOptions
): Effect.Effect<CliOutcome, RpcClientError> => {
  if (!["list", "show", "roll"].includes(action)) {
    return Effect.succeed(usageOutcome(["dnskey: takes list, show or roll"]))
  }
  const asked = action === "roll" ? daemon.call("rolldnskey", []) : daemon.ask("listdnskeys")
  return Effect.map(asked, (answer) => {
    if (json) return success(`${indented(answer)}\n`)
    const keys = objectsOf(answer)
    if (action === "show") return success(keys.filter(isToTrust).map(anchorText).join("\n"))
    return success(action === "roll" ? `${listText(keys, screen)}\n${ROLLED}` : listText(keys, screen))
  })
}
