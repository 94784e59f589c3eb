import type { Writable } from "node:stream"
import type { AnswerMemory } from "../rpc/CallerMemory.ts"
import type { LongText } from "../rpc/json/LongText.ts"

/**
 * Writes the pieces of an answer as fast as the stream takes them, releases the counted memory of pieces that the
 * stream has taken, and calls `done` after the last one. If the stream ends before, the connection is gone, and its
 * counted memory with it.
 */
export const writePieces = (
  stream: Writable,
  { pieces }: LongText,
  { done, memory }: { readonly memory: AnswerMemory; readonly done: () => void }
): void => {
  let at = 0
  let unsent = 0
  const goOn = (): void => {
    memory.give(unsent)
    unsent = 0
    while (at < pieces.length) {
      const piece = pieces[at++]
      if (stream.destroyed) return
      if (piece === undefined) continue
      unsent += piece.length
      if (!stream.write(piece) && at < pieces.length) return void stream.once("drain", goOn)
    }
    memory.give(unsent)
    done()
  }
  goOn()
}
