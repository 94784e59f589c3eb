import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import type { ChainCoins } from "../../../chain/ChainCoins.ts"
import { SyncStatus } from "../../../chain/SyncStatus.ts"
import { NameAnswers } from "../../../light/NameAnswers.ts"
import { SyncReporter } from "../../../light/SyncReporter.ts"
import { completeNames } from "../../../names/completeNames.ts"
import { NamesIncomplete } from "../../../names/errors.ts"
import type { NameDb } from "../../../names/NameDb.ts"
import { displayHash, equal, fromHex, toHex } from "../../../protocol/bytes.ts"
import { nameKey, txidKey } from "../../../protocol/keys.ts"
import { addressScript } from "../../../protocol/nameOperation.ts"
import { printable } from "../../../protocol/nameText.ts"
import type { DataHealth } from "../../../storage/DataHealth.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { AnswerOptions } from "../../AnswerOptions.ts"
import {
  DEQUEUETRANSACTION,
  LISTQUEUEDTRANSACTIONS,
  NAME_LIST,
  QUEUERAWTRANSACTION,
  SENDTONAME
} from "../../contract/wallet/nameWallet.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { decodeAnyTransaction } from "../../shapes/decodeTransaction.ts"
import { nameExpiryJson, nameOutputJson, outlookJson } from "../../shapes/name.ts"
import { contextFor, decodeGiven } from "../nameEncodings.ts"
import { nameProofs } from "../nameProof.ts"
import { makeAlertMethods } from "./alertMethods.ts"
import { knownNames } from "./knownNames.ts"
import { makeNameWriteMethods } from "./nameWriteMethods.ts"
import { makeRegistrationMethods } from "./registrationMethods.ts"
import { paymentNotes, sendMoney } from "./simplePayments.ts"
import { type DefineWalletMethod, walletMethod } from "./walletContext.ts"

/** reference/rpc.md 3.3, 5.6. */

const queuerawtransaction = (define: DefineWalletMethod) =>
  define(QUEUERAWTRANSACTION, ({ hexstring }, wallet) =>
    Effect.gen(function*() {
      const bytes = fromHex(hexstring)
      const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes)
      if (transaction === undefined) return yield* RpcError.deserialization("TX decode failed")
      yield* Effect.mapError(
        wallet.payments.enqueue(transaction),
        (failure) => failure._tag === "InvalidWalletRequest" ? RpcError.wallet(failure.reason) : failure
      )
      return displayHash(transaction.txid)
    }))

const dequeuetransaction = (define: DefineWalletMethod) =>
  define(DEQUEUETRANSACTION, ({ txid }, wallet) => Effect.as(wallet.payments.dequeue(txidKey(txid)), null))

const listqueuedtransactions = (define: DefineWalletMethod) =>
  define(
    LISTQUEUEDTRANSACTIONS,
    (_, wallet) =>
      Effect.sync(() =>
        new Map(wallet.payments.queue().map(({ bytes, txid }) => [displayHash(txid), { transaction: toHex(bytes) }]))
      )
  )

export const nameWalletMethods: Methods<
  Chain | ChainCoins | NameAnswers | NameDb | SyncReporter | SyncStatus | DataHealth | AnswerOptions | Wallets
> = Effect.gen(function*() {
  const chain = yield* Chain
  const answers = yield* NameAnswers
  const { refuse } = nameProofs(yield* SyncReporter)
  const known = knownNames(yield* completeNames())
  const status = yield* SyncStatus
  const options = yield* AnswerOptions
  const wallets = yield* Wallets
  if (!wallets.enabled) return []
  const define = walletMethod(wallets)
  const { params } = chain

  const name_list = define(NAME_LIST, ({ name: text, options: given }, wallet) =>
    Effect.gen(function*() {
      const context = contextFor(params.network, options, given)
      // The wallet follows the whole chain.
      if (answers.fromWindow()) yield* refuse(new NamesIncomplete())
      const proof = given.requireProof === undefined ? undefined : "full"
      const wanted = text === undefined ? undefined : yield* decodeGiven(text, context.nameEncoding)
      const { height: tipHeight } = yield* chain.tip
      const outlooks = (yield* status.syncing) ? [] : yield* wallet.names.outlooks
      const known = new Map(outlooks.map((each) => [nameKey(each.name), each]))
      return wallet.names.list().flatMap(({ height, mine, name, operation, script, txid, vout }) => {
        if (operation.op === "name_new") return []
        if (wanted !== undefined && wanted.length > 0 && !equal(name, wanted)) return []
        const address = addressScript(script)
        const outlook = known.get(nameKey(name))
        return [{
          ...nameOutputJson(context, { name, value: operation.value, txid, vout, address }),
          ismine: mine,
          ...nameExpiryJson(height, { tipHeight, params }),
          proof,
          outlook: outlook === undefined ? undefined : outlookJson(outlook)
        }]
      })
    }))

  const sendtoname = define(
    SENDTONAME,
    ({ amount: value, comment, comment_to, name: text, replaceable, subtractfeefromamount }, wallet) =>
      Effect.gen(function*() {
        const name = yield* decodeGiven(text, options.nameEncoding)
        const found = yield* known.active(name)
        if (found.type === "unknown") return yield* RpcError.invalidAddressOrKey(`name not found: ${printable(name)}`)
        if (found.type === "expired") return yield* RpcError.invalidAddressOrKey("the name is expired")
        const { txid } = yield* sendMoney(wallet, {
          outputs: [{ value, script: found.record.address }],
          subtractFeeFrom: subtractfeefromamount ? [0] : [],
          ...(replaceable === undefined ? {} : { replaceable }),
          ...paymentNotes({ comment, commentTo: comment_to })
        })
        return txid
      })
  )

  const parts = { wallets, chain, node: options, known }
  return [
    name_list,
    ...makeAlertMethods({ ...parts, status }),
    ...makeNameWriteMethods(parts),
    ...makeRegistrationMethods(parts),
    sendtoname,
    queuerawtransaction(define),
    dequeuetransaction(define),
    listqueuedtransactions(define)
  ]
})
