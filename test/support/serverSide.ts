import type { Effect } from "effect"
import { subscribe } from "node:diagnostics_channel"
import { Socket } from "node:net"
import { eventually } from "./eventually.ts"

/** The server's ends of the connections within this process, by the client's port. */
const accepted = new Map<number, Socket>()

subscribe("net.server.socket", (message) => {
  if (typeof message !== "object" || message === null || !("socket" in message)) return
  const { socket } = message
  if (!(socket instanceof Socket) || socket.remotePort === undefined) return
  const { remotePort } = socket
  accepted.set(remotePort, socket)
  socket.once("close", () => accepted.get(remotePort) === socket && accepted.delete(remotePort))
})

/** Waits until a server in this process has read all that a client wrote: what is written next is read apart from it. */
export const readByServer = (client: Socket): Effect.Effect<void> =>
  eventually("the server reads", () => {
    const { bytesWritten, localPort } = client
    return localPort !== undefined && accepted.get(localPort)?.bytesRead === bytesWritten
  })
