import * as Effect from "effect/Effect"
import { binaryString } from "../../protocol/bytes.ts"
import { printable } from "../../protocol/nameText.ts"
import type { NameParts } from "./NameParts.ts"
import { nameUpdate } from "./operations.ts"
import { dueRenewals } from "./renewals.ts"

/** Renews the names that are due. A failure is logged, and retried after the next block: some blocks remain. */
export const renewDue = (parts: NameParts): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { chain, file, ledger, mempool, status, vault } = parts
    const { document } = file
    if (!document.renewals.all && document.renewals.names.length === 0) return
    const due = dueRenewals(ledger.coins(), document, {
      height: ledger.tip.height,
      params: chain.params,
      isPending: (name) => mempool.pending(name).length > 0
    })
    if (due.length === 0 || (yield* status.initialDownload)) return
    if (vault.encryption() === "locked") {
      const names = due.slice(0, 20).map(printable).join(", ")
      return yield* Effect.logWarning("names about to expire: unlock the wallet to renew them", { names })
    }
    for (const name of due) {
      // Two coins can have the same name only through coinbases; one of them is renewed.
      if (mempool.pending(binaryString(name)).length > 0) continue
      yield* Effect.matchEffect(nameUpdate(parts, { name, value: undefined }), {
        onSuccess: () => Effect.logInfo("name renewed", { name: printable(name) }),
        onFailure: ({ message }) => Effect.logWarning("name renewal failed", { name: printable(name), reason: message })
      })
    }
  })
