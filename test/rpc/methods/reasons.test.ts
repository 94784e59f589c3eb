import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { TransactionRejected } from "../../../src/mempool/errors.ts"
import { outpoint, outpointKey } from "../../../src/protocol/transaction.ts"
import { RPC_REASONS, RpcError, type RpcReason } from "../../../src/rpc/method/RpcError.ts"
import { fundingError } from "../../../src/rpc/methods/wallet/spending.ts"
import { walletError, type WalletFailure } from "../../../src/rpc/methods/wallet/walletContext.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import {
  FundsMissing,
  InvalidWalletRequest,
  KeysLocked,
  NameOperationRefused,
  WalletWatchOnly
} from "../../../src/wallet/errors.ts"

const storage = (code: string) => new StorageUnavailable({ file: "/f", doing: "writing", reason: "any text", code })
const request = (code: InvalidWalletRequest["code"]) => new InvalidWalletRequest({ code, reason: "any text" })
const refused = (code: NameOperationRefused["code"]) => new NameOperationRefused({ code, reason: "any text" })

/** A failure for each reason that a wallet gives; the type demands one of every reason. */
const FAILURES: Readonly<Record<Exclude<RpcReason, "proof-unavailable">, WalletFailure>> = {
  "beyond-words": request("beyond-words"),
  "coin-spent": new FundsMissing({ needed: 1, available: 0, missing: outpointKey(outpoint(new Uint8Array(32), 0)) }),
  "coins-in-use": new TransactionRejected({ txid: "00", reason: "txn-mempool-conflict", kind: "policy" }),
  "disk-full": storage("ENOSPC"),
  "fee-too-high": request("fee-too-high"),
  "file-exists": storage("EEXIST"),
  "file-refused": storage("EROFS"),
  "funds-missing": new FundsMissing({ needed: 1, available: 0 }),
  "inputs-missing": new TransactionRejected({ txid: "00", reason: "any", kind: "missing-inputs" }),
  "long-chain": request("long-chain"),
  "name-pending": refused("pending"),
  "name-registering": refused("registering"),
  "name-taken": refused("exists"),
  "name-unknown": refused("unknown"),
  "no-fee-estimate": request("no-fee-estimate"),
  "no-private-keys": new WalletWatchOnly(),
  "renewals-only": new KeysLocked({ renewalsOnly: "" }),
  "too-small": request("too-small")
}

describe("the reasons of errors", () => {
  it.each(Object.entries(FAILURES))("%s is that of a failure, whatever its text", (reason, failure) => {
    assert.strictEqual(walletError(failure).reason, reason)
  })

  it("stay when a failure of money gets the code of the wallet", () => {
    for (const reason of ["funds-missing", "long-chain", "no-fee-estimate"] as const) {
      assert.deepInclude(fundingError(FAILURES[reason]), { code: -4, reason })
    }
  })

  it("are none for a failure that no caller tells apart", () => {
    for (
      const failure of [
        new KeysLocked({}),
        request("range"),
        // The fee rate is too low, or there is no payment: no amount is too small.
        request("low-fee-rate"),
        request("nothing-paid"),
        refused("too-long"),
        // A name that may be there later is not lost.
        refused("incomplete")
      ]
    ) {
      assert.isUndefined(walletError(failure).reason)
    }
    assert.isUndefined(RpcError.wallet("name never existed: 'd/x'").reason)
  })

  it("are documented, each in one row (docs/reference/rpc.md 2.1)", () => {
    const text = readFileSync(new URL("../../../docs/reference/rpc.md", import.meta.url), "utf8")
    const section = text.slice(text.indexOf("### 2.1 Reasons"), text.indexOf("\n## 3 "))
    assert.deepStrictEqual(Array.from(section.matchAll(/^\| `([a-z-]+)` \|/gm), ([, reason]) => reason), [
      ...RPC_REASONS
    ])
  })
})
