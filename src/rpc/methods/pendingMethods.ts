import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { nameKey } from "../../protocol/keys.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { NAME_PENDING } from "../contract/names/pending.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { nameOutputJson } from "../shapes/name.ts"
import { contextFor, decodeGiven } from "./nameEncodings.ts"
import { ownership } from "./wallet/walletContext.ts"

/** reference/rpc.md 5.5. */

export const pendingMethods: Methods<Chain | Mempool | AnswerOptions | Wallets> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const pool = yield* Mempool
  const options = yield* AnswerOptions
  const wallets = yield* Wallets

  const name_pending = method(NAME_PENDING, ({ name, options: given }, call) =>
    Effect.gen(function*() {
      const context = contextFor(network, options, given)
      const owns = ownership(wallets, call)
      const meant = name === undefined ? undefined : nameKey(yield* decodeGiven(name, context.nameEncoding))
      return pool.pending(meant).flatMap(({ name: output, transaction: { txid } }) => {
        const operation = output?.script.operation
        if (output === undefined || operation === undefined || operation.op === "name_new") return []
        const { name, op, value } = operation
        const { script: { address }, vout } = output
        const shown = nameOutputJson(context, { name, value, txid, vout, address })
        return [{ ...shown, ismine: owns?.(address), op }]
      })
    }))

  return [name_pending]
})
