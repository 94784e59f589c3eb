import * as Effect from "effect/Effect"
import { unixTime } from "../base/clock.ts"
import { ENCRYPTWALLET, WALLETLOCK, WALLETPASSPHRASE } from "../rpc/contract/wallet/passphrase.ts"
import { CREATEWALLET, LISTWALLETS } from "../rpc/contract/wallet/walletFile.ts"
import { redirect } from "../web/document.ts"
import { ago, day } from "../web/format.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { visible } from "../web/visible.ts"
import type { WalletInfo } from "./answers.ts"
import type { CallFailed } from "./calls.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { wordsOf } from "./errorWords.ts"
import { card, field, option } from "./frame.ts"
import { ifTimed, recordView } from "./nameViews.ts"
import {
  deskAnswer,
  type DeskHandler,
  type DeskVisit,
  type Lock,
  NotMeant,
  planned,
  tokenField,
  walletState
} from "./visit.ts"

const LOCKS: Readonly<Record<Lock, readonly [tone: string, word: string, text: string]>> = {
  none: ["attention", "no passphrase", "Anyone who can read its file can take its coins and names."],
  locked: ["good", "locked", "It signs nothing."],
  renewals: ["good", "renewals only", "It signs renewals of names, and nothing else."],
  unlocked: ["busy", "unlocked", "It signs everything that users with the right request."]
}

interface Unlocking {
  readonly key: string
  readonly renewalsOnly: boolean
  readonly seconds: number
  readonly words: string
  readonly hint: string
  /** Omitted on regtest. */
  readonly time?: string
}

/** The whole wallet is unlocked for at most three hours. */
const UNLOCKINGS: ReadonlyArray<Unlocking> = [
  {
    key: "renewals-30-days",
    renewalsOnly: true,
    seconds: 2_592_000,
    words: "Only renewals of names, for 30 days",
    hint: "No payments, changes or transfers"
  },
  {
    key: "renewals-1-year",
    renewalsOnly: true,
    seconds: 31_536_000,
    words: "Only renewals of names, for 1 year",
    hint: "The same for longer"
  },
  {
    key: "all-3-hours",
    renewalsOnly: false,
    seconds: 10_800,
    words: "Payments and names, for 3 hours",
    hint: "For a registration",
    time: ", which takes about two hours"
  },
  {
    key: "all-5-minutes",
    renewalsOnly: false,
    seconds: 300,
    words: "Payments and names, for 5 minutes",
    hint: "For several changes, without entering the passphrase each time"
  }
]

const unlockForm = (visit: DeskVisit, wrong: ReadonlyArray<string>): Html =>
  card(
    "Unlock",
    html`<form class="stacked" action="${deskLink("unlock")}" method="post">${
      tokenField(visit)
    }<fieldset><legend>Unlock for</legend>${
      UNLOCKINGS.map(({ hint, key, time = "", words }, at) =>
        option({
          type: "radio",
          name: "for",
          value: key,
          label: words,
          hint: `${hint}${ifTimed(visit.frame, time)}`,
          checked: at === 0
        })
      )
    }</fieldset>${
      field({ name: "passphrase", label: "Passphrase of the wallet", type: "password", required: true, wrong })
    }<button class="primary" type="submit">Unlock</button></form>`
  )

/** Characters of a passphrase set by the desk. */
const SHORTEST = 12

const encryptForm = (visit: DeskVisit, wrong: ReadonlyArray<string>): Html =>
  card(
    "Set a passphrase",
    html`<form class="stacked" action="${deskLink("encrypt")}" method="post">${
      tokenField(visit)
    }<p>The wallet then signs only after you enter the passphrase. svcd cannot recover a forgotten passphrase. Only the seed phrase helps then.</p>${
      field({
        name: "passphrase",
        label: "New passphrase",
        hint: `Several unrelated words, at least ${SHORTEST} characters`,
        type: "password",
        autocomplete: "new-password",
        required: true,
        wrong
      })
    }${
      field({ name: "again", label: "The same again", type: "password", autocomplete: "new-password", required: true })
    }<button class="primary" type="submit">Go on to confirm</button></form>`
  )

