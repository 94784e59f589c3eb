import type { Socket } from "node:net"
import { createSecureContext, TLSSocket } from "node:tls"
import type { Certificate } from "../../base/givenCertificate.ts"

/** Wraps accepted sockets with the certificate of the moment. */
export const securing = (certificate: Certificate): (socket: Socket) => TLSSocket => {
  const contextOf = () => createSecureContext({ ...certificate.current(), minVersion: "TLSv1.2" })
  let secureContext = contextOf()
  certificate.onChange(() => {
    secureContext = contextOf()
  })
  return (socket) => {
    // Errors of a handshake come here; without a listener they would end the process.
    socket.on("error", () => {})
    return new TLSSocket(socket, { isServer: true, secureContext })
  }
}
