/** What the verifier takes from the machine. It runs in browsers, outside of any node. */

/** Seconds since 1970. */
export const unixNow = (): number => Math.floor(Date.now() / 1000)

/** The part of a WebSocket that the verifier uses. */
export interface TextSocket {
  addEventListener(event: "open" | "close", listener: () => void): void
  addEventListener(event: "message", listener: (message: { readonly data: unknown }) => void): void
  send(text: string): void
  close(): void
}

interface SocketHost {
  readonly WebSocket?: new(url: string) => TextSocket
}

/** Throws for an invalid address, and on a machine without WebSocket (Node.js before 22). */
export const openSocket = (url: string): TextSocket => {
  const { WebSocket }: SocketHost = globalThis
  if (WebSocket === undefined) throw new TypeError("this machine has no WebSocket: use Node.js 22 or a browser")
  return new WebSocket(url)
}

/** Runs once after a time. Returns the cancellation. */
export const afterMillis = (milliseconds: number, run: () => void): () => void => {
  const timer = setTimeout(run, milliseconds)
  return () => clearTimeout(timer)
}
