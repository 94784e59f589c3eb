import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RE2JS } from "re2js"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import type { NameAnswer } from "../../light/NameAnswers.ts"
import type { ScanOptions } from "../../names/nameScan.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { encodeText } from "../../protocol/nameText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { RpcError } from "../method/RpcError.ts"
import { expressionSize } from "./expressionSize.ts"

/** Searches in lists of names, and their bounds. */

/** The names that `name_scan` lists. */
export interface NameScan extends Required<Pick<ScanOptions, "start" | "prefix">> {
  readonly count: number
  readonly regexp: string | undefined
  /** Confirmations of the last operation, both included. */
  readonly minConf: number
  readonly maxConf: number | undefined
}

/** Maximum characters of a regular expression; a longer one takes longer to parse than to match. */
const MAX_EXPRESSION = 512

/**
 * Maximum steps of a compiled expression. Each byte of a name takes up to that many: 255 bytes take about 30 ms at
 * most.
 */
const MAX_PROGRAM = 2_000

/** The same for the estimate, which may be higher: to compile so many takes some milliseconds. */
const MAX_ESTIMATE = 4 * MAX_PROGRAM

/**
 * Compiles a search in the name as text. The time is proportional to the length of the name, for any expression, and
 * both lengths are bounded: callers are not trusted.
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
    let since = performance.now()
    for (const answer of page) {
      if (matches(answer.record.name)) found.push(answer)
      if (performance.now() - since > SEARCH_SLICE) {
        yield* turnOfEventLoop
        since = performance.now()
      }
    }
    return Chunk.unsafeFromArray(found)
  })

/** Maximum bytes of names and values in one answer; callers get more in pages. */
const MAX_SCAN_BYTES = 128 * 1024 * 1024

/** Bytes of a record in an answer besides its name and value. */
const RECORD_BYTES = 350

/** Fails with an error if a list exceeds the maximum answer. */
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

/** The names of a list, page by page, at a tip. Fails with an error if the list exceeds the maximum answer. */
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
