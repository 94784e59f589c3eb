import type { Demand } from "../rpc/method/methodTable.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import { type BrowserHeaders, type BrowserRule, isForeignCall, isForeignHost } from "./browser.ts"
import type { HealthQuestion } from "./health.ts"
import { type AnyHandler, type PageHandler, type PageHeaders, type PageRequest, pageRequest } from "./Pages.ts"
import { notPermitted, pageNotPermitted, type Permitted } from "./permissions.ts"
import {
  BAD_VERB,
  forbidden,
  FOREIGN,
  FOREIGN_HOST,
  type HttpRefusal,
  NO_DESK,
  NOT_ALLOWED,
  NOT_FOUND,
  NOT_GET,
  NOT_IMPLEMENTED,
  NOT_POST,
  STOPPING,
  TOO_LARGE,
  tooMany,
  UNAUTHORIZED,
  UNAUTHORIZED_PAGE
} from "./refusals.ts"

/** Upstream answers other verbs with 405 before it checks the path. */
const KNOWN_VERBS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT"])

/** reference/rpc.md 1.2. */
export type Route =
  /** `wallet` is the name in `/wallet/<name>`. */
  | { readonly _tag: "Rpc"; readonly wallet: string | undefined }
  | { readonly _tag: "Health"; readonly question: HealthQuestion }

const WALLET = "/wallet/"

const RPC: Route = { _tag: "Rpc", wallet: undefined }

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/", RPC],
  ["/rpc", RPC],
  ["/health", { _tag: "Health", question: "health" }],
  ["/ready", { _tag: "Health", question: "ready" }]
])

/** Paths of a desk that is off. */
const DESK_PATH = /^\/desk(?:[/?]|$)/

const NAMES: Route = { _tag: "Health", question: "names" }

const asksForNames = ({ path, query }: PageRequest): boolean =>
  path.startsWith("/ready") && ["", "1"].includes(query.get("names") ?? "0")

/**
 * A final slash and a meaningless query change nothing, except in `/wallet/<name>`, where the reference node makes both
 * part of the name. `//` and `/wallet` have no route.
 */
export const route = (target: string): Route | undefined => {
  if (target.startsWith(WALLET)) return { _tag: "Rpc", wallet: percentDecode(target.slice(WALLET.length)) }
  const plain = ROUTES.get(target)
  if (plain !== undefined) return plain
  const request = pageRequest(target)
  const { path } = request
  const found = ROUTES.get(path.length > 2 && path.endsWith("/") ? path.slice(0, -1) : path)
  return found !== undefined && asksForNames(request) ? NAMES : found
}

const ESCAPE = /%([0-9a-fA-F]{2})/g

