import * as Effect from "effect/Effect"
import { URGENCIES } from "../../../base/outlookWords.ts"
import type { SyncStatus } from "../../../chain/SyncStatus.ts"
import { isAlarm } from "../../../wallet/names/outlooks.ts"
import type { NameOutlook } from "../../../wallet/names/WalletNames.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import { MOST_ALERTS, NAME_ACKNOWLEDGE, NAME_ALERTS } from "../../contract/wallet/alert.ts"
import { method } from "../../method/method.ts"
import type { CallContext, Method } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { nameTextJson, outlookJson } from "../../shapes/name.ts"
import { storageError } from "../errors.ts"
import { contextFor } from "../nameEncodings.ts"
import { nameGiven, type NameMethodParts } from "./nameOptions.ts"
import { selectWallet } from "./walletContext.ts"

/** Only in svcd. */

export interface AlertMethodParts extends NameMethodParts {
  readonly status: typeof SyncStatus.Service
}

interface OfWallet extends NameOutlook {
  readonly wallet: string
}

const rank = ({ outlook: { urgency } }: NameOutlook): number => URGENCIES.indexOf(urgency)

export const makeAlertMethods = ({ chain, node, status, wallets }: AlertMethodParts): ReadonlyArray<Method> => {
  const { network } = chain.params

  const chosen = (context: CallContext): Effect.Effect<ReadonlyArray<Wallet>, RpcError> =>
    context.wallet === undefined
      ? Effect.sync(() => wallets.loaded())
      : Effect.map(selectWallet(wallets, context), (wallet) => [wallet])

  const contextOf = (nameEncoding: string | undefined) =>
    contextFor(network, node, { nameEncoding, valueEncoding: undefined })

  const name_alerts = method(NAME_ALERTS, ({ options: { all, nameEncoding } }, call) =>
    Effect.gen(function*() {
      const context = contextOf(nameEncoding)
      const found: Array<OfWallet> = []
      for (const wallet of yield* chosen(call)) {
        yield* wallet.settled
        for (const each of yield* wallet.names.outlooks) {
          if (all ? each.outlook.urgency !== "ok" : isAlarm(each)) found.push({ ...each, wallet: wallet.name })
        }
      }
      found.sort((a, b) => rank(b) - rank(a) || a.outlook.left - b.outlook.left)
      return {
        names: found.slice(0, MOST_ALERTS).map((each) => ({
          ...nameTextJson(each.name, context.nameEncoding),
          wallet: each.wallet,
          expires_in: each.outlook.left,
          ...outlookJson(each)
        })),
        more: found.length > MOST_ALERTS ? found.length - MOST_ALERTS : undefined,
        complete: !(yield* status.syncing)
      }
    }))

  const name_acknowledge = method(
    NAME_ACKNOWLEDGE,
    ({ names: texts, options: { nameEncoding } }, call) =>
      Effect.gen(function*() {
        const context = contextOf(nameEncoding)
        if (texts !== undefined && texts.length > MOST_ALERTS) {
          return yield* RpcError.invalidParameter(`at most ${MOST_ALERTS} names are allowed in one call`)
        }
        const names = texts === undefined
          ? undefined
          : yield* Effect.forEach(texts, (text) => nameGiven(text, context))
        const done = yield* Effect.forEach(
          yield* chosen(call),
          (wallet) => Effect.mapError(wallet.names.acknowledge(names), storageError)
        )
        return done.flat().map((name) => nameTextJson(name, context.nameEncoding))
      })
  )

  return [name_alerts, name_acknowledge]
}
