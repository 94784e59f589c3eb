import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RE2JS } from "re2js"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { NameAnswer } from "../../light/NameAnswers.ts"
import type { ScanOptions } from "../../names/nameScan.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"
import { expressionSize } from "./expressionSize.ts"

/** The names that `name_scan` lists. */
export interface NameScan extends Required<Pick<ScanOptions, "start" | "prefix">> {
  readonly count: number
  readonly regexp: string | undefined
  /** Confirmations of the last operation, both included. */
  readonly minConf: number
  readonly maxConf: number | undefined
}

/** Characters. A longer expression takes longer to parse than to match. */
const MAX_EXPRESSION = 512

/** Steps of a compiled expression. Each byte of a name takes up to that many, so 255 bytes take at most about 30 ms. */
const MAX_PROGRAM = 2_000

/** Limit of the estimate, which may be too high. Compiling so many steps takes some milliseconds. */
const MAX_ESTIMATE = 4 * MAX_PROGRAM

/**
 * Searches the name as text. For any expression, the time is proportional to the name's length. Callers are not
 * trusted, so both lengths are bounded.
 */
const matcher = (expression: string): Effect.Effect<(name: Bytes) => boolean, RpcError> =>
  Effect.suspend(() => {
    const tooLarge = RpcError.misc("the regular expression is too large")
    if (expression.length > MAX_EXPRESSION || expressionSize(expression) > MAX_ESTIMATE) return tooLarge
    try {
      const compiled = RE2JS.compile(expression)
      if (compiled.programSize() > MAX_PROGRAM) return tooLarge
      return Effect.succeed((name: Bytes) => {
        const text = encodeText(name, "utf8")
        return text !== undefined && compiled.matcher(text).find()
      })
    } catch (cause) {
      return RpcError.misc(cause instanceof Error ? cause.message : "the regular expression is not valid")
    }
  })

/** Milliseconds for which a search may block other work. */
const SEARCH_SLICE = 10

const sift = (matches: (name: Bytes) => boolean) => (page: Chunk.Chunk<NameAnswer>) =>
  Effect.gen(function*() {
    const found: Array<NameAnswer> = []
    let since = monotonic()
    for (const answer of page) {
      if (matches(answer.record.name)) found.push(answer)
      if (monotonic() - since > SEARCH_SLICE) {
        yield* turnOfEventLoop
        since = monotonic()
      }
    }
    return Chunk.unsafeFromArray(found)
  })

/** Bytes of names and values per answer. Pages have the rest. */
const MAX_SCAN_BYTES = 128 * 1024 * 1024

/** Bytes per record besides name and value. */
const RECORD_BYTES = 350

const within = (
  records: Stream.Stream<NameAnswer, StorageFailure>
): Stream.Stream<NameAnswer, StorageFailure | RpcError> =>
  Stream.suspend(() => {
    let bytes = 0
    return Stream.mapChunksEffect(records, (chunk): Effect.Effect<Chunk.Chunk<NameAnswer>, RpcError> => {
      for (const { record: { name, value } } of chunk) bytes += RECORD_BYTES + name.length + value.length
      return bytes > MAX_SCAN_BYTES
        ? RpcError.misc("The answer would be too large: request fewer names at a time")
        : Effect.succeed(chunk)
    })
  })

/** Reads page by page, at one tip. Fails if the list exceeds the maximum answer. */
export const listNames = (
  scan: (options: ScanOptions) => Stream.Stream<NameAnswer, StorageFailure>,
  { count, maxConf, minConf, prefix, regexp, start }: NameScan,
  tipHeight: Height
): Effect.Effect<Stream.Stream<NameAnswer, StorageFailure | RpcError>, RpcError> =>
  Effect.map(regexp === undefined ? Effect.succeed(undefined) : matcher(regexp), (matches) => {
    const search = {
      start,
      prefix,
      minHeight: maxConf === undefined ? undefined : tipHeight - maxConf + 1,
      maxHeight: tipHeight - minConf + 1
    }
    return within(
      matches === undefined
        ? scan({ ...search, count })
        : scan(search).pipe(Stream.mapChunksEffect(sift(matches)), Stream.take(count))
    )
  })
