import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { UserRight } from "../../../../src/config/accessKinds.ts"
import { TransactionRejected } from "../../../../src/mempool/errors.ts"
import { fromHex } from "../../../../src/protocol/bytes.ts"
import { outpoint, outpointKey } from "../../../../src/protocol/transaction.ts"
import { ownership, selectWallet, walletError } from "../../../../src/rpc/methods/wallet/walletContext.ts"
import { StorageUnavailable } from "../../../../src/storage/errors.ts"
import {
  FundsMissing,
  InvalidWalletRequest,
  KeysLocked,
  NameOperationRefused,
  WalletDamaged,
  WalletWatchOnly,
  WrongPassphrase
} from "../../../../src/wallet/errors.ts"
import { fakeWallet, fakeWallets, ownScript } from "../../../support/fakeWallet.ts"

const shown = ({ code, message }: { readonly code: number; readonly message: string }) => [code, message]

describe("the wallet of a call (reference/rpc.md 1.2)", () => {
  const first = fakeWallet({ name: "" }).wallet
  const second = fakeWallet({ name: "second" }).wallet

  const selectedOf = (wallets: ReturnType<typeof fakeWallets>, wallet?: string) =>
    Effect.runSync(
      Effect.match(selectWallet(wallets, { wallet }), { onSuccess: ({ name }) => name, onFailure: shown })
    )

  it("is the only loaded one, or the one in the path", () => {
    assert.strictEqual(selectedOf(fakeWallets([second])), "second")
    assert.strictEqual(selectedOf(fakeWallets([first, second]), "second"), "second")
    assert.strictEqual(selectedOf(fakeWallets([first, second]), ""), "")
  })

  it("is required in the reference node's words if there is none", () => {
    assert.deepStrictEqual(selectedOf(fakeWallets([])), [
      -18,
      "No wallet is loaded. Load a wallet using loadwallet or create a new one with createwallet. " +
      "(Note: A default wallet is no longer automatically created)"
    ])
    assert.deepStrictEqual(selectedOf(fakeWallets([first, second])), [
      -19,
      "Multiple wallets are loaded. Please select which wallet to use by requesting the RPC through the " +
      "/wallet/<walletname> URI path."
    ])
    assert.deepStrictEqual(selectedOf(fakeWallets([first]), "third"), [
      -18,
      "Requested wallet does not exist or is not loaded"
    ])
  })

  it("reports ownership, but not if the wallet is ambiguous (reference/rpc.md 5.1)", () => {
    const ANY = { wallet: undefined, rights: undefined }
    const owner = fakeWallet({}, { scripts: [ownScript(1)] }).wallet
    const owns = ownership(fakeWallets([owner]), ANY)
    assert.strictEqual(owns?.(ownScript(1).script), true)
    assert.strictEqual(owns?.(ownScript(2).script), false)
    assert.isUndefined(ownership(fakeWallets([owner, second]), ANY))
    assert.isUndefined(ownership(fakeWallets([owner]), { ...ANY, rights: new Set<UserRight>(["read", "spend"]) }))
    assert.isDefined(ownership(fakeWallets([owner]), { ...ANY, rights: new Set<UserRight>(["names"]) }))
    assert.isUndefined(ownership(fakeWallets([owner]), { ...ANY, wallet: "third" }))
    assert.isUndefined(ownership(fakeWallets([]), ANY))
    assert.isUndefined(ownership(fakeWallets([owner], { enabled: false }), ANY))
  })
})

describe("failures of a wallet (reference/rpc.md 2, 3.9, 5.8)", () => {
  const txid = fromHex("cd342d5df5251a0a5066f8e2440370062baa5bc5558fcfea6bf23d3e25dae8e5")?.reverse() ?? assert.fail()

  it.each([
    [new KeysLocked({}), -13, "Error: Please enter the wallet passphrase with walletpassphrase first."],
    [
      new KeysLocked({ renewalsOnly: "it pays to others" }),
      -13,
      "Error: The wallet is unlocked for renewals only, and it pays to others. For this, enter the wallet passphrase with " +
      "walletpassphrase, without renewalsonly."
    ],
    [new WalletWatchOnly(), -4, "Error: Private keys are disabled for this wallet"],
    [new WrongPassphrase(), -14, "Error: The wallet passphrase entered was incorrect."],
    [new FundsMissing({ needed: 2, available: 1 }), -6, "Insufficient funds"],
    [
      new FundsMissing({ needed: 2, available: 2, fee: 5_400 }),
      -6,
      "The total exceeds your balance when the 0.000054 transaction fee is included."
    ],
    [
      new FundsMissing({ needed: 2, available: 2, fee: 10_000_000 }),
      -6,
      "The total exceeds your balance when the 0.10 transaction fee is included."
    ],
    [
      new FundsMissing({ needed: 2, available: 2, missing: outpointKey(outpoint(txid, 1)) }),
      -6,
      "Not found pre-selected input COutPoint(cd342d5df5, 1)"
    ],
    [
      new InvalidWalletRequest({ code: "no-keys", reason: "none" }),
      -4,
      "Error: This wallet has no available keys"
    ],
    [
      new InvalidWalletRequest({ code: "too-small", reason: "Transaction amount too small" }),
      -6,
      "Transaction amount too small"
    ],
    [
      new InvalidWalletRequest({ code: "scanning", reason: "busy" }),
      -4,
      "Wallet is currently rescanning. Abort existing rescan or wait."
    ],
    [new NameOperationRefused({ code: "exists", reason: "this name exists already" }), -25, "this name exists already"],
    [new NameOperationRefused({ code: "too-long", reason: "the name is too long" }), -8, "the name is too long"],
    [
      new TransactionRejected({ txid: "00", reason: "txn-mempool-conflict", kind: "conflict" }),
      -26,
      "txn-mempool-conflict"
    ],
    [
      new TransactionRejected({ txid: "00", reason: "tx-name-invalid", detail: "Invalid name", kind: "consensus" }),
      -26,
      "tx-name-invalid, Invalid name"
    ],
    [
      new TransactionRejected({ txid: "00", reason: "bad-txns-inputs-missingorspent", kind: "missing-inputs" }),
      -25,
      "bad-txns-inputs-missingorspent"
    ],
    [
      new WalletDamaged({ file: "wallet.json", found: "half of it" }),
      -4,
      "wallet.json is not a wallet that can be used: half of it. It was left as it is. Move it away and put the newest copy " +
      "in its place (of \"svcd-cli backup\", or of the file); without one \"svcd-wallet recover\" makes its keys from the words"
    ],
    [
      new StorageUnavailable({ file: "wallet.json", doing: "writing", reason: "no space" }),
      -32603,
      "writing wallet.json failed: no space"
    ]
  ])("%s", (failure, code, message) => {
    assert.deepStrictEqual(shown(walletError(failure)), [code, message])
  })
})
