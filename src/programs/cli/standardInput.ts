import * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import { codeOf } from "../../base/errorCode.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { CommandFailed } from "./outcome.ts"

const MAX_INPUT = 64 * 1024 * 1024

const failed = (what: string) => new CommandFailed({ message: `standard input ${what}` })

export const unreadable = (code: string) => failed(`cannot be read (${code})`)

/** Fails beyond `most` bytes, and if the stream breaks off. */
const allBytes = (stream: Readable, most: number): Effect.Effect<Buffer, CommandFailed> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size > most) end(failed(`is longer than ${most} bytes`))
    }
    const onEnd = (): void => end(Effect.succeed(Buffer.concat(chunks, size)))
    const end = (outcome: Effect.Effect<Buffer, CommandFailed>): void => {
      stream.off("data", onData).off("end", onEnd).pause()
      resume(outcome)
    }
    stream.on("error", (error) => end(unreadable(codeOf(error)))).on("end", onEnd).on("data", onData)
  })

/** UTF-8 without a byte order mark. Other bytes fail: a transaction must pay for the given value or none. */
export const readStandardInput = (stream: Readable, most = MAX_INPUT): Effect.Effect<string, CommandFailed> =>
  Effect.flatMap(allBytes(stream, most), (bytes) => {
    const text = encodeText(bytes, "utf8")
    return text === undefined ? failed("is not UTF-8") : Effect.succeed(text.replace(/^\ufeff/, ""))
  })
