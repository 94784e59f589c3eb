import * as Effect from "effect/Effect"
import { monotonic } from "../base/clock.ts"
import { paramsOf } from "../consensus/params.ts"
import { isOwnName } from "../http/browser.ts"
import type { PageAnswer, PageRequest, PageVisit, VisitHandler } from "../http/Pages.ts"
import { type NetworkName, networks } from "../protocol/networks.ts"
import { GETWALLETINFO } from "../rpc/contract/wallet/walletInfo.ts"
import { DeskLinks } from "../rpc/DeskLinks.ts"
import { Dispatch } from "../rpc/Dispatch.ts"
import { redirect } from "../web/document.ts"
import { makeCalls } from "./calls.ts"
import { confirm, confirmPage, resultPage } from "./confirmPages.ts"
import { DESK, deskLink, type DeskPage, deskPlace } from "./deskLinks.ts"
import { hereOf, servesDesk } from "./deskStarting.ts"
import { noticePage } from "./frame.ts"
import { linkPage, type LinkVisit, openLink } from "./linkPages.ts"
import { ENDED, login, loginPage } from "./loginPages.ts"
import { namePage, ownNamesPage } from "./namesPage.ts"
import { release, releasePage, transfer, transferPage } from "./ownerPages.ts"
import { warned } from "./ownNames.ts"
import { newAddress, pay, paymentsPage, receivePage, sendPage } from "./paymentPages.ts"
import { psbtPage, sendSigned, signPage } from "./psbtPages.ts"
import { meant, register } from "./registerPages.ts"
import { acknowledgeAlerts, cancel, renew } from "./renewPage.ts"
import { type DeskSession, DeskSessions } from "./sessions.ts"
import { type DeskFailure, type DeskHandler, type DeskVisit, failureParts } from "./visit.ts"
import {
  choose,
  choosePage,
  createWallet,
  lock,
  setPassphrase,
  unlock,
  walletPage,
  withoutWallet
} from "./walletPages.ts"
import { checkWords, wordsPage } from "./wordsPage.ts"
import { draft, edit, write } from "./writePages.ts"

/** The desk: pages with which an RPC user owns names and coins. */

interface PageHandlers {
  readonly at: DeskPage
  readonly get?: DeskHandler
  readonly post?: DeskHandler
  /** Not shown as a page: a file, or what the script reads while a form is filled in. */
  readonly isPart?: true
}

const PAGES: ReadonlyArray<PageHandlers> = [
  { at: "names", get: ownNamesPage },
  { at: "name", get: namePage },
  { at: "register", get: register },
  { at: "edit", get: edit },
  { at: "draft", post: draft, isPart: true },
  { at: "write", post: write },
  { at: "transfer", get: transferPage, post: transfer },
  { at: "release", get: releasePage, post: release },
  { at: "renew", post: renew },
  { at: "cancel", post: cancel },
  { at: "acknowledge", post: acknowledgeAlerts },
  { at: "meant", get: meant, isPart: true },
  { at: "sign", get: signPage, post: sendSigned },
  { at: "psbt", get: psbtPage, isPart: true },
  { at: "confirm", get: confirmPage, post: confirm },
  { at: "result", get: resultPage },
  { at: "payments", get: paymentsPage },
  { at: "receive", get: receivePage, post: newAddress },
  { at: "send", get: sendPage, post: pay },
  { at: "wallet", get: walletPage },
  { at: "unlock", post: unlock },
  { at: "lock", post: lock },
  { at: "encrypt", post: setPassphrase },
  { at: "choose", get: choosePage, post: choose },
  { at: "create", post: createWallet },
  { at: "words", get: wordsPage, post: checkWords }
]

const PAGE_OF: ReadonlyMap<string, PageHandlers> = new Map(PAGES.map((each) => [each.at, each]))

export interface DeskConfig {
  readonly network: NetworkName
  /** An absolute path. */
  readonly dataDir: string
  /** Whether a proxy in front ends TLS. */
  readonly behindProxy: boolean
  readonly ownName: string
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
}

/** Why a request does not come the way that the operator chose. */
const wrongWay = (
  { forwardedProtocol, host }: PageRequest,
  { remote }: Pick<PageVisit, "remote">,
  { behindProxy, ownName }: Pick<DeskConfig, "behindProxy" | "ownName">
): string | undefined => {
  if (behindProxy && forwardedProtocol === "https") return undefined
  if (remote || forwardedProtocol !== undefined) {
    return behindProxy
      ? "The desk answers other machines only over HTTPS: the proxy must terminate TLS and set X-Forwarded-Proto to https."
      : "The desk is only for browsers on the node's machine. From other machines, use an SSH tunnel, or a TLS proxy with -webwalletproxy."
  }
  return isOwnName(host, { ownName })
    ? undefined
    : "The desk answers only at addresses and names of this machine, such as 127.0.0.1 or localhost."
}

