import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { nameKey } from "../../protocol/keys.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { notNull, object, optional, orEmpty, string } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { IS_MINE, NAME_OUTPUT_MEMBERS, nameOutputJson } from "../shapes/name.ts"
import { contextFor, decodeGiven, ENCODINGS } from "./nameEncodings.ts"
import { ownership } from "./wallet/walletContext.ts"

/** The unconfirmed operations on names (reference/rpc.md 5.5). */

export const pendingMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | Mempool | AnswerOptions | Wallets> =
  Effect.gen(function*() {
    const { params: { network } } = yield* Chain
    const pool = yield* Mempool
    const options = yield* AnswerOptions
    const wallets = yield* Wallets

    const name_pending = method({
      name: "name_pending",
      right: "names",
      group: "Names",
      heavy: true,
      summary:
        "Lists the unconfirmed name operations, several on one name in their order. A name_new is not included: " +
        "it does not reveal its name.",
      params: {
        name: optional(string("Only this name."), "all names"),
        options: orEmpty(notNull(object(ENCODINGS, "Options.")))
      },
      results: [{
        schema: Schema.Array(Schema.Struct({
          ...NAME_OUTPUT_MEMBERS,
          ismine: IS_MINE,
          op: Result.string("name_firstupdate or name_update")
        }))
      }],
      examples: [[], ["d/example"]],
      errors: ["-1000 Name/value is invalid for encoding ascii"],
      handler: ({ name, options: given }, call) =>
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
        })
    })

    return [name_pending]
  })
