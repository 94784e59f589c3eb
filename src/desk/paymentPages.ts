import * as Effect from "effect/Effect"
import { encodeQR } from "qr"
import { unixTime } from "../base/clock.ts"
import { fewLeftText } from "../base/recoveryWords.ts"
import { amountText } from "../protocol/amount.ts"
import { parseDisplayHash } from "../protocol/bytes.ts"
import { VALIDATEADDRESS } from "../rpc/contract/control/util.ts"
import { SENDRAWTRANSACTION } from "../rpc/contract/mempool/offer.ts"
import { GETTXSPENDINGPREVOUT } from "../rpc/contract/mempool/spender.ts"
import { DECODEPSBT, FINALIZEPSBT } from "../rpc/contract/transactions/psbt.ts"
import { GETADDRESSINFO, GETNEWADDRESS } from "../rpc/contract/wallet/address.ts"
import { GETBALANCES } from "../rpc/contract/wallet/balance.ts"
import { WALLETCREATEFUNDEDPSBT } from "../rpc/contract/wallet/fund.ts"
import { WALLETPROCESSPSBT } from "../rpc/contract/wallet/signing.ts"
import { LISTTRANSACTIONS } from "../rpc/contract/wallet/walletTransaction.ts"
import { Amount } from "../rpc/json/encodeJson.ts"
import { USE_UNPAID } from "../rpc/words.ts"
import { redirect } from "../web/document.ts"
import { dated, shortHash } from "../web/format.ts"
import { type Html, html } from "../web/html.ts"
import { transactionLink } from "../web/links.ts"
import { fact } from "../web/parts.ts"
import { listedName, visible } from "../web/visible.ts"
import type { Payment } from "./answers.ts"
import { CallFailed, type Calls, unless } from "./calls.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { alertView, card, field, linksTo } from "./frame.ts"
import { amountGiven, nmc } from "./money.ts"
import { ifTimed, listedHex, recordView } from "./nameViews.ts"
import { plannedOrDrafted } from "./psbtPages.ts"
import { deskAnswer, type DeskHandler, type DeskVisit, NotMeant, tokenField, walletState } from "./visit.ts"

/** White modules that readers need around a code. */
const BORDER = 4

/** Black on white in any scheme, since many readers know no other. */
const qrCode = ({ label, text }: { readonly text: string; readonly label: string }): Html => {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: BORDER })
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => dark ? [`M${x} ${y}h1v1h-1z`] : [])).join("")
  const size = rows.length
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000" shape-rendering="crispEdges"/></svg>`
}

const LAST_PAYMENTS = 25

/** Without an index of transactions, the node finds a confirmed one only by height. */
const linked = ({ blockheight: block, txid }: Pick<Payment, "blockheight" | "txid">, text: Html): Html => {
  const hash = parseDisplayHash(txid)
  return hash === undefined ? text : html`<a href="${transactionLink(hash, { block })}">${text}</a>`
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["send", "paid"],
  ["receive", "received"],
  ["generate", "mined"],
  ["immature", "mined, immature"],
  ["orphan", "void"]
])

const isCommitment = (name: string): boolean => name.startsWith("new: ")

/** RPC has the name in quotation marks or, if not ASCII, as 0x and digits. */
const UPDATE = /^update: (?:'(.*)'|0x([0-9a-f]*))$/s

const listedOperation = (operation: string): Html => {
  const [, text, hex] = UPDATE.exec(operation) ?? []
  return text === undefined ? listedHex(hex) : listedName(Buffer.from(text))
}

/** A payment, or a name after RPC's operation and a colon. */
const whatOf = ({ category, name }: Payment): Html => {
  if (name === undefined) return html`${KINDS.get(category) ?? category}`
  return isCommitment(name)
    ? html`commitment of a name`
    : html`name ${listedOperation(name)}`
}

/** An output with a name has no amount of its own. The fee is shown instead, with the amount locked in the name. */
const amountOf = ({ amount, fee = new Amount(0), name }: Payment): Html =>
  name === undefined
    ? html`${nmc(amount)}`
    : html`${nmc(fee)} <span class="muted">${
      isCommitment(name) ? "fee, and the amount locked in the name" : "fee"
    }</span>`

const paymentRow = (now: number) => (payment: Payment): Html => {
  const { address, confirmations, time, txid } = payment
  return html`<tr><td class="when">${dated(time, { now })}</td><th scope="row">${linked(payment, whatOf(payment))}${
    confirmations === 0 && html` <span class="badge busy">unconfirmed</span>`
  }${confirmations < 0 && html` <span class="badge attention">void</span>`}</th><td class="number">${
    amountOf(payment)
  }</td><td class="owner-cell wide">${
    address === undefined
      ? html`<span class="muted">none</span>`
      : html`<code class="address">${visible(address)}</code>`
  }</td><td class="wide">${linked(payment, html`${shortHash(txid)}`)}</td></tr>`
}

