/**
 * Fetches a page of a `.bit` site over HTTPS, without DNS and without a certificate authority: the address of the server and
 * the certificate to expect are in the value of the name.
 *
 *     node bit-site.js https://example.bit/
 *
 * The environment variable NAMES may hold the configuration of the client, as JSON.
 */

import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { connect } from "node:tls"
import { type ClientConfig, newClient, tlsaMatches } from "svcd/promise"

const fetchPage = async (url: URL): Promise<string> => {
  const config: ClientConfig = JSON.parse(process.env["NAMES"] ?? "{}")
  await using client = await newClient(config)
  await client.ready({ within: "3 minutes" })
  const port = url.port === "" ? 443 : Number(url.port)
  const { records } = await client.resolveDomain(`_${port}._tcp.${url.hostname}`, "TLSA")

  // The certificate may have no issuer that this machine trusts: the records decide, before anything is sent.
  const socket = connect({
    host: url.hostname,
    port,
    servername: url.hostname,
    lookup: client.lookup,
    rejectUnauthorized: false
  })
  await once(socket, "secureConnect")
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined || !tlsaMatches(certificate, records, { authorized: socket.authorized })) {
    socket.destroy()
    throw new Error(`the certificate of ${url.host} is not the one in the value of its name`)
  }

  const request = get({
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, connection: "close" },
    createConnection: () => socket
  })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject)
  })
  return (await response.setEncoding("utf8").toArray()).join("")
}

const [address] = process.argv.slice(2)
if (address === undefined || !URL.canParse(address)) {
  console.error("usage: bit-site URL")
  process.exitCode = 2
} else {
  try {
    console.log(await fetchPage(new URL(address)))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
