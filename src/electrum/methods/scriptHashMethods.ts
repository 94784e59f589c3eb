import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { displayHash } from "../../protocol/bytes.ts"
import type { ScriptKey } from "../../protocol/keys.ts"
import type { JsonValue } from "../../rpc/json/encodeJson.ts"
import type { ElectrumError } from "../protocol/ElectrumError.ts"
import { encodeNotification } from "../protocol/envelope.ts"
import { scriptHash } from "../protocol/parameters.ts"
import { type HistoryEntry, shownKey, statusOf } from "../protocol/status.ts"
import { VERSION_1_4_2 } from "../protocol/versions.ts"
import type { PoolEntryOfScript, WholeHistory } from "../sources/Histories.ts"
import type { ElectrumCaller, ElectrumMethod, Sources } from "./method.ts"
import { takes } from "./method.ts"

export const historyJson = ({ height, txid }: HistoryEntry) => ({ tx_hash: displayHash(txid), height })

const poolJson = (entry: PoolEntryOfScript) => ({ ...historyJson(entry), fee: entry.fee })

const historyCost = (entries: number): number => 0.2 + entries * 0.001

const poolCost = (entries: number): number => 0.25 + entries / 50

/** About the text that a status hashes, for each transaction. */
const STATUS_TEXT = 72

export const wholeStatus = ({ confirmed, unconfirmed }: WholeHistory): string | null =>
  statusOf(unconfirmed.length === 0 ? confirmed : [...confirmed, ...unconfirmed])

type KeyCall = (key: ScriptKey, caller: ElectrumCaller) => Effect.Effect<JsonValue, ElectrumError>

const ofScriptHash = (name: string, call: KeyCall): ElectrumMethod => ({
  name: `blockchain.scripthash.${name}`,
  group: "scripthash",
  signature: takes(["scripthash"]),
  call: ([given], caller) => Effect.flatMap(scriptHash(given), (key) => call(key, caller))
})

const historyAnswer = ({ confirmed, unconfirmed }: WholeHistory, { charge }: Pick<ElectrumCaller, "charge">) => {
  charge(historyCost(confirmed.length) + poolCost(unconfirmed.length))
  return [...confirmed.map(historyJson), ...unconfirmed.map(poolJson)]
}

/** Methods about script hashes. */
export const electrumScriptHashes = ({ histories }: Pick<Sources, "histories">): ReadonlyArray<ElectrumMethod> => [
  {
    ...ofScriptHash(
      "get_history",
      (key, caller) => Effect.map(histories.all(key, caller), (found) => historyAnswer(found, caller))
    ),
    atOnce: ([given], caller) => {
      const key = scriptHash(given)
      const found = Either.isRight(key) ? histories.known?.(key.right) : undefined
      return found && historyAnswer(found, caller)
    }
  },
  ofScriptHash("get_mempool", (key, caller) =>
    Effect.map(histories.unconfirmed(key, caller), (pooled) => {
      caller.charge(poolCost(pooled.length))
      return pooled.map(poolJson)
    })),
  ofScriptHash(
    "get_balance",
    (key, caller) =>
      Effect.map(histories.balance(key, caller), ({ confirmed, unconfirmed }) => {
        caller.charge(1)
        return { confirmed, unconfirmed }
      })
  ),
  ofScriptHash("listunspent", (key, caller) =>
    Effect.map(histories.unspent(key, caller), (outputs) => {
      caller.charge(1 + outputs.length / 50)
      return outputs.map(({ height, txid, value, vout }) => ({
        tx_hash: displayHash(txid),
        tx_pos: vout,
        height,
        value
      }))
    })),
  ofScriptHash("subscribe", (key, caller) =>
    Effect.gen(function*() {
      const { answered, charge, follow, leave } = caller
      // Followed first: a change while the status is read would go unnoticed.
      const isNew = yield* follow(key)
      const history = yield* Effect.tapError(histories.all(key, caller), () => Effect.sync(() => isNew && leave(key)))
      const entries = history.confirmed.length + history.unconfirmed.length
      const status = wholeStatus(history)
      charge(historyCost(entries) + 0.1 + entries * STATUS_TEXT * 0.00002)
      answered(key, status)
      return status
    })),
  {
    ...ofScriptHash("unsubscribe", (key, { charge, leave }) =>
      Effect.sync(() => {
        charge(0.1)
        return leave(key)
      })),
    since: VERSION_1_4_2
  }
]

/** The message about another status. */
export const scriptNotification = (key: ScriptKey, status: string | null): string =>
  encodeNotification({ method: "blockchain.scripthash.subscribe", params: JSON.stringify([shownKey(key), status]) })