export const makeDesk = (config: DeskConfig): Effect.Effect<VisitHandler, never, DeskLinks | Dispatch> =>
  Effect.gen(function*() {
    const dispatch = yield* Dispatch
    const { book } = yield* DeskLinks
    const { network, now = monotonic } = config
    const node = { params: paramsOf(networks[network]), dataDir: config.dataDir }
    const sessions = new DeskSessions()

    const failed = (visit: DeskVisit, at: DeskPage) => (failure: DeskFailure): Effect.Effect<PageAnswer> => {
      if (failure._tag === "NotMeant") {
        const notice = { title: "This is not possible", at, paragraphs: [failure.text], links: ["names"] } as const
        return Effect.succeed(noticePage({ ...notice, status: 400 }, visit.frame))
      }
      if (failure.code === -18 || failure.code === -19) {
        visit.session.wallet = undefined
        const frame = { ...visit.frame, wallet: undefined, formToken: visit.session.formToken(undefined) }
        return withoutWallet({ ...visit, frame, wallet: undefined }, failure)
      }
      return Effect.succeed(noticePage({
        title: "The node refused it",
        at,
        status: failure.code === "forbidden" ? 403 : 409,
        paragraphs: failureParts(failure),
        links: ["names", "payments"]
      }, visit.frame))
    }

    /** The handler's answer, or a page about its failure, with the warning about names in danger. */
    const answerTo = ({ at: page, isPart }: PageHandlers, plain: DeskVisit, handler: DeskHandler) =>
      Effect.flatMap(isPart === true ? Effect.succeed(plain) : warned(plain), (visit) => answerOf(page, visit, handler))

    const answerOf = (page: DeskPage, visit: DeskVisit, handler: DeskHandler): Effect.Effect<PageAnswer> =>
      handler(visit).pipe(
        Effect.catchAll(failed(visit, page)),
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.annotateLogs(Effect.logError("desk page failed", { page }, defect), "subsystem", "rpc"),
            noticePage({
              title: "Something went wrong",
              at: page,
              status: 500,
              paragraphs: [
                "The node could not render this page; see its log. Check your names and payments before you try again."
              ]
            }, visit.frame)
          )
        )
      )

    const visitOf = (
      session: DeskSession,
      request: PageRequest,
      { admit, form = new URLSearchParams(), peer, remote }: PageVisit
    ): DeskVisit => ({
      session,
      wallet: session.wallet,
      frame: {
        network,
        here: hereOf(request),
        user: session.user.user,
        wallet: session.wallet,
        formToken: session.formToken(session.wallet)
      },
      calls: makeCalls(dispatch, { peer, remote, wallet: session.wallet, user: session.user }),
      query: request.query,
      form,
      node,
      admit,
      now
    })

    /** The only wallet becomes that of the session: one loaded later does not take its place. */
    const keepWallet = ({ calls, session }: DeskVisit): Effect.Effect<void> =>
      Effect.ignore(Effect.map(calls.call(GETWALLETINFO, {}), ({ walletname }) => {
        session.wallet ??= walletname
      }))

    const visit = (request: PageRequest, given: PageVisit): Effect.Effect<PageAnswer> => {
      const frame = { network, here: hereOf(request) }
      const why = wrongWay(request, given, config)
      if (why !== undefined) {
        return Effect.succeed(
          noticePage({ title: "Not from here", at: "names", status: 403, paragraphs: [why] }, frame)
        )
      }
      const page = request.path.slice(DESK.length)
      const { cookie } = request
      const { form } = given
      if (page === "" || request.path === DESK.slice(0, -1)) {
        return Effect.succeed(redirect(request.path.endsWith("/") ? deskPlace("names") : deskLink("names")))
      }
      const secure = config.behindProxy && request.forwardedProtocol === "https"
      const session = sessions.find(sessions.tokenOf(cookie), now())
      if (page === "login") {
        if (form !== undefined) return login(form, { visit: given, sessions, frame, now: now(), secure, cookie })
        return Effect.succeed(session === undefined ? loginPage(frame) : redirect(deskPlace("names")))
      }
      if (page === "open") {
        const link: LinkVisit = { book, sessions, session, frame, secure, cookie, now: now() }
        return Effect.sync(() =>
          form === undefined ? linkPage(request.query.get("link") ?? "", link) : openLink(form, link)
        )
      }
      if (session === undefined) {
        return Effect.succeed(form === undefined ? redirect(deskPlace("login")) : loginPage(frame, ENDED))
      }
      const whole = visitOf(session, request, given)
      if (form !== undefined && !session.isFormToken(form.get("token"))) {
        return Effect.succeed(noticePage({
          title: "This form is no longer valid",
          at: "names",
          status: 403,
          paragraphs: [
            "It belongs to another session, or does not come from this desk. Nothing was done. Open the page again."
          ],
          links: ["names"]
        }, whole.frame))
      }
      if (page === "logout" && form !== undefined) {
        sessions.end(sessions.tokenOf(cookie))
        const cookies = sessions.cookies({ token: "", reader: "" }, { secure })
        return Effect.succeed({ ...redirect(deskPlace("login")), cookies })
      }
      const handlers = PAGE_OF.get(page)
      const handler = form === undefined ? handlers?.get : handlers?.post
      // An address that only takes forms is opened by hand, or by the back button.
      if (handlers === undefined || handler === undefined) return Effect.succeed(redirect(deskPlace("names")))
      return form === undefined && session.wallet === undefined
        ? Effect.flatMap(keepWallet(whole), () => answerTo(handlers, visitOf(session, request, given), handler))
        : answerTo(handlers, whole, handler)
    }

    return { serves: servesDesk, visit, readerOf: (cookie) => sessions.readerOf(cookie, now()) }
  })
