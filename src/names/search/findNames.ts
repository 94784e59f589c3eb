import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { foldedText, searchPairs, searchValue, textGroups } from "../../values/searchable.ts"
import { WrongQuery } from "../errors.ts"
import { successor } from "../nameChanges.ts"
import { type NameClock, type NameEntry, nameEntryOf, plain } from "../NameEntry.ts"
import type { NamesReads } from "../NamesFile.ts"
import {
  type NameQuery,
  queryEnd,
  queryFault,
  queryMatcher,
  readSearchCursor,
  searchCursorText,
  type SearchState,
  startOf
} from "./nameQuery.ts"
import type { FoundRow, SearchReads } from "./SearchReads.ts"

/** Answers searches page by page. A page ends when it is full or its time is over. */

export interface PageOptions {
  readonly clock: NameClock
  readonly limit: number
  /** Where an earlier page of the same query ended. */
  readonly cursor?: string | undefined
  /** Milliseconds until the page ends, full or not. */
  readonly within?: number | undefined
}

export interface FoundNames {
  readonly records: ReadonlyArray<NameEntry>
  /** Where the next page begins; `undefined` after the last. Earlier pages may be empty. */
  readonly next: string | undefined
  /** The indexed share of the operations, 0 to 1. Below 1, text and key find only some names. */
  readonly indexed: number
}

/**
 * The most rows read and compared per turn of the event loop. The first piece has what the page needs if all match, as
 * each row is a random read.
 */
const PIECE = 250

/** Milliseconds until a page ends, full or not. */
const PAGE_MS = 200

interface Piece {
  readonly rows: ReadonlyArray<FoundRow>
  /** The position after a row of the piece. */
  readonly at: (row: FoundRow) => SearchState
  /** The position after the whole piece; `undefined` at the end. */
  readonly next: SearchState | undefined
}

interface PieceWanted {
  readonly state: SearchState
  readonly size: number
}

const read = (reads: SearchReads, asked: NameQuery, { size, state }: PieceWanted): Piece => {
  const page = <S extends SearchState>(rows: ReadonlyArray<FoundRow>, at: (row: FoundRow) => S): Piece => {
    const last = rows[rows.length - 1]
    return { rows, at, next: last === undefined || rows.length < size ? undefined : at(last) }
  }
  switch (state.by) {
    case "text": {
      const groups = textGroups(foldedText(asked.text ?? ""))
      const found = reads.byText(groups, { after: state.after, limit: size })
      const at = ({ nameId }: FoundRow): SearchState => ({ by: "text", after: nameId })
      if (found === undefined) return { rows: [], at, next: undefined }
      const last = found.rows[found.rows.length - 1]
      return {
        rows: found.rows,
        at,
        next: last === undefined || found.rows.length < size ? { by: "text", after: found.end } : at(last)
      }
    }
    case "pair": {
      const pair = { key: asked.key ?? "ip", value: asked.value ?? "" }
      const rows = reads.byPair({ ...pair, value: searchValue(pair) }, { after: state.after, limit: size })
      return page(rows, ({ nameId }) => ({ by: "pair", after: nameId }))
    }
    case "key": {
      const rows = reads.byKey(asked.key ?? "ip", { after: state.after, limit: size })
      return page(rows, ({ nameId, pair }) => ({ by: "key", after: { id: nameId, value: pair ?? "" } }))
    }
    case "owner":
      return page(
        reads.byOwner(asked.owner ?? new Uint8Array(), { from: state.from, limit: size }),
        ({ name }) => ({ by: "owner", from: successor(name) })
      )
    case "name":
      return page(
        reads.byName({ from: state.from, limit: size }),
        ({ name }) => ({ by: "name", from: successor(name) })
      )
    case "operation":
      return page(reads.byOperation({ after: state.after, limit: size }), ({ id }) => ({ by: "operation", after: id }))
    case "latest":
      return page(reads.latest({ after: state.after, limit: size }), ({ id }) => ({ by: "latest", after: id }))
  }
}

/** Whether a name was found by another value of the key: it is listed only with the first one. */
const isRepeated = ({ pair }: FoundRow, { value }: NameEntry, { key }: NameQuery): boolean =>
  pair !== null && searchPairs(value).filter((each) => each.key === key).some((each) => each.value < pair)

const stateOf = (
  asked: NameQuery,
  { clock, cursor }: PageOptions
): Effect.Effect<SearchState, WrongQuery> =>
  Effect.suspend(() => {
    const reason = queryFault(asked)
    if (reason !== undefined) return new WrongQuery({ reason })
    const start = startOf(asked, clock)
    if (cursor === undefined) return Effect.succeed(start)
    const state = readSearchCursor(cursor, start)
    return state === undefined
      ? new WrongQuery({ reason: "the cursor is not one of this query: pass back next with the same conditions" })
      : Effect.succeed(state)
  })

export const findNames = (
  file: NamesReads,
  asked: NameQuery,
  options: PageOptions
): Effect.Effect<FoundNames, WrongQuery | StorageFailure> =>
  Effect.gen(function*() {
    const { clock, limit, within = PAGE_MS } = options
    let state: SearchState | undefined = yield* stateOf(asked, options)
    const matches = queryMatcher(asked, clock)
    const isBehind = queryEnd(asked, clock)
    const { all, done } = yield* file.point(() => file.search.progress())
    const records: Array<NameEntry> = []
    const end = monotonic() + within
    let size = Math.min(PIECE, limit + 1)
    while (state !== undefined && records.length < limit && monotonic() < end) {
      const from: PieceWanted = { state, size }
      const piece: Piece = yield* file.point(() => read(file.search, asked, from))
      size = PIECE
      const { at, next, rows } = piece
      state = next
      const entries = yield* file.point(() => rows.map((row) => nameEntryOf(plain(row.name), row)))
      for (const [index, record] of entries.entries()) {
        const row = rows[index]
        if (row === undefined) break
        if (isBehind(record, from.state.by)) {
          state = undefined
          break
        }
        if (!matches(record) || isRepeated(row, record, asked)) continue
        records.push(record)
        if (records.length < limit) continue
        state = index === rows.length - 1 ? next : at(row)
        break
      }
      yield* turnOfEventLoop
    }
    return {
      records,
      next: state === undefined ? undefined : searchCursorText(state),
      indexed: all < 0 || done >= all ? 1 : Math.max(0, done) / all
    }
  })
