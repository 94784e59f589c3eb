import * as Effect from "effect/Effect"
import { binaryString } from "../../protocol/bytes.ts"
import { printable } from "../../protocol/nameText.ts"
import type { NamesContext } from "./NamesContext.ts"
import { nameUpdate } from "./operations.ts"
import { dueRenewals } from "./renewals.ts"

/** Renews the names that are due. A failure is logged, and retried after the next block: some blocks remain. */
export const renewDue = (context: NamesContext): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { core } = context
    const document = core.document()
    if (!document.renewals.all && document.renewals.names.length === 0) return
    const due = dueRenewals(core.coins(), document, {
      height: core.lastBlock().height,
      params: core.chain.params,
      isPending: (name) => core.mempool.pending(name).length > 0
    })
    if (due.length === 0 || (yield* core.status.initialDownload)) return
    if (core.encryption() === "locked") {
      const names = due.slice(0, 20).map(printable).join(", ")
      return yield* Effect.logWarning("names about to expire: unlock the wallet to renew them", { names })
    }
    for (const name of due) {
      // Two coins can have the same name only through coinbases; one of them is renewed.
      if (core.mempool.pending(binaryString(name)).length > 0) continue
      yield* Effect.matchEffect(nameUpdate(context, { name, value: undefined }), {
        onSuccess: () => Effect.logInfo("name renewed", { name: printable(name) }),
        onFailure: ({ message }) => Effect.logWarning("name renewal failed", { name: printable(name), reason: message })
      })
    }
  })
