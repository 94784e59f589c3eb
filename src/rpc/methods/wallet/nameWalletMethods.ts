import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../../chain/Chain.ts"
import type { ChainCoins } from "../../../chain/ChainCoins.ts"
import type { SyncStatus } from "../../../chain/SyncStatus.ts"
import { NameAnswers } from "../../../light/NameAnswers.ts"
import { SyncReporter } from "../../../light/SyncReporter.ts"
import { completeNames } from "../../../names/completeNames.ts"
import { NamesIncomplete } from "../../../names/errors.ts"
import type { NameDb } from "../../../names/NameDb.ts"
import { displayHash, equal, fromHex, toHex } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { addressScript } from "../../../protocol/nameOperation.ts"
import { printable } from "../../../protocol/nameText.ts"
import type { DataHealth } from "../../../storage/DataHealth.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { AnswerOptions } from "../../AnswerOptions.ts"
import type { Method } from "../../method/methodTable.ts"
import { amount, hash, hexText, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { decodeAnyTransaction } from "../../shapes/decodeTransaction.ts"
import { NAME_OUTPUT_MEMBERS, nameExpiryJson, nameOutputJson, PROOF } from "../../shapes/name.ts"
import { contextFor, decodeGiven, ENCODINGS } from "../nameEncodings.ts"
import { nameProofs, PROOF_ERRORS, REQUIRE_PROOF } from "../nameProof.ts"
import { knownNames } from "./knownNames.ts"
import { makeNameWriteMethods } from "./nameWriteMethods.ts"
import { makeRegistrationMethods } from "./registrationMethods.ts"
import { COMMENT, COMMENT_TO, paymentNotes, REPLACEABLE, sendMoney, SUBTRACT_FEE } from "./simplePayments.ts"
import { PAYMENT_ERRORS } from "./spending.ts"
import { type DefineWalletMethod, walletMethod } from "./walletContext.ts"

/** Wallet methods for names, and the queue of transactions that name operations need (reference/rpc.md 3.3, 5.6). */

const TXID = "654166d8a5607765aeab942929249c4f9286d3bd37610f33e2f6c9e13a9dd1fa"

const TRANSACTION = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const OWNED_NAME = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  ismine: Result.boolean("Whether the wallet has the address"),
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  expired: Result.boolean("Whether the record has expired"),
  proof: PROOF
})

const queuerawtransaction = (define: DefineWalletMethod) =>
  define({
    name: "queuerawtransaction",
    right: "spend",
    writes: true,
    group: "Names",
    summary:
      "Sends a transaction as soon as the mempool accepts it: now, or after a later block. Until then it waits " +
      "in the wallet's queue.",
    params: { hexstring: hexText("The transaction.") },
    results: [{ schema: Result.hex("Its txid") }],
    examples: [[TRANSACTION]],
    errors: ["-22 TX decode failed", "-4 Invalid transaction (<reason>)"],
    handler: ({ hexstring }, wallet) =>
      Effect.gen(function*() {
        const bytes = fromHex(hexstring)
        const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes)
        if (transaction === undefined) return yield* RpcError.deserialization("TX decode failed")
        yield* Effect.mapError(
          wallet.payments.enqueue(transaction),
          (failure) => failure._tag === "InvalidWalletRequest" ? RpcError.wallet(failure.reason) : failure
        )
        return displayHash(transaction.txid)
      })
  })

const dequeuetransaction = (define: DefineWalletMethod) =>
  define({
    name: "dequeuetransaction",
    right: "spend",
    writes: true,
    group: "Names",
    summary: "Removes a transaction from the queue. A missing transaction is not an error.",
    params: { txid: hash("The transaction.") },
    results: [{ schema: Result.nothing("") }],
    examples: [[TXID]],
    handler: ({ txid }, wallet) => Effect.as(wallet.payments.dequeue(txidKey(txid)), null)
  })