const wordsRow = (
  { phrase_checked: checked, phrase_kept: kept }: WalletInfo
): readonly [string, Html] | undefined =>
  kept === undefined ? undefined : [
    "Recovery words",
    html`${
      checked !== undefined
        ? html`<span class="badge good">verified</span> You verified three of them on ${day(checked)}.`
        : kept
        ? html`<span class="badge attention">not verified</span> They were shown, or the file was copied.`
        : html`<span class="badge attention">not written down</span> They were never shown, and there is no copy of the file.`
    } <a href="${deskLink("words")}">${checked === undefined ? "Check the words" : "About the words"}</a>`
  ]

const walletView = (
  visit: DeskVisit,
  { passphrase = [], unlock = [] }: {
    readonly passphrase?: ReadonlyArray<string>
    readonly unlock?: ReadonlyArray<string>
  } = {}
) =>
  Effect.gen(function*() {
    const { info, lock } = yield* walletState(visit)
    const now = yield* unixTime
    const [tone, word, text] = LOCKS[lock]
    const until = info.unlocked_until ?? 0
    const renewals = info.renewals_until ?? 0
    return deskAnswer(visit, {
      title: "Wallet",
      at: "wallet",
      status: passphrase.length + unlock.length > 0 ? 403 : 200,
      main: html`<h1>Wallet</h1>${
        card(
          info.walletname === "" ? "The wallet" : visible(info.walletname),
          html`${
            recordView([
              !info.private_keys_enabled && lock === "none" ? undefined : [
                "Lock",
                html`<span class="badge ${tone}">${word}</span> ${text}${
                  until > 0 && lock === "unlocked" && renewals > until
                    ? html` It signs renewals only again ${ago(until, { now })}, and locks ${ago(renewals, { now })}.`
                    : until > 0 && html` It locks again ${ago(until, { now })}.`
                }`
              ],
              info.private_keys_enabled
                ? undefined
                : ["Keys", html`None: it watches only. <a href="${deskLink("sign")}">Sign elsewhere</a>`],
              wordsRow(info)
            ])
          }<div class="buttons">${
            until > 0 &&
            html`<form action="${deskLink("lock")}" method="post">${
              tokenField(visit)
            }<button type="submit">Lock it now</button></form>`
          }<a class="button" href="${deskLink("choose")}">Choose another wallet</a></div>`
        )
      }${
        lock === "none"
          ? info.private_keys_enabled ? encryptForm(visit, passphrase) : NOTHING
          : unlockForm(visit, unlock)
      }`
    })
  })

export const walletPage: DeskHandler = (visit) => walletView(visit)

export const unlock: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form } = visit
    const chosen = UNLOCKINGS.find(({ key }) => key === form.get("for"))
    if (chosen === undefined) return yield* new NotMeant({ text: "Choose what to unlock." })
    const { renewalsOnly, seconds } = chosen
    const passphrase = form.get("passphrase") ?? ""
    const done = calls.call(WALLETPASSPHRASE, { passphrase, timeout: seconds, renewalsonly: renewalsOnly })
    return yield* Effect.matchEffect(done, {
      onSuccess: () => Effect.succeed(redirect(deskPlace("wallet"))),
      onFailure: (failure) =>
        failure.code === -14 || failure.code === -8
          ? walletView(visit, { unlock: ["The passphrase is wrong. Nothing has changed."] })
          : failure
    })
  })

export const lock: DeskHandler = ({ calls }) => Effect.as(calls.call(WALLETLOCK, {}), redirect(deskPlace("wallet")))

export const setPassphrase: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { form } = visit
    const passphrase = form.get("passphrase") ?? ""
    if (passphrase.length < SHORTEST) {
      return yield* walletView(visit, { passphrase: [`Use at least ${SHORTEST} characters.`] })
    }
    if (passphrase !== form.get("again")) return yield* walletView(visit, { passphrase: ["The passphrases differ."] })
    return planned(visit, {
      title: "Set a passphrase",
      content: html`<p>This locks the wallet. Write the passphrase down, and keep it apart from the seed phrase.</p>`,
      button: "Set passphrase",
      back: deskLink("wallet"),
      spends: true,
      unlocks: "nothing",
      same: "encrypt",
      run: ({ call }) =>
        Effect.as(call(ENCRYPTWALLET, { passphrase }), {
          title: "The wallet has a passphrase",
          text:
            html`The wallet is now locked. Earlier copies of its file are not encrypted, so destroy them. <a href="${
              deskLink("wallet")
            }">Unlock it</a>`
        })
    })
  })

