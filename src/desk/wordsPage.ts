import * as Effect from "effect/Effect"
import { html } from "../web/html.ts"
import { deskLink } from "./deskLinks.ts"
import { alertView } from "./frame.ts"
import { deskAnswer, type DeskHandler, walletState } from "./visit.ts"

/** How the wallet is restored: its words. They are never shown here, since a page may stay in the memory of a browser. */

export const wordsPage: DeskHandler = (visit) =>
  Effect.map(walletState(visit), ({ info }) =>
    deskAnswer(visit, {
      title: "Recovery words",
      at: "words",
      main: html`<h1>Recovery words</h1>${
        info.phrase_kept === false &&
        alertView("attention", "The words of this wallet were never shown, and there is no copy of its file.")
      }${
        info.phrase_kept === undefined &&
        alertView("busy", "This wallet was not made of words: keep copies of its file, which backupwallet makes.")
      }<section class="card"><p>The words are the wallet: with them alone its coins and names can be restored on another machine, and any reader of them has both. Write them on paper, and keep them away from the machine.</p><ol class="steps"><li>Stop the node: <code>svcd-cli stop</code></li><li>Show the words at the machine of the node: <code>svcd-wallet export --phrase</code></li><li>Write them down, in their order, and start the node again.</li></ol><p class="muted">The desk does not show them: what a browser has shown may stay on its disk. A copy of the file, made by <code>svcd-cli backupwallet FILE</code>, restores the wallet too.</p><p class="buttons"><a class="button primary" href="${
        deskLink("names")
      }">Names</a><a class="button" href="${deskLink("wallet")}">Wallet</a></p></section>`
    }))
