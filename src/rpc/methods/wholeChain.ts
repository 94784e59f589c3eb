import * as Effect from "effect/Effect"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { NamesIncomplete } from "../../names/errors.ts"
import type { Method } from "../method/methodTable.ts"
import { nameProofs } from "./nameProof.ts"

/** Methods that need the coins of the whole chain: while a window of the last blocks answers, they fail with -10. */
const NEED_COINS: ReadonlySet<string> = new Set([
  "bumpfee",
  "fundrawtransaction",
  "name_autoregister",
  "name_firstupdate",
  "name_new",
  "name_renew",
  "name_update",
  "psbtbumpfee",
  "send",
  "sendall",
  "sendmany",
  "sendtoaddress",
  "sendtoname",
  "walletcreatefundedpsbt"
])

/** Refuses calls of methods that need coins while the node does not have them all. */
export const coinsOfWholeChain = (
  methods: ReadonlyArray<Method>
): Effect.Effect<ReadonlyArray<Method>, never, NameAnswers | SyncReporter> =>
  Effect.gen(function*() {
    const { fromWindow } = yield* NameAnswers
    const { refuse } = nameProofs(yield* SyncReporter)
    return methods.map((method): Method =>
      NEED_COINS.has(method.name)
        ? {
          ...method,
          call: (params, context) => fromWindow() ? refuse(new NamesIncomplete()) : method.call(params, context)
        }
        : method
    )
  })