// No wallet, or several

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

interface Choice {
  readonly why?: string
  readonly wrong?: ReadonlyArray<string>
}

const choiceView = (visit: DeskVisit, { why, wrong = [] }: Choice) =>
  Effect.gen(function*() {
    const names = yield* Effect.orElseSucceed(visit.calls.call(LISTWALLETS, {}), () => [])
    const now = visit.session.wallet
    return deskAnswer(visit, {
      title: names.length === 0 ? "Create a wallet" : "Choose a wallet",
      at: "choose",
      status: wrong.length > 0 ? 400 : 200,
      main: html`<h1>${names.length === 0 ? "Create a wallet" : "Choose a wallet"}</h1>${
        names.length > 0 && card(
          "Loaded wallets",
          html`<form class="stacked" action="${deskLink("choose")}" method="post">${
            tokenField(visit)
          }<fieldset><legend>Wallet</legend>${
            names.map((name, at) =>
              option({
                type: "radio",
                name: "wallet",
                value: name,
                label: name === "" ? "The default wallet" : visible(name),
                ...(name === now ? { hint: "The one that you see now" } : {}),
                checked: now === undefined ? at === 0 : name === now
              })
            )
          }</fieldset><button class="primary" type="submit">Use it</button></form>`
        )
      }${
        card(
          names.length === 0 ? "A new wallet" : "Create another wallet",
          html`<form class="stacked" action="${deskLink("create")}" method="post">${tokenField(visit)}<p>${
            why !== undefined && `${why} `
          }A wallet is a file on the machine of the node, with the keys for your names and coins.</p>${
            field({
              name: "wallet",
              label: "Name of the wallet",
              hint: "Letters, digits, points, hyphens",
              wrong,
              required: true
            })
          }${
            field({
              name: "passphrase",
              label: "Passphrase",
              hint:
                `Recommended, with ${SHORTEST} characters or more: the wallet then signs only after you enter it. Without one, any reader of its file has its coins`,
              type: "password",
              autocomplete: "new-password"
            })
          }${
            field({
              name: "again",
              label: "The same again",
              hint: "If you chose one",
              type: "password",
              autocomplete: "new-password"
            })
          }<button class="primary" type="submit">Create it</button></form>`
        )
      }`
    })
  })

export const choosePage: DeskHandler = (visit) => choiceView(visit, {})

/** None is loaded, or several are. */
export const withoutWallet = (visit: DeskVisit, failure: CallFailed) =>
  choiceView(visit, { why: wordsOf(failure).text })

export const choose: DeskHandler = ({ form, session }) =>
  Effect.sync(() => {
    session.wallet = form.get("wallet") ?? undefined
    return redirect(deskPlace("names"))
  })

export const createWallet: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form, session } = visit
    const name = form.get("wallet") ?? ""
    const passphrase = form.get("passphrase") ?? ""
    const wrong = !NAME.test(name)
      ? "Use at most 64 letters, digits, points and hyphens."
      : passphrase !== (form.get("again") ?? "")
      ? "The passphrases differ."
      : passphrase !== "" && passphrase.length < SHORTEST
      ? `Use a passphrase of at least ${SHORTEST} characters.`
      : undefined
    const made = calls.call(CREATEWALLET, {
      wallet_name: name,
      passphrase: passphrase === "" ? null : passphrase,
      load_on_startup: true
    })
    const failed = (failure: CallFailed) =>
      choiceView(visit, { wrong: [wordsOf(failure).detail ?? wordsOf(failure).text] })
    if (wrong !== undefined) return yield* choiceView(visit, { wrong: [wrong] })
    return yield* Effect.matchEffect(made, {
      onFailure: failed,
      onSuccess: () =>
        Effect.sync(() => {
          session.wallet = name
          return redirect(deskPlace("words"))
        })
    })
  })
