import * as Effect from "effect/Effect"
import { grouped, sizeText } from "../../base/quantities.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { type CliOutcome, NAME, type Screen, success } from "./outcome.ts"
import { table } from "./table.ts"

const NO_PEERS =
  `No peers are connected. "${NAME} doctor" looks for the reason. "${NAME} addnode ADDRESS add" adds one now, and ` +
  "-addpeer ADDRESS at each start of svcd.\n"

const pingText = (peer: Json): string => {
  const seconds = numberAt(peer, "pingtime")
  return seconds === undefined ? "" : `${Math.round(seconds * 1000)} ms`
}

const heightOf = (peer: Json): number =>
  Math.max(numberAt(peer, "synced_blocks") ?? -1, numberAt(peer, "synced_headers") ?? -1)

const rowOf = (peer: Json) => [
  { text: textAt(peer, "addr") ?? "" },
  { text: at(peer, "inbound") === true ? "in" : "out" },
  { text: heightOf(peer) < 0 ? "" : grouped(heightOf(peer)) },
  { text: pingText(peer) },
  { text: sizeText(numberAt(peer, "bytesrecv") ?? 0) },
  { text: sizeText(numberAt(peer, "bytessent") ?? 0) },
  { text: textAt(peer, "subver") ?? "" }
]

const MEMBERS = [
  "id",
  "addr",
  "network",
  "inbound",
  "connection_type",
  "synced_headers",
  "synced_blocks",
  "pingtime",
  "timeoffset",
  "bytesrecv",
  "bytessent",
  "conntime",
  "subver"
]

const peerJson = (peer: Json): Json => objectOf(Object.fromEntries(MEMBERS.map((member) => [member, at(peer, member)])))

export const peersCommand = (
  daemon: Daemon,
  screen: Screen,
  json: boolean
): Effect.Effect<CliOutcome, RpcClientError> =>
  Effect.map(daemon.ask("getpeerinfo"), (answer) => {
    const peers = objectsOf(answer)
    if (json) return success(`${indented(objectOf({ peers: peers.map(peerJson) }))}\n`)
    if (peers.length === 0) return success(NO_PEERS)
    const lines = table(
      [
        { title: "ADDRESS", atLeast: 21 },
        { title: "WAY" },
        { title: "HEIGHT", align: "right" },
        { title: "PING", align: "right" },
        { title: "RECEIVED", align: "right" },
        { title: "SENT", align: "right" },
        { title: "PROGRAM", atLeast: 12 }
      ],
      peers.map(rowOf),
      screen
    )
    return success(`${lines.join("\n")}\n`)
  })