export const paymentsPage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls } = visit
    const { mine } = yield* calls.call(GETBALANCES, {})
    const payments = yield* calls.call(LISTTRANSACTIONS, { label: "*", count: LAST_PAYMENTS })
    const now = yield* unixTime
    return deskAnswer(visit, {
      title: "Payments",
      at: "payments",
      main: html`<h1>Payments</h1><dl class="facts">${fact("Balance", nmc(mine.trusted))}${
        mine.untrusted_pending.units > 0 && fact("Pending", nmc(mine.untrusted_pending))
      }${mine.immature.units > 0 && fact("Mined, immature", nmc(mine.immature))}</dl>${
        mine.trusted.units > 0
          ? html`<div class="buttons"><a class="button primary" href="${
            deskLink("send")
          }">Pay</a><a class="button" href="${deskLink("receive")}">Receive</a></div>`
          : html`<div class="buttons"><a class="button primary" href="${
            deskLink("receive")
          }">Receive</a><button type="button" disabled aria-describedby="why">Pay</button><span class="hint" id="why">The wallet has no coins to spend yet.</span></div>`
      }${
        card(
          "Recent payments",
          payments.length === 0
            ? html`<p class="empty">None yet.</p>`
            : html`<table class="brief payments"><caption class="out">Last payments, the newest first</caption><thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col" class="number">Amount</th><th scope="col">Address</th><th scope="col">Transaction</th></tr></thead><tbody>${
              [...payments].reverse().map(paymentRow(now))
            }</tbody></table>`
        )
      }`
    })
  })

const ADDRESS = /^[a-zA-Z0-9]{20,100}$/

/** The address in a link, if it is the wallet's: others can make links with their own address. */
const ownAddress = ({ calls, query }: DeskVisit): Effect.Effect<string | undefined, CallFailed> => {
  const given = query.get("address") ?? ""
  if (!ADDRESS.test(given)) return Effect.succeed(undefined)
  return Effect.map(
    unless(calls.call(GETADDRESSINFO, { address: given }), [-5]),
    (found) => found?.ismine === true ? given : undefined
  )
}

/** Warns while few addresses remain within reach of the seed phrase. */
const fewAddresses = (visit: DeskVisit): Effect.Effect<Html | undefined, CallFailed> =>
  Effect.map(unless(walletState(visit), ["forbidden"]), (state) => {
    const few = fewLeftText(state?.info.addresses_left ?? Number.POSITIVE_INFINITY)
    return few === undefined ? undefined : alertView("attention", `${few}.`, USE_UNPAID)
  })

export const receivePage: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const address = yield* ownAddress(visit)
    const few = yield* fewAddresses(visit)
    return deskAnswer(visit, {
      title: "Receive",
      at: "receive",
      main: html`<h1>Receive</h1>${few}<section class="card">${
        address === undefined
          ? html`<p>For coins, and for names that are transferred to you. Use a new address for each payer to keep payments apart.</p>`
          : html`<p>Give this address to the payer, or to the current owner of a name that you will receive.</p>${
            qrCode({ text: `namecoin:${address}`, label: `QR code of the address ${address}` })
          }<p class="big"><code class="address">${address}</code></p>`
      }<form action="${deskLink("receive")}" method="post">${tokenField(visit)}<button class="primary" type="submit">${
        address === undefined ? "Show a new address" : "Show another new address"
      }</button></form></section>${linksTo("payments")}`
    })
  })

export const newAddress: DeskHandler = (visit) =>
  Effect.map(visit.calls.call(GETNEWADDRESS, {}), (address) => redirect(deskPlace("receive", { address })))

interface SendTexts {
  readonly address: string
  readonly amount: string
}

const sendForm = (
  visit: DeskVisit,
  { address, amount }: SendTexts = { address: "", amount: "" },
  wrong: { readonly address?: string; readonly amount?: string } = {}
) =>
  deskAnswer(visit, {
    title: "Pay",
    at: "send",
    status: wrong.address === undefined && wrong.amount === undefined ? 200 : 400,
    main: html`<h1>Pay</h1>${
      (wrong.address !== undefined || wrong.amount !== undefined) &&
      alertView("attention", "Nothing was sent. See below.")
    }<section class="card"><form class="stacked" action="${deskLink("send")}" method="post">${tokenField(visit)}${
      field({
        name: "address",
        label: "Address",
        hint: "A Namecoin address",
        value: address,
        wrong: wrong.address === undefined ? [] : [wrong.address],
        required: true
      })
    }${
      field({
        name: "amount",
        label: "Amount in NMC",
        hint: "The fee comes on top of it, and is shown before you confirm",
        value: amount,
        wrong: wrong.amount === undefined ? [] : [wrong.amount],
        required: true
      })
    }<div class="buttons"><button class="primary" type="submit">Go on to confirm</button><a class="button" href="${
      deskLink("payments")
    }">Back</a></div></form></section>`
  })

