import * as Effect from "effect/Effect"
import { dayText, grouped, quantityOf } from "../../base/quantities.ts"
import { amountText, parseAmount } from "../../protocol/amount.ts"
import type { Json } from "../../rpc/json/json.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import { at, indented, numberAt, objectsOf, spelledAt, textAt } from "./jsonText.ts"
import { type CliOutcome, success } from "./outcome.ts"
import { type Colour, labelled } from "./table.ts"

type Row = readonly [label: string, value: string, colour?: Colour]

/** Confirmations of a safe payment, as in usual wallets. */
const SAFE = 6

const stateOf = (said: Json): Row => {
  const confirmations = numberAt(said, "confirmations") ?? 0
  const replacedBy = textAt(said, "replaced_by_txid")
  if (confirmations > 0) {
    const height = grouped(numberAt(said, "blockheight") ?? 0)
    const day = dayText(numberAt(said, "blocktime") ?? 0)
    return [
      "State",
      `in block ${height} of ${day}, with ${quantityOf(confirmations, "confirmation")}`,
      confirmations >= SAFE ? "green" : "yellow"
    ]
  }
  if (replacedBy !== undefined) return ["State", `replaced by the transaction ${replacedBy}`, "red"]
  if (confirmations < 0) {
    return ["State", "conflicted: a mined transaction spends its coins", "red"]
  }
  const isAbandoned = objectsOf(at(said, "details")).some((detail) => at(detail, "abandoned") === true)
  return isAbandoned
    ? ["State", "abandoned by the owner of the wallet", "red"]
    : ["State", "waits for a block", "yellow"]
}

const sizeOf = (said: Json, member: string): string | undefined => {
  const units = parseAmount(spelledAt(said, member) ?? "")
  return units === undefined ? undefined : amountText(Math.abs(units))
}

const WORDS: Readonly<Record<string, string>> = { send: "Paid", receive: "Received" }

const detailRow = (detail: Json): Row => {
  const name = textAt(detail, "name")
  if (name !== undefined) return ["Name", name]
  const category = textAt(detail, "category") ?? ""
  const address = textAt(detail, "address")
  const place = address === undefined ? "" : ` ${category === "send" ? "to" : "at"} ${address}`
  return [WORDS[category] ?? "Mined", `${sizeOf(detail, "amount") ?? "?"}${place}`]
}

const rowsOf = (said: Json): ReadonlyArray<Row> => {
  const fee = sizeOf(said, "fee")
  const comment = textAt(said, "comment")
  return [
    stateOf(said),
    ...objectsOf(at(said, "details")).map(detailRow),
    ...fee === undefined ? [] : [["Fee", fee] as const],
    ...comment === undefined ? [] : [["Comment", comment] as const]
  ]
}

export const txCommand = (
  { daemon, input: { screen }, line }: Pick<OwnContext, "daemon" | "input" | "line">
): Effect.Effect<CliOutcome, RpcClientError> =>
  Effect.map(
    daemon.ask("gettransaction", [line.words[0] ?? ""]),
    (said) => success(line.wants("json") ? `${indented(said)}\n` : `${labelled(rowsOf(said), screen).join("\n")}\n`)
  )
