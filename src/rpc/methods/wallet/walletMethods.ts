import * as Effect from "effect/Effect"
import type { Chain } from "../../../chain/Chain.ts"
import type { ChainCoins } from "../../../chain/ChainCoins.ts"
import type { SyncStatus } from "../../../chain/SyncStatus.ts"
import type { Mempool } from "../../../mempool/Mempool.ts"
import type { Miner } from "../../../mempool/mining/Miner.ts"
import type { PeerManager } from "../../../network/PeerManager.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { AnswerOptions } from "../../AnswerOptions.ts"
import type { Methods } from "../../method/methodTable.ts"
import { addressMethods } from "./addressMethods.ts"
import { auxWalletMethod } from "./auxWalletMethod.ts"
import { balanceMethods } from "./balanceMethods.ts"
import { descriptorMethods } from "./descriptorMethods.ts"
import { hdKeyMethods } from "./hdKeyMethods.ts"
import { passphraseMethods } from "./passphraseMethods.ts"
import { prunedFundsMethods } from "./prunedFundsMethods.ts"
import { receivedMethods } from "./receivedMethods.ts"
import { recoveryMethods, rescanMethods } from "./rescanMethods.ts"
import { signingMethods } from "./signingMethods.ts"
import { walletFileMethods } from "./walletFileMethods.ts"
import { walletFlagMethods } from "./walletFlagMethods.ts"
import { walletTransactionMethods } from "./walletTransactionMethods.ts"

/** Without those that pay or write names. With `-disablewallet` there are none, so they are unknown methods. */
export const walletMethods: Methods<
  Wallets | Chain | ChainCoins | Mempool | Miner | PeerManager | SyncStatus | AnswerOptions
> = Effect.gen(function*() {
  const { enabled } = yield* Wallets
  if (!enabled) return []
  const groups = yield* Effect.all([
    addressMethods,
    balanceMethods,
    receivedMethods,
    walletTransactionMethods,
    walletFileMethods,
    rescanMethods,
    walletFlagMethods,
    prunedFundsMethods,
    passphraseMethods,
    recoveryMethods,
    descriptorMethods,
    hdKeyMethods,
    signingMethods,
    Effect.map(auxWalletMethod, (method) => [method])
  ])
  return groups.flat()
})