export const sendPage: DeskHandler = (visit) => Effect.sync(() => sendForm(visit))

/** Fails if a pending transaction spends the coins: this one could replace it, and undo its payment. */
const areFree = ({ call }: Pick<Calls, "call">, psbt: string): Effect.Effect<void, CallFailed> =>
  Effect.gen(function*() {
    const { tx } = yield* call(DECODEPSBT, { psbt })
    const spenders = yield* call(GETTXSPENDINGPREVOUT, {
      outputs: tx.vin.flatMap(({ txid, vout }) => txid === undefined || vout === undefined ? [] : [{ txid, vout }])
    })
    if (spenders.some(({ spendingtxid }) => spendingtxid !== undefined)) {
      const message = "txn-mempool-conflict"
      return yield* new CallFailed({ method: "gettxspendingprevout", code: -26, message, reason: "coins-in-use" })
    }
  })

/** Never another transaction than the one shown, so that it can be paid at most once. */
const sendShown = ({ call }: Pick<Calls, "call">, psbt: string): Effect.Effect<string, CallFailed> =>
  Effect.gen(function*() {
    yield* areFree({ call }, psbt)
    const signed = yield* call(WALLETPROCESSPSBT, { psbt })
    const { hex } = yield* call(FINALIZEPSBT, { psbt: signed.psbt })
    if (hex === undefined) {
      return yield* new CallFailed({
        method: "finalizepsbt",
        code: -4,
        message: "the wallet lacks keys for some of its coins"
      })
    }
    return yield* call(SENDRAWTRANSACTION, { hexstring: hex })
  })

/** The funded payment with its fee, or what the wallet can spend. */
const fundedOr = ({ call }: Pick<Calls, "call">, { address, amount }: SendTexts) =>
  Effect.catchIf(
    call(WALLETCREATEFUNDEDPSBT, { inputs: [], outputs: [{ [address]: amount }] }),
    ({ reason }) => reason === "funds-missing",
    () => Effect.map(call(GETBALANCES, {}), ({ mine }) => ({ spendable: mine.trusted }))
  )

export const pay: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form } = visit
    const texts = {
      address: (form.get("address") ?? "").trim().replace(/^namecoin:/i, ""),
      amount: form.get("amount") ?? ""
    }
    const { address } = texts
    const given = amountGiven(texts.amount)
    const { isvalid } = yield* calls.call(VALIDATEADDRESS, { address })
    if (!isvalid || "wrong" in given) {
      return sendForm(visit, texts, {
        ...(isvalid ? {} : { address: "This is not an address of this network." }),
        ..."wrong" in given ? { amount: given.wrong } : {}
      })
    }
    if (!calls.may("sendrawtransaction")) {
      return yield* new NotMeant({
        text: "Your user does not have the right to pay. Sign in as a user with this right."
      })
    }
    const { amount, units } = given
    const funded = yield* fundedOr(calls, { address, amount })
    if ("spendable" in funded) {
      return sendForm(visit, texts, {
        amount: `The wallet does not have enough coins. It can spend ${
          nmc(funded.spendable)
        } now, and the fee is added to the amount.`
      })
    }
    const { fee, psbt } = funded
    return yield* plannedOrDrafted(visit, {
      title: "Pay",
      content: recordView([
        ["To", html`<code class="address">${visible(address)}</code>`],
        ["Amount", html`<b>${amount} NMC</b>`],
        ["Fee", html`${nmc(fee)}`],
        ["Total", html`${amountText(units + fee.units)}`],
        ["Afterwards", html`A payment cannot be undone.`]
      ]),
      button: `Pay ${amount} NMC`,
      back: deskLink("send"),
      spends: true,
      unlocks: "all",
      same: `pay ${address} ${amount}`,
      run: (call) =>
        Effect.map(sendShown(call, psbt), (txid) => ({
          title: "The payment is sent",
          text: html`Transaction ${linked({ txid }, html`${shortHash(txid)}`)}. It takes effect once it is in a block${
            ifTimed(visit.frame, ", in about ten minutes")
          }.`
        }))
    }, (calls) => Effect.as(areFree(calls, psbt), psbt))
  })
