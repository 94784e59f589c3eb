import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { createHash } from "node:crypto"
import { byExpiry, type ExpiringRecord } from "../../alerts/expiring.ts"
import { ExpiringNames, outlooksByName, type Whose } from "../../alerts/ExpiringNames.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { Chain } from "../../chain/Chain.ts"
import { EXPIRATION_DEPTH } from "../../consensus/expiry.ts"
import type { PageAnswer, PageHandler, PageRequest, PageStream } from "../../http/Pages.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { type Bytes, equal, toHex } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import { AnswerOptions } from "../../rpc/AnswerOptions.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"
import { version } from "../../version.ts"
import { CALENDAR_END, CALENDAR_HEAD, calendarEvent, type CalendarName, type CalendarTip } from "./calendarText.ts"
import { type CalendarQuery, readCalendarQuery } from "./eventQuery.ts"

/** `GET /events/expiry.ics`: expiring names for calendar programs (docs/alerts.md). */

export const isCalendar: PageHandler["serves"] = ({ path }) => path === "/events/expiry.ics"

const MOST_NAMES = 10_000

const PIECE = 50

const ONLY_LAST_BLOCKS =
  "the calendar needs the whole chain, and this node has only recent blocks so far; retry once it is synced"
const INCOMPLETE =
  "names may be missing while the node downloads blocks or rebuilds names.db. /health shows the progress; retry later"
const SEARCHING = "names of a wallet may be missing while it scans the chain for its keys; retry later"
const UNREADABLE = "names cannot be read at the moment; see the node's log"

const refused = (status: 400 | 503, error: string): PageAnswer => ({
  status,
  headers: {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    ...(status === 503 ? { "Retry-After": "60" } : {})
  },
  body: `${encodeJson({ error })}\n`
})

/** If-None-Match, RFC 9110, 13.1.2: a proxy may have made the tag weak. */
const isKnown = (tag: string, { ifNoneMatch }: Pick<PageRequest, "ifNoneMatch">): boolean =>
  ifNoneMatch !== undefined && ifNoneMatch.split(",").some((each) => ["*", tag, `W/${tag}`].includes(each.trim()))

const isWanted = ({ names, owners }: CalendarQuery, { address, name }: ExpiringRecord): boolean =>
  (names === undefined || names.some((wanted) => equal(wanted, name))) &&
  (owners === undefined || owners.some((owner) => equal(owner, address)))

/** Lists that together have all names of the calendar. */
const sourcesOf = (query: CalendarQuery): ReadonlyArray<Whose> => {
  const { mine, names, owners = [], watched } = query
  if (mine || watched) return [{ of: "subjects", mine, watched, wants: (record) => isWanted(query, record) }]
  return names === undefined ? owners.map((script) => ({ of: "owner", script })) : [{ of: "names", names }]
}

/** Equal for equal calendars, whose texts follow from these facts and the program's version. */
const tagOf = (entries: ReadonlyArray<CalendarName>, hash: Bytes): string => {
  const digest = createHash("sha256").update(`${version} ${toHex(hash)}\n`)
  for (const { mine, record: { height, name }, renewed, wallet = "" } of entries) {
    digest.update(`${toHex(name)} ${height} ${mine} ${renewed} ${wallet}\n`)
  }
  return `"${digest.digest("hex").slice(0, 32)}"`
}

const streamOf = (entries: ReadonlyArray<CalendarName>, tip: CalendarTip): PageStream => ({
  write: (write) =>
    Effect.gen(function*() {
      yield* write(CALENDAR_HEAD)
      for (let at = 0; at < entries.length; at += PIECE) {
        yield* write(entries.slice(at, at + PIECE).map((entry) => calendarEvent(entry, tip)).join(""))
        yield* turnOfEventLoop
      }
      yield* write(CALENDAR_END)
    })
})

export const expiryPage: Effect.Effect<PageHandler, never, Chain | ExpiringNames | NameAnswers | AnswerOptions> = Effect
  .gen(function*() {
    const chain = yield* Chain
    const expiring = yield* ExpiringNames
    const answers = yield* NameAnswers
    const { nameEncoding } = yield* AnswerOptions
    const { params } = chain
    const settings = { network: params.network, nameEncoding }

    const entriesOf = (query: CalendarQuery) =>
      Effect.gen(function*() {
        const found = new Map<NameKey, CalendarName>()
        const outlooks = outlooksByName(yield* expiring.outlooks)
        for (const whose of sourcesOf(query)) {
          const { names } = yield* expiring.list({ blocks: EXPIRATION_DEPTH, whose, limit: MOST_NAMES })
          for (const each of names) {
            if (!isWanted(query, each.record)) continue
            const { address, name } = each.record
            const mine = expiring.isMine(address)
            const { wallet } = (mine ? outlooks.get(nameKey(name)) : undefined) ?? {}
            found.set(nameKey(name), { ...each, mine, renewed: mine && expiring.isRenewed(each.record), wallet })
          }
        }
        return [...found.values()].sort((a, b) => byExpiry(a.record, b.record)).slice(0, MOST_NAMES)
      })

    const calendar = (query: CalendarQuery, request: PageRequest) =>
      Effect.gen(function*() {
        if (answers.fromWindow()) return refused(503, ONLY_LAST_BLOCKS)
        if (!(yield* answers.complete)) return refused(503, INCOMPLETE)
        if (query.mine && expiring.isSearching()) return refused(503, SEARCHING)
        const { hash, header, height } = yield* chain.toldTip
        const entries = yield* entriesOf(query)
        // A block connected meanwhile would give some names other days than the others.
        const isSame = equal((yield* chain.toldTip).hash, hash)
        if (!isSame || !(yield* answers.complete)) return undefined
        const tip: CalendarTip = { params, height, time: header.time }
        const tag = tagOf(entries, hash)
        const headers = { ETag: tag, "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff" }
        if (isKnown(tag, request)) return { status: 304, headers, body: "" }
        return {
          status: 200,
          headers: { "Content-Type": "text/calendar; charset=utf-8", ...headers },
          body: streamOf(entries, tip)
        }
      })

    const answer: PageHandler["answer"] = (request) =>
      Effect.gen(function*() {
        const read = readCalendarQuery(request.query, settings)
        if (Either.isLeft(read)) return refused(400, read.left)
        const made = calendar(read.right, request)
        return (yield* made) ?? (yield* made) ?? refused(503, INCOMPLETE)
      }).pipe(
        Effect.catchAll(({ message: reason }) =>
          Effect.as(
            Effect.annotateLogs(Effect.logError("the calendar cannot be read", { reason }), "subsystem", "names"),
            refused(503, UNREADABLE)
          )
        ),
        Effect.withSpan("svcd.names.calendar")
      )

    // Each event says what the wallets own and do, and the list may have what the operator watches.
    return { serves: isCalendar, authenticated: true, needs: () => ["name_expiring"], answer }
  })