const listqueuedtransactions = (define: DefineWalletMethod) =>
  define({
    name: "listqueuedtransactions",
    right: "names",
    group: "Names",
    summary: "Lists the transactions in the queue.",
    params: {},
    results: [{ schema: Result.map("txid", Schema.Struct({ transaction: Result.hex("The transaction") })) }],
    examples: [[]],
    handler: (_, wallet) =>
      Effect.sync(() =>
        new Map(wallet.payments.queue().map(({ bytes, txid }) => [displayHash(txid), { transaction: toHex(bytes) }]))
      )
  })

export const nameWalletMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | NameAnswers | NameDb | SyncReporter | SyncStatus | DataHealth | AnswerOptions | Wallets
> = Effect.gen(function*() {
  const chain = yield* Chain
  const answers = yield* NameAnswers
  const { refuse } = nameProofs(yield* SyncReporter)
  const known = knownNames(yield* completeNames())
  const options = yield* AnswerOptions
  const wallets = yield* Wallets
  if (!wallets.enabled) return []
  const define = walletMethod(wallets)
  const { params } = chain

  const name_list = define({
    name: "name_list",
    right: "names",
    group: "Names",
    heavy: true,
    summary: "Lists the names set by confirmed transactions of the wallet, each with its last one, including " +
      "transferred and expired names.",
    params: {
      name: optional(string("Only this name."), "all names"),
      options: orEmpty(notNull(object({ ...ENCODINGS, requireProof: REQUIRE_PROOF }, "Options.")))
    },
    results: [{ schema: Schema.Array(OWNED_NAME) }],
    examples: [[], ["d/example"]],
    errors: [
      "-10 Namecoin is downloading blocks...",
      ...PROOF_ERRORS,
      "-1000 Name/value is invalid for encoding <encoding>"
    ],
    handler: ({ name: text, options: given }, wallet) =>
      Effect.gen(function*() {
        const context = contextFor(params.network, options, given)
        // The wallet follows the whole chain.
        if (answers.fromWindow()) yield* refuse(new NamesIncomplete())
        const proof = given.requireProof === undefined ? undefined : "full"
        const wanted = text === undefined ? undefined : yield* decodeGiven(text, context.nameEncoding)
        const { height: tipHeight } = yield* chain.tip
        return wallet.names.list().flatMap(({ height, mine, name, operation, script, txid, vout }) => {
          if (operation.op === "name_new") return []
          if (wanted !== undefined && wanted.length > 0 && !equal(name, wanted)) return []
          const address = addressScript(script)
          return [{
            ...nameOutputJson(context, { name, value: operation.value, txid, vout, address }),
            ismine: mine,
            ...nameExpiryJson(height, { tipHeight, params }),
            proof
          }]
        })
      })
  })

  const sendtoname = define({
    name: "sendtoname",
    right: "spend",
    writes: true,
    group: "Names",
    summary: "Pays the owner of a name.",
    params: {
      name: string("The name, in the node's encoding."),
      amount: amount("The amount in NMC."),
      comment: COMMENT,
      comment_to: COMMENT_TO,
      subtractfeefromamount: SUBTRACT_FEE,
      replaceable: REPLACEABLE
    },
    results: [{ schema: Result.hex("The transaction") }],
    examples: [["id/example", 0.1]],
    errors: [
      "-5 name not found: '<name>'",
      "-5 the name is expired",
      "-10 Namecoin is downloading blocks...",
      "-1000 Name/value is invalid for encoding <encoding>",
      ...PAYMENT_ERRORS
    ],
    handler: ({ amount: value, comment, comment_to, name: text, replaceable, subtractfeefromamount }, wallet) =>
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
  })

  const parts = { wallets, chain, node: options, known }
  return [
    name_list,
    ...makeNameWriteMethods(parts),
    ...makeRegistrationMethods(parts),
    sendtoname,
    queuerawtransaction(define),
    dequeuetransaction(define),
    listqueuedtransactions(define)
  ]
})