/** One character per byte before, UTF-8 after. Keeps incomplete escapes. Upstream `common/url.cpp`, `UrlDecode`. */
const percentDecode = (part: string): string => {
  const bytes = part.replaceAll(ESCAPE, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8")
}

/** Decides in the reference node's order (reference/rpc.md 1.1), before the body is read. Changes nothing. */

/** The request line, and the headers that the gate reads. */
export interface RequestHead {
  readonly verb: string
  /** As sent. */
  readonly target: string
  /** Announced bytes of the body; `undefined` without an announcement. */
  readonly length: number | undefined
  readonly headers: BrowserHeaders & PageHeaders & {
    readonly authorization?: string | undefined
  }
}

/** The connection at the moment of the request. */
export interface GateSession {
  /** The `Authorization` header that was admitted. */
  readonly credentials: string | undefined
  /** Whether callers at its address are answered. */
  readonly isAllowed: boolean
  readonly permitted: Permitted
  /** Seconds until the rate limit admits the next call; `undefined` for now. */
  readonly delay: number | undefined
}

/** The listener at the moment of the request. */
export interface GateListener extends BrowserRule {
  /** Bytes of a body. */
  readonly maxRequestSize: number
  readonly stopping: boolean
  readonly pages: ReadonlyArray<AnyHandler>
  readonly demandOf: (method: string) => Demand
}

export type GateVerdict =
  /** Answer: by a method, an endpoint or a document. */
  | Route
  | {
    readonly _tag: "Page"
    readonly page: AnyHandler
    readonly request: PageRequest
    /** For a reader: whether their session still is. */
    readonly isCurrent?: (() => boolean) | undefined
  }
  | { readonly _tag: "Refuse"; readonly refusal: HttpRefusal }
  /** Wait for the check of credentials. If they are right, the gate decides again. */
  | { readonly _tag: "Wait"; readonly authorization: string }

export const gate = (head: RequestHead, session: GateSession, listener: GateListener): GateVerdict => {
  const { headers, length, target, verb } = head
  if (listener.stopping) return refuse(STOPPING)
  if (length !== undefined && length > listener.maxRequestSize) return refuse(TOO_LARGE)
  if (!session.isAllowed) return refuse(NOT_ALLOWED)
  if (verb === "OPTIONS" || verb === "PATCH") return refuse(NOT_IMPLEMENTED)
  if (!KNOWN_VERBS.has(verb)) return refuse(BAD_VERB)
  const isGet = verb === "GET" || verb === "HEAD"
  if (isGet) {
    const request = pageRequest(target, headers)
    const page = listener.pages.find((each) => each.serves(request))
    if (page !== undefined) {
      const viewer: Barrier | Viewer = "visit" in page || !page.authenticated
        ? { permitted: session.permitted, isReader: false }
        : viewerOf(head, session, { ...listener, page, request })
      if ("_tag" in viewer) return viewer
      const early = tooEarly(session)
      if (early !== undefined) return early
      const seesWallets = !viewer.isReader &&
        notPermitted(viewer.permitted, [listener.demandOf(OF_WALLETS)]) === undefined
      return { _tag: "Page", page, request: { ...request, seesWallets }, isCurrent: viewer.isCurrent }
    }
  }
  const found = route(target)
  if (found === undefined) {
    if (verb === "POST") return form(head, session, listener)
    return refuse(isGet && DESK_PATH.test(target) ? NO_DESK : NOT_FOUND)
  }
  if (found._tag === "Health") return isGet ? found : refuse(NOT_GET)
  if (verb !== "POST") return refuse(NOT_POST)
  if (isForeignHost(headers.host, listener)) return refuse(FOREIGN_HOST)
  if (isForeignCall(headers)) return refuse(FOREIGN)
  return unknownCaller(head, session, listener) ?? tooEarly(session) ?? found
}

export type PageVerdict = Extract<GateVerdict, { readonly _tag: "Page" }>

/** Why a request is not answered now. */
type Barrier = Extract<GateVerdict, { readonly _tag: "Refuse" | "Wait" }>

const refuse = (refusal: HttpRefusal): Barrier => ({ _tag: "Refuse", refusal })

/** For a page with its own sessions. */
const form = (head: RequestHead, session: GateSession, listener: GateListener): GateVerdict => {
  const request = pageRequest(head.target, head.headers)
  const page = listener.pages.find((each) => "visit" in each && each.serves(request))
  if (page === undefined) return refuse(NOT_FOUND)
  if (isForeignCall(head.headers)) return refuse(FOREIGN)
  return tooEarly(session) ?? { _tag: "Page", page, request }
}

/** Who sees a document: a caller with credentials, or a reader with a cookie of the desk. */
interface Viewer {
  readonly permitted: Permitted
  readonly isReader: boolean
  /** For a reader: whether their session still is. */
  readonly isCurrent?: () => boolean
}

/** The method with whose right a caller sees what wallets own. */
const OF_WALLETS = "name_expiring"

/** A document needs the rights to the methods whose data it shows. */
const viewerOf = (
  head: RequestHead,
  session: GateSession,
  listener: GateListener & { readonly page: PageHandler; readonly request: PageRequest }
): Barrier | Viewer => {
  const { demandOf, page, pages, request } = listener
  if (isForeignHost(head.headers.host, listener)) return refuse(FOREIGN_HOST)
  const unknown = unknownCaller(head, session, listener)
  if (unknown?._tag === "Wait") return unknown
  const needed = page.needs?.(request) ?? []
  const viewer = unknown === undefined ? { permitted: session.permitted, isReader: false } : readerIn(head, page, pages)
  if (viewer === undefined || (viewer.isReader && needed.includes(OF_WALLETS))) return refuse(UNAUTHORIZED_PAGE)
  const missing = pageNotPermitted(viewer.permitted, needed, demandOf)
  return missing === undefined ? viewer : refuse(forbidden(missing))
}

/** The cookie opens documents that are made for people, and neither calls nor forms. */
const readerIn = (
  { headers: { cookie } }: RequestHead,
  { forReaders = false }: PageHandler,
  pages: ReadonlyArray<AnyHandler>
): Viewer | undefined => {
  if (!forReaders || cookie === undefined) return undefined
  for (const each of pages) {
    const find = (): AdmittedUser | undefined => "visit" in each ? each.readerOf?.(cookie) : undefined
    const user = find()
    if (user !== undefined) {
      return { permitted: user.permitted, isReader: true, isCurrent: () => find() !== undefined }
    }
  }
  return undefined
}

/** Admitted credentials are not checked again. */
const unknownCaller = (
  { headers: { authorization } }: RequestHead,
  { credentials }: GateSession,
  { open }: GateListener
): Barrier | undefined => {
  if (open) return undefined
  if (authorization === undefined) return refuse(UNAUTHORIZED)
  return authorization === credentials ? undefined : { _tag: "Wait", authorization }
}

const tooEarly = ({ delay }: GateSession): Barrier | undefined =>
  delay === undefined ? undefined : refuse(tooMany(delay))
