import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { ChainCoins } from "../../../chain/ChainCoins.ts"
import { Mempool } from "../../../mempool/Mempool.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { AnswerOptions } from "../../AnswerOptions.ts"
import type { Methods } from "../../method/methodTable.ts"
import { makeBumpMethods } from "./bumpMethods.ts"
import { makeFundMethods } from "./fundMethods.ts"
import { makeSendAllMethod } from "./sendAllMethod.ts"
import { makeSendMethod } from "./sendMethod.ts"
import { makeSimplePayments } from "./simplePayments.ts"

/** Empty without wallets. */
export const paymentMethods: Methods<Chain | ChainCoins | Mempool | AnswerOptions | Wallets> = Effect.gen(
  function*() {
    const { params: { network } } = yield* Chain
    const chainCoins = yield* ChainCoins
    const pool = yield* Mempool
    const encodings = yield* AnswerOptions
    const wallets = yield* Wallets
    if (!wallets.enabled) return []
    return [
      ...makeSimplePayments(wallets, network),
      makeSendMethod(wallets, network),
      makeSendAllMethod(wallets, network),
      ...makeFundMethods({ wallets, network, chainCoins, pool, encodings }),
      ...makeBumpMethods(wallets, network)
    ]
  }
)
