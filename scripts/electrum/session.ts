import { connect } from "node:net"
import type { Address } from "../../src/base/addresses.ts"

/** A session of Electrum's protocol over TCP, of a client that waits for each answer. */
export interface ElectrumSession {
  /**
   * The answer to a message, as the server sends it; empty if the server ends the session or says nothing. `heard` gets
   * it before any notification that follows.
   */
  readonly ask: (message: string, heard?: (answer: string) => void) => Promise<string>
  readonly close: () => void
}

/** Milliseconds for an answer. */
const LONGEST = 5_000

const NOTIFICATION = /^\{"jsonrpc": ?"2\.0", ?"method":/u

export const request = (method: string, ...params: ReadonlyArray<unknown>): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method, params, id: 0 })}\n`

/** Connects. `told` gets the notifications. */
export const openSession = (
  { host, port }: Address,
  told: (message: string) => void = () => {}
): Promise<ElectrumSession> =>
  new Promise((opened, failed) => {
    const socket = connect(port, host)
    let waiting: ((answer: string) => void) | undefined
    let received = ""
    const answer = (message: string): void => {
      const resolve = waiting
      waiting = undefined
      resolve?.(message)
    }
    socket.setNoDelay()
    socket.setEncoding("utf8")
    socket.on("data", (piece) => {
      received += piece
      let from = 0
      for (let end = received.indexOf("\n"); end !== -1; end = received.indexOf("\n", from)) {
        const message = received.slice(from, end)
        if (NOTIFICATION.test(message)) told(message)
        else answer(message)
        from = end + 1
      }
      received = received.slice(from)
    })
    socket.on("error", failed)
    socket.on("close", () => answer(""))
    const ask = (message: string, heard?: (answer: string) => void): Promise<string> =>
      new Promise((resolve) => {
        if (socket.destroyed) return resolve("")
        const timer = setTimeout(() => answer(""), LONGEST)
        waiting = (text) => {
          clearTimeout(timer)
          heard?.(text)
          resolve(text)
        }
        socket.write(message)
      })
    socket.on("connect", () => opened({ ask, close: () => socket.destroy() }))
  })

/** A session with a version of the protocol. */
export const speakingSession = async (
  address: Address,
  version: string,
  told?: (message: string) => void
): Promise<ElectrumSession> => {
  const session = await openSession(address, told)
  const answer = await session.ask(request("server.version", "client", version))
  if (!answer.includes("\"result\"")) throw new Error(`no session with version ${version}: ${answer}`)
  return session
}
