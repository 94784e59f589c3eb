/** The machine as the verifier uses it. The verifier also runs in browsers, without a node. */

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

/** Throws for an invalid address, and if the machine has no WebSocket (Node.js before 22). */
export const openSocket = (url: string): TextSocket => {
  const { WebSocket }: SocketHost = globalThis
  if (WebSocket === undefined) throw new TypeError("this machine has no WebSocket: use Node.js 22 or a browser")
  return new WebSocket(url)
}

/** Runs a function once after a delay. Returns a function that cancels it. */
export const afterMillis = (milliseconds: number, run: () => void): () => void => {
  const timer = setTimeout(run, milliseconds)
  return () => clearTimeout(timer)
}
