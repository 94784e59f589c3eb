import * as Effect from "effect/Effect"
import { shellWord } from "../base/safeText.ts"
import { CHECKRECOVERYWORDS } from "../rpc/contract/wallet/recovery.ts"
import { ASKED_WORDS, drawnPlaces } from "../rpc/wordPlaces.ts"
import { redirect } from "../web/document.ts"
import { day } from "../web/format.ts"
import { type Html, html, NOTHING } from "../web/html.ts"
import { deskLink, deskPlace } from "./deskLinks.ts"
import { alertView, card, deskCli, field, linksTo } from "./frame.ts"
import { needsPassphrase, passphraseField, whileOpen } from "./openWallet.ts"
import {
  deskAnswer,
  type DeskHandler,
  type DeskVisit,
  NotMeant,
  tokenField,
  type WalletState,
  walletState
} from "./visit.ts"

/** The seed phrase is never shown, since a page may stay in the browser's memory; the owner enters three words. */

/** Words of a new wallet, and the minimum. */
const USUAL_WORDS = 24
const SHORTEST_PHRASE = 12

/** A field of one word: `word-7`. */
const WORD = /^word-([1-9]\d?)$/

interface Asked {
  readonly places: ReadonlyArray<number>
  readonly problem?: string
  readonly passphrase?: ReadonlyArray<string>
}

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u

/** A word for a shell; one that cannot be typed as shown is replaced. */
const typedWord = ({ other, word }: { readonly word: string; readonly other: string }): string =>
  UNSEEN.test(word) ? other : shellWord(word)

/** Shows the seed phrase, at the node's machine. */
const exportCommand = ({ frame, node }: DeskVisit, { info: { walletname } }: WalletState): string =>
  [
    "svcd-wallet export --phrase",
    ...(walletname === "" ? [] : [`--wallet ${typedWord({ word: walletname, other: "NAME" })}`]),
    ...(frame.network === undefined || frame.network === "mainnet" ? [] : [`-network ${frame.network}`]),
    `-datadir ${typedWord({ word: node.dataDir, other: "DIRECTORY" })}`
  ].join(" ")

const checkForm = (visit: DeskVisit, state: WalletState, { passphrase = [], places, problem }: Asked): Html =>
  html`${problem !== undefined && alertView("attention", problem)}<form class="stacked" action="${
    deskLink("words")
  }" method="post">${
    tokenField(visit)
  }<p>Read these three words from your paper. The node checks them, and records the date.</p><div class="words">${
    places.map((place) => field({ name: `word-${place}`, label: `Word ${place}`, required: true }))
  }</div>${
    needsPassphrase("all", state) && passphraseField({ unlocks: "all", wrong: passphrase })
  }<button class="primary" type="submit">Check the words</button></form>`

const standOf = ({ frame }: DeskVisit, { info }: WalletState): Html =>
  info.phrase_kept === undefined
    ? alertView(
      "busy",
      html`This wallet has no seed phrase. Back up its file with <code class="break">${
        deskCli(frame)
      } backup FILE</code>.`
    )
    : info.phrase_checked !== undefined
    ? alertView("good", `You verified your seed phrase on ${day(info.phrase_checked)}.`)
    : info.phrase_kept
    ? alertView(
      "attention",
      "You haven't verified your seed phrase. It was shown, or the file was copied, but a mistake on your paper would show too late."
    )
    : alertView("attention", "The seed phrase of this wallet was never shown, and there is no copy of its file.")

const view = (visit: DeskVisit, state: WalletState, asked: Asked) => {
  const { info } = state
  const isWrong = asked.problem !== undefined || (asked.passphrase ?? []).length > 0
  const form = checkForm(visit, state, asked)
  return deskAnswer(visit, {
    title: "Recovery words",
    at: "words",
    status: isWrong ? 400 : 200,
    main: html`<h1>Recovery words</h1>${!isWrong && standOf(visit, state)}${
      info.phrase_kept === undefined
        ? NOTHING
        : html`<section class="card"><h2>Write them down</h2><p>These words are your seed phrase. They alone restore your coins and names on another machine, and anyone who has them can take both. Write them on paper, and keep the paper away from the machine.</p><ol class="steps"><li>On the node's machine, as the user that runs svcd, show the words: <code class="break">${
          exportCommand(visit, state)
        }</code></li><li>Write them down with their numbers.</li><li>Enter three of them below.</li></ol><p class="muted">The desk does not show the words, because a browser may leave traces on disk. A copy of the wallet file, made with <code class="break">${
          deskCli(visit.frame)
        } backup FILE</code>, also restores the wallet.</p></section>${
          info.phrase_checked === undefined || isWrong
            ? card("Check them", form)
            : card("Check them again", html`<details><summary>With three other words</summary>${form}</details>`)
        }`
    }${linksTo("names", "wallet")}`
  })
}

export const wordsPage: DeskHandler = (visit) =>
  Effect.map(walletState(visit), (state) => view(visit, state, { places: drawnPlaces(USUAL_WORDS) }))

export const checkWords: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { calls, form } = visit
    const given = [...form].flatMap(([name, text]): ReadonlyArray<readonly [string, string]> => {
      const place = WORD.exec(name)?.[1]
      return place === undefined ? [] : [[place, text]]
    })
    if (given.length < ASKED_WORDS) {
      return yield* new NotMeant({ text: "Some words are missing. Open the page again." })
    }
    const state = yield* walletState(visit)
    const places = given.map(([place]) => Number(place))
    const check = calls.call(CHECKRECOVERYWORDS, { words: Object.fromEntries(given) })
    const passphrase = form.get("passphrase") ?? ""
    return yield* Effect.matchEffect(whileOpen(calls, { unlocks: "all", state, passphrase }, check), {
      onSuccess: ({ correct }) =>
        Effect.succeed(
          correct ? redirect(deskPlace("words")) : view(visit, state, {
            places,
            problem:
              "At least one of these words is wrong. Compare your paper with the output of the command, letter by letter."
          })
        ),
      onFailure: (failure) => {
        switch (failure.code) {
          case -13:
          case -14:
            return Effect.succeed(
              view(visit, state, {
                places,
                passphrase: [
                  passphrase === "" ? "The wallet is locked. Enter the passphrase." : "The passphrase is wrong."
                ]
              })
            )
          case -8:
            return Effect.succeed(
              view(visit, state, {
                places: drawnPlaces(SHORTEST_PHRASE),
                problem: `This seed phrase has fewer than ${USUAL_WORDS} words. Here are other positions.`
              })
            )
          default:
            return failure
        }
      }
    })
  })
