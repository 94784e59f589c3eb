import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { MOST_WORDS } from "../../../wallet/keys/recovery.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { BAD_PLACE, BAD_WORD, CHECKRECOVERYWORDS } from "../../contract/wallet/recovery.ts"
import { ABORTRESCAN, RESCANBLOCKCHAIN } from "../../contract/wallet/rescan.ts"
import { SCANNING } from "../../contract/wallet/walletParams.ts"
import type { JsonObject } from "../../json/json.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.9. */

export const rescanMethods: Methods<Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const rescanblockchain = make(RESCANBLOCKCHAIN, ({ start_height, stop_height }, wallet) =>
    Effect.gen(function*() {
      if (wallet.ledger.scanning() !== undefined) return yield* RpcError.wallet(SCANNING)
      const { height } = wallet.ledger.lastBlock()
      if (start_height < 0 || start_height > height) return yield* RpcError.invalidParameter("Invalid start_height")
      if (stop_height !== undefined) {
        if (stop_height < 0 || stop_height > height) return yield* RpcError.invalidParameter("Invalid stop_height")
        if (stop_height < start_height) {
          return yield* RpcError.invalidParameter("stop_height must be greater than start_height")
        }
      }
      return { start_height, stop_height: yield* wallet.ledger.rescan(start_height, stop_height) }
    }))

  const abortrescan = make(ABORTRESCAN, (_, wallet) => Effect.sync(() => wallet.ledger.abortRescan()))

  return [rescanblockchain, abortrescan]
})

/** The owner shows that the seed phrase is written down. */

const PLACE = /^[1-9]\d?$/

/** By position. Errors never repeat a word. */
const wordsOf = (given: JsonObject): Effect.Effect<ReadonlyMap<number, Redacted.Redacted<string>>, RpcError> => {
  const words = new Map<number, Redacted.Redacted<string>>()
  for (const [at, key] of given.keys.entries()) {
    const [place, word] = [Number(key), given.values[at]]
    if (!PLACE.test(key) || place > MOST_WORDS || words.has(place)) return RpcError.invalidParameter(BAD_PLACE)
    if (typeof word !== "string") return RpcError.invalidParameter(BAD_WORD)
    words.set(place, Redacted.make(word))
  }
  return Effect.succeed(words)
}

export const recoveryMethods: Methods<Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const checkrecoverywords = make(CHECKRECOVERYWORDS, ({ words }, { recovery }) =>
    Effect.gen(function*() {
      const correct = yield* recovery.checkWords(yield* wordsOf(words))
      return { correct, phrase_checked: recovery.phraseChecked() }
    }))

  return [checkrecoverywords]
})
