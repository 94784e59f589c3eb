import type { Duplex } from "node:stream"
import { PLAIN_TEXT } from "./refusals.ts"
import type { Session } from "./Session.ts"

/** Answers invalid HTTP, and CONNECT without an `error`. As upstream, a request that times out gets no answer. */
export const misread = (
  socket: Duplex,
  session: Session | undefined,
  { error, onRefused }: {
    readonly error?: NodeJS.ErrnoException
    readonly onRefused: ((status: number) => void) | undefined
  }
): void => {
  if (session === undefined || !socket.writable) return void socket.destroy()
  // Everything after it is another error.
  if (session.isMisread) return
  session.isMisread = true
  // After a broken-off body, a text in the middle of an answer would help no client.
  const silent = error !== undefined && session.isCut
  session.conclude(() => {
    if (silent) return void socket.destroy()
    if (!socket.writable) return
    if (error?.code === "ERR_HTTP_REQUEST_TIMEOUT") {
      onRefused?.(408)
      return void socket.destroy()
    }
    const text = "Bad request"
    onRefused?.(400)
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: ${PLAIN_TEXT}\r\nContent-Length: ${text.length}\r\n` +
        `Connection: close\r\n\r\n${text}`,
      () => socket.destroy()
    )
  })
}
